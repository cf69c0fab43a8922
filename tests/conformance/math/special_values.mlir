// Infinities, NaN and zeros through exp, log, sqrt and tanh: no fast-math assumption is allowed.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: 6xf32=inf -inf nan 0 -1 1
// EXPECT: result[0]: 6xf32=[inf, 0, nan, 1, 0.36787945, 2.7182817]
// EXPECT: result[1]: 6xf32=[inf, nan, nan, -inf, nan, 0]
// EXPECT: result[2]: 6xf32=[inf, nan, nan, 0, nan, 1]
// EXPECT: result[3]: 6xf32=[1, -1, nan, 0, -0.7615942, 0.7615942]
// EXPECT: result[4]: 6xf32=[nan, nan, nan, nan, 1, 1]
// EXPECT: result[5]: 6xf32=[0, nan, nan, inf, nan, 1]
// CASE:
// INPUT: 19xf32=inf
// EXPECT: result[0]: 19xf32=[inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf]
// EXPECT: result[1]: 19xf32=[inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf]
// EXPECT: result[2]: 19xf32=[inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf, inf]
// EXPECT: result[3]: 19xf32=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
// EXPECT: result[4]: 19xf32=[nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan]
// EXPECT: result[5]: 19xf32=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

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
    %0 = math.exp %x : f32
    %1 = math.log %x : f32
    %2 = math.sqrt %x : f32
    %3 = math.tanh %x : f32
    %4 = arith.divf %x, %x : f32
    %5 = math.rsqrt %x : f32
    linalg.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
