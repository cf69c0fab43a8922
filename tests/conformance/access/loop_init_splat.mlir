// A loop starts from a splat and updates in place.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=2 kernels=2
// CASE:
// INPUT: index=3
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[4, 7, 10, 13]
// CASE:
// INPUT: index=0
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[1, 1, 1, 1]

func.func @main(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %one) -> tensor<4xf32> {
    %s = linalg.add ins(%acc, %x : tensor<4xf32>, tensor<4xf32>) outs(%acc : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
