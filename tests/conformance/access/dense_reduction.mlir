// A sum that starts from a table: it is copied inside the dispatch.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=2 dispatches=3
// CASE:
// INPUT: 3x2xi64=1 2 3 4 5 6
// EXPECT: result[0]: 3xi64=[13, 27, 41]
// CASE:
// INPUT: 3x997xi64=rnd:1

func.func @main(%x: tensor<3x?xi64>) -> tensor<3xi64> {
  %c = arith.constant dense<[10, 20, 30]> : tensor<3xi64>
  %r = linalg.reduce {arith.addi} ins(%x : tensor<3x?xi64>) outs(%c : tensor<3xi64>) dimensions = [1]
  return %r : tensor<3xi64>
}
