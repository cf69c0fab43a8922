// Weights that are bound by name at load, used and returned.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// PARAM: weight=@parameters_weight.npy
// PARAM: bias=@parameters_bias.npy
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// EXPECT: result[0]: 2x2xf32=[[8.25, 3], [18.75, 9]]
// EXPECT: result[1]: 2xf32=[0.25, -4]
// CASE:
// INPUT: 5x3xf32=rnd:1

ml_program.global private @weight(#ml_program.extern<tensor<3x2xf32>>) : tensor<3x2xf32>
ml_program.global private @bias(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>

func.func @main(%x: tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %w = ml_program.global_load_const @weight : tensor<3x2xf32>
  %b = ml_program.global_load_const @bias : tensor<2xf32>
  %m = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%m) : tensor<?x2xf32>
  %init = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<?x2xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>)
      outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %p, %b : tensor<?x2xf32>, tensor<2xf32>
}
