// A 1x1 convolution is a matrix product in disguise.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x1x2x2xf32=1 2 3 4
// INPUT: 1x1x2x1xf32=10 1
// EXPECT: result[0]: 1x1x2x1xf32=[[[[12], [34]]]]
// CASE:
// INPUT: 3x5x7x13xf32=rnd:1
// INPUT: 1x1x13x17xf32=rnd:2

func.func @main(%image: tensor<?x?x?x?xf32>, %filter: tensor<1x1x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %image, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %image, %c2 : tensor<?x?x?x?xf32>
  %f = tensor.dim %filter, %c3 : tensor<1x1x?x?xf32>
  %e = tensor.empty(%n, %h, %w, %f) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nhwc_hwcf
      ins(%image, %filter : tensor<?x?x?x?xf32>, tensor<1x1x?x?xf32>)
      outs(%z : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
