// tosa.depthwise_conv2d with a channel multiplier.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x3x3x2xf32=rnd:1
// INPUT: 2x2x2x2xf32=rnd:2
// INPUT: 4xf32=rnd:3
// CASE:
// INPUT: 1x3x3x2xf32=1
// INPUT: 2x2x2x2xf32=1
// INPUT: 4xf32=0 1 2 3
// EXPECT: result[0]: 1x2x2x4xf32=[[[[4, 5, 6, 7], [4, 5, 6, 7]], [[4, 5, 6, 7], [4, 5, 6, 7]]]]

func.func @main(%x: tensor<1x3x3x2xf32>, %w: tensor<2x2x2x2xf32>, %b: tensor<4xf32>)
    -> tensor<1x2x2x4xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.depthwise_conv2d %x, %w, %b, %zp, %zp
      {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
       stride = array<i64: 1, 1>}
      : (tensor<1x3x3x2xf32>, tensor<2x2x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<1x2x2x4xf32>
  return %r : tensor<1x2x2x4xf32>
}
