// tosa.matmul over a batch.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x2x2xf32=1 2 3 4
// INPUT: 1x2x3xf32=1 0 -1 0 1 1
// EXPECT: result[0]: 1x2x3xf32=[[[1, 2, 1], [3, 4, 1]]]
// CASE:
// INPUT: 3x2x2xf32=rnd:1
// INPUT: 3x2x3xf32=rnd:2

func.func @main(%a: tensor<?x2x2xf32>, %b: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.matmul %a, %b, %zp, %zp
      : (tensor<?x2x2xf32>, tensor<?x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x2x3xf32>
  return %r : tensor<?x2x3xf32>
}
