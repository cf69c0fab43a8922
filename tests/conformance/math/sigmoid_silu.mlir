// Sigmoid and SiLU, large arguments included.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-6
// CASE:
// INPUT: 7xf32=0 1 -1 20 -20 90 -90
// EXPECT: result[0]: 7xf32=[0.5, 0.7310586, 0.26894143, 1, 2.0611537e-09, 1, 8.19401e-40]
// EXPECT: result[1]: 7xf32=[0, 0.7310586, -0.26894143, 20, -4.122307e-08, 90, -7.374611e-38]
// CASE:
// INPUT: 1031xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.negf %x : f32
    %p = math.exp %m : f32
    %d = arith.addf %p, %one : f32
    %s = arith.divf %one, %d : f32
    %t = arith.mulf %x, %s : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
