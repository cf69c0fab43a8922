// A loop starts from an argument and updates in place: one copy, before it.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=1 dispatches=1
// CASE:
// INPUT: index=2
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[4, 8, 12]
// CASE:
// INPUT: index=0
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[1, 2, 3]

func.func @main(%n: index, %x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> tensor<3xf32> {
    %s = linalg.add ins(%acc, %acc : tensor<3xf32>, tensor<3xf32>) outs(%acc : tensor<3xf32>) -> tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
