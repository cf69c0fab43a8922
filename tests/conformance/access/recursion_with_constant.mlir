// A function that calls itself hands a table on, and updates what it got.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=4 allocations=10 dispatches=1
// CASE:
// INPUT: index=3
// EXPECT: result[0]: 2xf32=[7, 8]
// CASE:
// INPUT: index=0
// EXPECT: result[0]: 2xf32=[1, 2]

func.func private @turn(%t: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant dense<2.0> : tensor<2xf32>
  %more = arith.cmpi ugt, %n, %c0 : index
  %r = scf.if %more -> tensor<2xf32> {
    %s = linalg.add ins(%t, %two : tensor<2xf32>, tensor<2xf32>) outs(%t : tensor<2xf32>) -> tensor<2xf32>
    %less = arith.subi %n, %c1 : index
    %u = func.call @turn(%s, %less) : (tensor<2xf32>, index) -> tensor<2xf32>
    scf.yield %u : tensor<2xf32>
  } else {
    scf.yield %t : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
func.func @main(%n: index) -> tensor<2xf32> {
  %table = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = func.call @turn(%table, %n) : (tensor<2xf32>, index) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
