// Strides and dilations that differ by dimension.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x9x10x2xf32=rnd:1
// INPUT: 2x3x2x3xf32=rnd:2
// CASE:
// INPUT: 5x9x10x2xf32=1
// INPUT: 2x3x2x3xf32=1

func.func @main(%image: tensor<?x9x10x2xf32>, %filter: tensor<2x3x2x3xf32>) -> tensor<?x3x6x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %image, %c0 : tensor<?x9x10x2xf32>
  %e = tensor.empty(%n) : tensor<?x3x6x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3x6x3xf32>) -> tensor<?x3x6x3xf32>
  %r = linalg.conv_2d_nhwc_hwcf
      {strides = dense<[3, 1]> : tensor<2xi64>, dilations = dense<[2, 2]> : tensor<2xi64>}
      ins(%image, %filter : tensor<?x9x10x2xf32>, tensor<2x3x2x3xf32>)
      outs(%z : tensor<?x3x6x3xf32>) -> tensor<?x3x6x3xf32>
  return %r : tensor<?x3x6x3xf32>
}
