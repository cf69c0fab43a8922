// A global that is read and written between two dispatches that may run at once: what the second one
// needs of it moves ahead of both, the store stays behind.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xf32=1 2 3 4
// EXPECT: result[0]: 4xf32=[2, 4, 6, 8]
// EXPECT: result[1]: 4xf32=[11, 12, 13, 14]
// EXPECT: result[2]: 4xf32=[13, 16, 19, 22]
// CASE:
// INPUT: 100003xf32=rnd:1

#id = affine_map<(i) -> (i)>
ml_program.global private mutable @state(dense<10.0> : tensor<f32>) : tensor<f32>
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %ten = arith.constant 10.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %twice = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %t = ml_program.global_load @state : tensor<f32>
  %shift = tensor.extract %t[] : tensor<f32>
  %shifted = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %shift : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %one = tensor.from_elements %ten : tensor<f32>
  ml_program.global_store @state = %one : tensor<f32>
  %both = linalg.add ins(%twice, %shifted : tensor<?xf32>, tensor<?xf32>)
      outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %twice, %shifted, %both : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
