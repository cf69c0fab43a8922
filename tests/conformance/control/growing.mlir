// The carried tensor has another extent in each trip.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=0
// INPUT: 1xf32=1
// EXPECT: result[0]: 1xf32=[1]
// CASE:
// INPUT: index=4
// INPUT: 1xf32=1
// EXPECT: result[0]: 16xf32=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
// CASE:
// INPUT: index=3
// INPUT: 5xf32=rnd:1

func.func @main(%trips: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%t = %x) -> (tensor<?xf32>) {
    %twice = tensor.concat dim(0) %t, %t : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %twice : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
