// A 3x3 convolution without padding, dynamic batch and channels.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x3x3x1xf32=1 2 3 4 5 6 7 8 9
// INPUT: 3x3x1x1xf32=0 0 0 0 1 0 0 0 2
// EXPECT: result[0]: 1x1x1x1xf32=[[[[23]]]]
// CASE:
// INPUT: 2x11x9x3xf32=rnd:1
// INPUT: 3x3x3x5xf32=rnd:2
// CASE:
// INPUT: 1x3x3x16xf32=rnd:3
// INPUT: 3x3x16x16xf32=rnd:4
// CASE:
// INPUT: 2x33x35x17xf32=rnd:5
// INPUT: 3x3x17x33xf32=rnd:6

func.func @main(%image: tensor<?x?x?x?xf32>, %filter: tensor<3x3x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %image, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %image, %c2 : tensor<?x?x?x?xf32>
  %f = tensor.dim %filter, %c3 : tensor<3x3x?x?xf32>
  %oh = arith.subi %h, %c2 : index
  %ow = arith.subi %w, %c2 : index
  %e = tensor.empty(%n, %oh, %ow, %f) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = linalg.conv_2d_nhwc_hwcf
      ins(%image, %filter : tensor<?x?x?x?xf32>, tensor<3x3x?x?xf32>)
      outs(%z : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
