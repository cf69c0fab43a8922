// 2x2 pooling with stride 2 by the minimum.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 1x4x4x1xf32=1 2 3 4 5 6 7 8 -9 10 11 12 13 -14 15 16
// EXPECT: result[0]: 1x2x2x1xf32=[[[[1], [3]], [[-14], [11]]]]
// CASE:
// INPUT: 3x10x6x13xf32=rnd:1
// CASE:
// INPUT: 2x2x2x1xf32=-1
// EXPECT: result[0]: 2x1x1x1xf32=[[[[-1]]], [[[-1]]]]

func.func @main(%image: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %init = arith.constant 0x7F800000 : f32
  %n = tensor.dim %image, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %image, %c1 : tensor<?x?x?x?xf32>
  %w = tensor.dim %image, %c2 : tensor<?x?x?x?xf32>
  %c = tensor.dim %image, %c3 : tensor<?x?x?x?xf32>
  %oh = arith.divui %h, %c2 : index
  %ow = arith.divui %w, %c2 : index
  %e = tensor.empty(%n, %oh, %ow, %c) : tensor<?x?x?x?xf32>
  %z = linalg.fill ins(%init : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %r = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>}
      ins(%image, %window : tensor<?x?x?x?xf32>, tensor<2x2xf32>)
      outs(%z : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
