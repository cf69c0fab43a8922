// Padding to the same size, convolution, bias and ReLU: one layer of an image network.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x2x2x1xf32=1 2 3 4
// INPUT: 3x3x1x2xf32=1 0 1 0 1 0 1 0 1 -1 1 0 1 0 1 0 1 0
// INPUT: 2xf32=0.5 2
// EXPECT: result[0]: 1x2x2x2xf32=[[[[10.5, 1], [10.5, 0]], [[10.5, 0], [10.5, 0]]]]
// CASE:
// INPUT: 3x7x5x4xf32=rnd:1
// INPUT: 3x3x4x6xf32=rnd:2
// INPUT: 6xf32=rnd:3
// CASE:
// INPUT: 0x7x5x4xf32=[]
// INPUT: 3x3x4x6xf32=1
// INPUT: 6xf32=0
// EXPECT: result[0]: 0x7x5x6xf32=[]

func.func @main(%image: tensor<?x?x?x?xf32>, %filter: tensor<3x3x?x?xf32>, %bias: tensor<?xf32>)
    -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x?x?x?xf32> to tensor<?x?x?x?xf32>
  %n = tensor.dim %image, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %image, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %image, %c2 : tensor<?x?x?x?xf32>
  %f = tensor.dim %bias, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %h, %w, %f) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %conv = linalg.conv_2d_nhwc_hwcf
      ins(%padded, %filter : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>)
      outs(%z : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (c)>,
                       affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv, %bias : tensor<?x?x?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?x?x?xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
