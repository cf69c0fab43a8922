// powf, sqrt, rsqrt and cbrt in f32.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-6
// CASE:
// INPUT: 5xf32=0.75 3.75 -1 -3.75 0
// EXPECT: result[0]: 5xf32=[1, 181.01933, 0.8, 0.0055242716, 1]
// EXPECT: result[1]: 5xf32=[1, 2, 1.118034, 2, 0.5]
// EXPECT: result[2]: 5xf32=[1, 0.5, 0.8944272, 0.5, 2]
// EXPECT: result[3]: 5xf32=[0.9085603, 1.5536163, -1, -1.5536163, 0]
// CASE:
// INPUT: 1031xf32=rnd:4

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%e, %e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32):
    %m = math.absf %x : f32
    %tiny = arith.constant 0.25 : f32
    %p = arith.addf %m, %tiny : f32
    %0 = math.powf %p, %x : f32
    %1 = math.sqrt %p : f32
    %2 = math.rsqrt %p : f32
    %3 = math.cbrt %x : f32
    linalg.yield %0, %1, %2, %3 : f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
