// tosa.gather picks rows by index within each batch.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 1x3x2xf32=1 2 3 4 5 6
// INPUT: 1x4xi32=2 0 1 2
// EXPECT: result[0]: 1x4x2xf32=[[[5, 6], [1, 2], [3, 4], [5, 6]]]
// CASE:
// INPUT: 1x3x2xf32=rnd:1
// INPUT: 1x4xi32=0

func.func @main(%v: tensor<1x3x2xf32>, %i: tensor<1x4xi32>) -> tensor<1x4x2xf32> {
  %r = tosa.gather %v, %i : (tensor<1x3x2xf32>, tensor<1x4xi32>) -> tensor<1x4x2xf32>
  return %r : tensor<1x4x2xf32>
}
