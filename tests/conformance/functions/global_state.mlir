// ml_program globals that are read and written: a mutable one starts from its initial value.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2xf32=1 2
// EXPECT: result[0]: 2xf32=[10, 20]
// EXPECT: result[1]: 2xf32=[11, 22]
// EXPECT: result[2]: 2xf32=[5.5, -11]

ml_program.global private mutable @state(dense<[10.0, 20.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @offset(dense<[0.5, -0.5]> : tensor<2xf32>) : tensor<2xf32>

func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %before = ml_program.global_load @state : tensor<2xf32>
  %k = ml_program.global_load_const @offset : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %s = linalg.add ins(%before, %x : tensor<2xf32>, tensor<2xf32>)
      outs(%e : tensor<2xf32>) -> tensor<2xf32>
  ml_program.global_store @state = %s : tensor<2xf32>
  %after = ml_program.global_load @state : tensor<2xf32>
  %r = linalg.mul ins(%after, %k : tensor<2xf32>, tensor<2xf32>)
      outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %before, %after, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
