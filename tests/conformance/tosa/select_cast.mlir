// Comparison, selection and casts between types.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xf32=1.5 -2.5 3.2 -0.1
// INPUT: 4xf32=1 1 1 1
// EXPECT: result[0]: 4xf32=[1.5, 1, 3.2, 1]
// EXPECT: result[1]: 4xi32=[1, 1, 3, 1]
// EXPECT: result[2]: 4xi1=[1, 0, 1, 0]
// CASE:
// INPUT: 4xf32=rnd:1
// INPUT: 4xf32=rnd:2

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>) {
  %g = tosa.greater %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s = tosa.select %g, %x, %y
      : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = tosa.floor %s : (tensor<4xf32>) -> tensor<4xf32>
  %i = tosa.cast %f : (tensor<4xf32>) -> tensor<4xi32>
  return %s, %i, %g : tensor<4xf32>, tensor<4xi32>, tensor<4xi1>
}
