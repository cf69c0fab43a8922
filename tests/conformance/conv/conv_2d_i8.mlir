// An i8 convolution with an i32 accumulator.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x3x3x2xi8=127 -128 1 2 3 4 5 6 7 8 9 10 11 12 13 14 127 -128
// INPUT: 2x2x2x1xi8=1 -1 2 -2 127 127 -128 -128
// EXPECT: result[0]: 1x2x2x1xi32=[[[[-270], [-530]], [[-538], [3554]]]]
// CASE:
// INPUT: 3x3x3x2xi8=rnd:1
// INPUT: 2x2x2x1xi8=rnd:2

func.func @main(%image: tensor<?x3x3x2xi8>, %filter: tensor<2x2x2x1xi8>) -> tensor<?x2x2x1xi32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %n = tensor.dim %image, %c0 : tensor<?x3x3x2xi8>
  %e = tensor.empty(%n) : tensor<?x2x2x1xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<?x2x2x1xi32>) -> tensor<?x2x2x1xi32>
  %r = linalg.conv_2d_nhwc_hwcf
      ins(%image, %filter : tensor<?x3x3x2xi8>, tensor<2x2x2x1xi8>)
      outs(%z : tensor<?x2x2x1xi32>) -> tensor<?x2x2x1xi32>
  return %r : tensor<?x2x2x1xi32>
}
