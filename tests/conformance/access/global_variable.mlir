// State is read before it is stored to: what was loaded does not change.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=2 allocations=2 dispatches=1
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[5, 5, 5]
// EXPECT: result[1]: 3xf32=[6, 7, 8]

ml_program.global private mutable @state(dense<5.0> : tensor<3xf32>) : tensor<3xf32>
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %old = ml_program.global_load @state : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %new = linalg.add ins(%old, %x : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  ml_program.global_store @state = %new : tensor<3xf32>
  return %old, %new : tensor<3xf32>, tensor<3xf32>
}
