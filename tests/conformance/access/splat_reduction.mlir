// A sum that starts from a splat, over no columns too.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=2 dispatches=3
// CASE:
// INPUT: 3x2xi32=1 2 3 4 5 6
// EXPECT: result[0]: 3xi32=[13, 17, 21]
// CASE:
// INPUT: 3x0xi32=
// EXPECT: result[0]: 3xi32=[10, 10, 10]
// CASE:
// INPUT: 3x1031xi32=rnd:1

func.func @main(%x: tensor<3x?xi32>) -> tensor<3xi32> {
  %c = arith.constant dense<10> : tensor<3xi32>
  %r = linalg.reduce {arith.addi} ins(%x : tensor<3x?xi32>) outs(%c : tensor<3xi32>) dimensions = [1]
  return %r : tensor<3xi32>
}
