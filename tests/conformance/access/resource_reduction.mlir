// What the sum starts from is a resource of the source.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// EXPECT: result[0]: 2xf32=[4, 9]

func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense_resource<start> : tensor<2xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<2x2xf32>) outs(%c : tensor<2xf32>) dimensions = [1]
  return %r : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      start: "0x040000000000803F00000040"
    }
  }
#-}
