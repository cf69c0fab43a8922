// fma rounds once; copysign carries the sign of a zero.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 5xf32=1 1.00000012 -0.0 3 0
// EXPECT: result[0]: 5xf32=[1.1920929e-07, 2.3841858e-07, -1, 2.0000005, -1]
// EXPECT: result[1]: 5xf32=[1, 1, -1, 1, 1]
// CASE:
// INPUT: 101xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32):
    %k = arith.constant 1.00000012 : f32
    %m = arith.constant -1.0 : f32
    %0 = math.fma %x, %k, %m : f32
    %one = arith.constant 1.0 : f32
    %1 = math.copysign %one, %x : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
