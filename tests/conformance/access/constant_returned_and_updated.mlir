// A table is a result, and so is what it was updated to.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=2 dispatches=1
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 1, 1]
// EXPECT: result[1]: 3xf32=[2, 3, 4]

func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<1.0> : tensor<3xf32>
  %r = linalg.add ins(%x, %c : tensor<3xf32>, tensor<3xf32>) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  return %c, %r : tensor<3xf32>, tensor<3xf32>
}
