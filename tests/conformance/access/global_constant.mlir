// A constant global as a destination, and as an input beside it.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2x2xf32=1 0 0 1
// EXPECT: result[0]: 2x2xf32=[[2, 4], [6, 8]]
// CASE:
// INPUT: 2x2xf32=rnd:1

ml_program.global private @table(dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = ml_program.global_load_const @table : tensor<2x2xf32>
  %r = linalg.matmul ins(%x, %c : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
