// A contraction adds to what it is given; the loop carries the same memory.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// COUNT: copies=0 allocations=0 dispatches=1
// CASE:
// INPUT: index=3
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// EXPECT: result[0]: 2x2xf32=[[4, 2], [3, 7]]
// CASE:
// INPUT: index=0
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// EXPECT: result[0]: 2x2xf32=[[1, 2], [3, 4]]

func.func @main(%n: index, %acc: tensor<2x2xf32> {plim.donate = 0}, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %acc) -> tensor<2x2xf32> {
    %s = linalg.matmul ins(%w, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %s : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}
