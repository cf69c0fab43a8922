// A maximum that starts from an argument, and the argument itself.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=1 allocations=2 dispatches=1
// CASE:
// INPUT: 2x3xf64=1 5 3 -4 -5 -6
// INPUT: 2xf64=2 -1
// EXPECT: result[0]: 2xf64=[5, -1]
// EXPECT: result[1]: 2xf64=[2, -1]
// CASE:
// INPUT: 101x7xf64=rnd:1
// INPUT: 101xf64=rnd:2

func.func @main(%x: tensor<?x?xf64>, %m: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %r = linalg.reduce {arith.maximumf} ins(%x : tensor<?x?xf64>) outs(%m : tensor<?xf64>) dimensions = [1]
  return %r, %m : tensor<?xf64>, tensor<?xf64>
}
