// Softmax composed of TOSA operations.
// RUN-FUNCTION: @main
// TOLERANCE: 5e-6
// CASE:
// INPUT: 2x3xf32=1 2 3 0 0 0
// EXPECT: result[0]: 2x3xf32=[[0.09003057, 0.24472848, 0.66524094], [0.33333334, 0.33333334, 0.33333334]]
// CASE:
// INPUT: 17x3xf32=rnd:1

func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %max = tosa.reduce_max %x {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %d = tosa.sub %x, %max : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  %e = tosa.exp %d : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %q = tosa.reciprocal %s : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = tosa.mul %e, %q, %shift
      : (tensor<?x3xf32>, tensor<?x1xf32>, tensor<1xi8>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
