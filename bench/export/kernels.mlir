// Parts of a keyword network, and a product of floats.
func.func @product(%a: tensor<125x16xi8>, %b: tensor<16x16xi8>) -> tensor<125x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<125x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<125x16xi32>) -> tensor<125x16xi32>
  %r = linalg.matmul ins(%a, %b : tensor<125x16xi8>, tensor<16x16xi8>) outs(%f : tensor<125x16xi32>) -> tensor<125x16xi32>
  return %r : tensor<125x16xi32>
}
func.func @depthwise(%x: tensor<1x27x7x16xi8>, %w: tensor<3x3x16xi8>) -> tensor<1x25x5x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x25x5x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x25x5x16xi32>) -> tensor<1x25x5x16xi32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x27x7x16xi8>, tensor<3x3x16xi8>) outs(%f : tensor<1x25x5x16xi32>) -> tensor<1x25x5x16xi32>
  return %r : tensor<1x25x5x16xi32>
}
func.func @convolution(%x: tensor<1x58x12x1xi8>, %w: tensor<10x4x1x16xi8>) -> tensor<1x25x5x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x25x5x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x25x5x16xi32>) -> tensor<1x25x5x16xi32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x58x12x1xi8>, tensor<10x4x1x16xi8>) outs(%f : tensor<1x25x5x16xi32>) -> tensor<1x25x5x16xi32>
  return %r : tensor<1x25x5x16xi32>
}
func.func @requantise(%x: tensor<125x16xi32>, %bias: tensor<16xi32>) -> tensor<125x16xi8> {
  %e = tensor.empty() : tensor<125x16xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<125x16xi32>, tensor<16xi32>) outs(%e : tensor<125x16xi8>) {
  ^bb0(%s: i32, %b: i32, %o: i8):
    %factor = arith.constant 21 : i32
    %half = arith.constant 512 : i32
    %shift = arith.constant 10 : i32
    %low = arith.constant 0 : i32
    %high = arith.constant 127 : i32
    %t0 = arith.addi %s, %b : i32
    %t1 = arith.muli %t0, %factor : i32
    %t2 = arith.addi %t1, %half : i32
    %t3 = arith.shrsi %t2, %shift : i32
    %t4 = arith.maxsi %t3, %low : i32
    %t5 = arith.minsi %t4, %high : i32
    %t6 = arith.trunci %t5 : i32 to i8
    linalg.yield %t6 : i8
  } -> tensor<125x16xi8>
  return %r : tensor<125x16xi8>
}
func.func @floats(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
