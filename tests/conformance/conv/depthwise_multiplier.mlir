// A depthwise convolution with two filters per channel and stride 2.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x4x4x1xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// INPUT: 2x2x1x2xf32=1 0 0 1 0 0 -1 1
// EXPECT: result[0]: 1x2x2x1x2xf32=[[[[[-5, 8]], [[-5, 12]]], [[[-5, 24]], [[-5, 28]]]]]
// CASE:
// INPUT: 3x4x4x1xf32=rnd:1
// INPUT: 2x2x1x2xf32=rnd:2

func.func @main(%image: tensor<?x4x4x1xf32>, %filter: tensor<2x2x1x2xf32>)
    -> tensor<?x2x2x1x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x4x4x1xf32>
  %e = tensor.empty(%n) : tensor<?x2x2x1x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x2x1x2xf32>) -> tensor<?x2x2x1x2xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {strides = dense<2> : tensor<2xi64>}
      ins(%image, %filter : tensor<?x4x4x1xf32>, tensor<2x2x1x2xf32>)
      outs(%z : tensor<?x2x2x1x2xf32>) -> tensor<?x2x2x1x2xf32>
  return %r : tensor<?x2x2x1x2xf32>
}
