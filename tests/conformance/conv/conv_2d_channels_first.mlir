// The channels-first layout.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x1x3x3xf32=1 2 3 4 5 6 7 8 9
// INPUT: 1x1x2x2xf32=1 0 0 -1
// EXPECT: result[0]: 1x1x2x2xf32=[[[[-4, -4], [-4, -4]]]]
// CASE:
// INPUT: 2x1x3x3xf32=1
// INPUT: 1x1x2x2xf32=1
// EXPECT: result[0]: 2x1x2x2xf32=[[[[4, 4], [4, 4]]], [[[4, 4], [4, 4]]]]

func.func @main(%image: tensor<?x1x3x3xf32>, %filter: tensor<1x1x2x2xf32>) -> tensor<?x1x2x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x1x3x3xf32>
  %e = tensor.empty(%n) : tensor<?x1x2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1x2x2xf32>) -> tensor<?x1x2x2xf32>
  %r = linalg.conv_2d_nchw_fchw
      ins(%image, %filter : tensor<?x1x3x3xf32>, tensor<1x1x2x2xf32>)
      outs(%z : tensor<?x1x2x2xf32>) -> tensor<?x1x2x2xf32>
  return %r : tensor<?x1x2x2xf32>
}
