// atan, expm1, sinh, cosh, asin and acos, less common but supported.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-6
// CASE:
// INPUT: 5xf32=0 0.5 -0.5 1 -1
// EXPECT: result[0]: 5xf32=[0, 0.4636476, -0.4636476, 0.7853982, -0.7853982]
// EXPECT: result[1]: 5xf32=[0, 0.6487213, -0.39346933, 1.7182819, -0.63212055]
// EXPECT: result[2]: 5xf32=[0, 0.5210953, -0.5210953, 1.1752012, -1.1752012]
// EXPECT: result[3]: 5xf32=[1, 1.127626, 1.127626, 1.5430807, 1.5430807]
// EXPECT: result[4]: 5xf32=[0, 0.5235988, -0.5235988, 1.5707964, -1.5707964]
// EXPECT: result[5]: 5xf32=[1.5707964, 1.0471976, 2.0943952, 0, 3.1415927]
// CASE:
// INPUT: 499xf32=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:6 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%e, %e, %e, %e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>,
          tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32):
    %0 = math.atan %x : f32
    %1 = math.expm1 %x : f32
    %2 = math.sinh %x : f32
    %3 = math.cosh %x : f32
    %4 = math.asin %x : f32
    %5 = math.acos %x : f32
    linalg.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
