// Maximum and average pooling, whose average counts only real elements at the padded border.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 1x4x4x1xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// EXPECT: result[0]: 1x2x2x1xf32=[[[[6], [8]], [[14], [16]]]]
// EXPECT: result[1]: 1x3x3x1xf32=[[[[1], [2.5], [4]], [[7], [8.5], [10]], [[13], [14.5], [16]]]]
// CASE:
// INPUT: 3x4x4x1xf32=rnd:1

func.func @main(%x: tensor<?x4x4x1xf32>) -> (tensor<?x2x2x1xf32>, tensor<?x3x3x1xf32>) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = tosa.max_pool2d %x
      {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<?x4x4x1xf32>) -> tensor<?x2x2x1xf32>
  %a = tosa.avg_pool2d %x, %zp, %zp
      {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>,
       stride = array<i64: 2, 2>}
      : (tensor<?x4x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x3x3x1xf32>
  return %m, %a : tensor<?x2x2x1xf32>, tensor<?x3x3x1xf32>
}
