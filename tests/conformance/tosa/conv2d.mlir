// tosa.conv2d with padding, stride and bias (weights are output, height, width, input).
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x4x4x1xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// INPUT: 2x3x3x1xf32=0 0 0 0 1 0 0 0 0 1 1 1 1 1 1 1 1 1
// INPUT: 2xf32=0.5 -1
// EXPECT: result[0]: 1x2x2x2xf32=[[[[1.5, 13], [3.5, 29]], [[9.5, 56], [11.5, 98]]]]
// CASE:
// INPUT: 3x4x4x1xf32=rnd:1
// INPUT: 2x3x3x1xf32=rnd:2
// INPUT: 2xf32=rnd:3

func.func @main(%x: tensor<?x4x4x1xf32>, %w: tensor<2x3x3x1xf32>, %b: tensor<2xf32>)
    -> tensor<?x2x2x2xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.conv2d %x, %w, %b, %zp, %zp
      {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>,
       stride = array<i64: 2, 2>}
      : (tensor<?x4x4x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<?x2x2x2xf32>
  return %r : tensor<?x2x2x2xf32>
}
