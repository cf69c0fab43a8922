// A small convolutional network that reads 8x8 images of handwritten digits.
//
//   images  ?x8x8x1    grey levels from 0 to 1
//   conv1   3x3, 8 channels, same size, ReLU
//   conv2   3x3, 16 channels, same size, ReLU
//   pool    largest of 2x2: ?x4x4x16
//   dense   256 to 10, softmax
//
// The weights are parameters: they come from weights.safetensors when the module is loaded. train.py
// made them. The batch is dynamic, everything else is static.

#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
#matrix = affine_map<(n, k) -> (n, k)>
#row = affine_map<(n, k) -> (n)>
#column = affine_map<(n, k) -> (k)>

ml_program.global private @conv1_weight(#ml_program.extern<tensor<3x3x1x8xf32>>)
    : tensor<3x3x1x8xf32>
ml_program.global private @conv1_bias(#ml_program.extern<tensor<8xf32>>) : tensor<8xf32>
ml_program.global private @conv2_weight(#ml_program.extern<tensor<3x3x8x16xf32>>)
    : tensor<3x3x8x16xf32>
ml_program.global private @conv2_bias(#ml_program.extern<tensor<16xf32>>) : tensor<16xf32>
ml_program.global private @dense_weight(#ml_program.extern<tensor<256x10xf32>>) : tensor<256x10xf32>
ml_program.global private @dense_bias(#ml_program.extern<tensor<10xf32>>) : tensor<10xf32>

// Images to feature maps: convolution, bias, ReLU, convolution, bias, ReLU, pooling.
func.func private @features(%images: tensor<?x8x8x1xf32>) -> tensor<?x4x4x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %batch = tensor.dim %images, %c0 : tensor<?x8x8x1xf32>
  %weight1 = ml_program.global_load_const @conv1_weight : tensor<3x3x1x8xf32>
  %bias1 = ml_program.global_load_const @conv1_bias : tensor<8xf32>
  %weight2 = ml_program.global_load_const @conv2_weight : tensor<3x3x8x16xf32>
  %bias2 = ml_program.global_load_const @conv2_bias : tensor<16xf32>

  %padded1 = tensor.pad %images low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x8x8x1xf32> to tensor<?x10x10x1xf32>
  %empty1 = tensor.empty(%batch) : tensor<?x8x8x8xf32>
  %zeros1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
  %conv1 = linalg.conv_2d_nhwc_hwcf
      ins(%padded1, %weight1 : tensor<?x10x10x1xf32>, tensor<3x3x1x8xf32>)
      outs(%zeros1 : tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32>
  %relu1 = linalg.generic {indexing_maps = [#image, #channel, #image],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv1, %bias1 : tensor<?x8x8x8xf32>, tensor<8xf32>)
      outs(%empty1 : tensor<?x8x8x8xf32>) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<?x8x8x8xf32>

  %padded2 = tensor.pad %relu1 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x8x8x8xf32> to tensor<?x10x10x8xf32>
  %empty2 = tensor.empty(%batch) : tensor<?x8x8x16xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x8x8x16xf32>)
      -> tensor<?x8x8x16xf32>
  %conv2 = linalg.conv_2d_nhwc_hwcf
      ins(%padded2, %weight2 : tensor<?x10x10x8xf32>, tensor<3x3x8x16xf32>)
      outs(%zeros2 : tensor<?x8x8x16xf32>) -> tensor<?x8x8x16xf32>
  %relu2 = linalg.generic {indexing_maps = [#image, #channel, #image],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv2, %bias2 : tensor<?x8x8x16xf32>, tensor<16xf32>)
      outs(%empty2 : tensor<?x8x8x16xf32>) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<?x8x8x16xf32>

  %window = tensor.empty() : tensor<2x2xf32>
  %empty3 = tensor.empty(%batch) : tensor<?x4x4x16xf32>
  %lows = linalg.fill ins(%lowest : f32) outs(%empty3 : tensor<?x4x4x16xf32>)
      -> tensor<?x4x4x16xf32>
  %pooled = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%relu2, %window : tensor<?x8x8x16xf32>, tensor<2x2xf32>)
      outs(%lows : tensor<?x4x4x16xf32>) -> tensor<?x4x4x16xf32>
  return %pooled : tensor<?x4x4x16xf32>
}

// Rows of logits to rows of probabilities.
func.func private @softmax(%logits: tensor<?x10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %batch = tensor.dim %logits, %c0 : tensor<?x10xf32>
  %rows = tensor.empty(%batch) : tensor<?xf32>
  %full = tensor.empty(%batch) : tensor<?x10xf32>
  %lows = linalg.fill ins(%lowest : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#matrix, #row],
                         iterator_types = ["parallel", "reduction"]}
      ins(%logits : tensor<?x10xf32>) outs(%lows : tensor<?xf32>) {
  ^bb0(%x: f32, %top: f32):
    %larger = arith.maximumf %x, %top : f32
    linalg.yield %larger : f32
  } -> tensor<?xf32>
  %exp = linalg.generic {indexing_maps = [#matrix, #row, #matrix],
                         iterator_types = ["parallel", "parallel"]}
      ins(%logits, %max : tensor<?x10xf32>, tensor<?xf32>) outs(%full : tensor<?x10xf32>) {
  ^bb0(%x: f32, %top: f32, %out: f32):
    %below = arith.subf %x, %top : f32
    %power = math.exp %below : f32
    linalg.yield %power : f32
  } -> tensor<?x10xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #row],
                         iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<?x10xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%x: f32, %total: f32):
    %next = arith.addf %total, %x : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %probabilities = linalg.generic {indexing_maps = [#matrix, #row, #matrix],
                                   iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<?x10xf32>, tensor<?xf32>) outs(%full : tensor<?x10xf32>) {
  ^bb0(%x: f32, %total: f32, %out: f32):
    %share = arith.divf %x, %total : f32
    linalg.yield %share : f32
  } -> tensor<?x10xf32>
  return %probabilities : tensor<?x10xf32>
}

// The digit that each image most probably shows, and the probability of each digit.
func.func @classify(%images: tensor<?x8x8x1xf32>) -> (tensor<?xi32>, tensor<?x10xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1.0 : f32
  %first = arith.constant 0 : i32
  %batch = tensor.dim %images, %c0 : tensor<?x8x8x1xf32>
  %weight = ml_program.global_load_const @dense_weight : tensor<256x10xf32>
  %bias = ml_program.global_load_const @dense_bias : tensor<10xf32>

  %maps = call @features(%images) : (tensor<?x8x8x1xf32>) -> tensor<?x4x4x16xf32>
  %flat = tensor.collapse_shape %maps [[0], [1, 2, 3]]
      : tensor<?x4x4x16xf32> into tensor<?x256xf32>
  %full = tensor.empty(%batch) : tensor<?x10xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%full : tensor<?x10xf32>) -> tensor<?x10xf32>
  %product = linalg.matmul ins(%flat, %weight : tensor<?x256xf32>, tensor<256x10xf32>)
      outs(%zeros : tensor<?x10xf32>) -> tensor<?x10xf32>
  %logits = linalg.generic {indexing_maps = [#matrix, #column, #matrix],
                            iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<?x10xf32>, tensor<10xf32>) outs(%full : tensor<?x10xf32>) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x10xf32>
  %probabilities = call @softmax(%logits) : (tensor<?x10xf32>) -> tensor<?x10xf32>

  %rows = tensor.empty(%batch) : tensor<?xf32>
  %digits = tensor.empty(%batch) : tensor<?xi32>
  %lows = linalg.fill ins(%none : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %firsts = linalg.fill ins(%first : i32) outs(%digits : tensor<?xi32>) -> tensor<?xi32>
  %best:2 = linalg.generic {indexing_maps = [#matrix, #row, #row],
                            iterator_types = ["parallel", "reduction"]}
      ins(%probabilities : tensor<?x10xf32>) outs(%lows, %firsts : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%x: f32, %top: f32, %digit: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %better = arith.cmpf ogt, %x, %top : f32
    %value = arith.select %better, %x, %top : f32
    %label = arith.select %better, %here, %digit : i32
    linalg.yield %value, %label : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %best#1, %probabilities : tensor<?xi32>, tensor<?x10xf32>
}
