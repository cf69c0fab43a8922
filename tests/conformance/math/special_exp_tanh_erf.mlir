// Zeros keep their sign, NaN stays, denormals come and go; 19 elements, so that vectors and their
// remainder both see them.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-7
// CASE:
// INPUT: 8xf32=nan inf -inf -0.0 0 1e-45 -1e-45 1e-39
// EXPECT: result[0]: 8xf32=[nan, inf, 0, 1, 1, 1, 1, 1]
// EXPECT: result[1]: 8xf32=[nan, inf, -1, -0, 0, 1e-45, -1e-45, 1e-39]
// EXPECT: result[2]: 8xf32=[nan, 1, -1, -0, 0, 1e-45, -1e-45, 1e-39]
// EXPECT: result[3]: 8xf32=[nan, 1, -1, -0, 0, 1e-45, -1e-45, 1.128379e-39]
// EXPECT: result[4]: 8xf32=[nan, 1, -1, -inf, inf, inf, -inf, inf]
// CASE:
// INPUT: 19xf32=inf -inf nan 0 -0.0 1e-45 -1e-45 1e-39 88.7 88.8 -87.5 -100 -103.9 -104.1 -17.5 3.4e38 -3.4e38 9.3 -4.1
// CASE:
// INPUT: 4099xf32=rnd:3

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>)
      outs(%e, %e, %e, %e, %e : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>,
          tensor<?xf32>) {
  ^bb0(%x: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32):
    %0 = math.exp %x : f32
    %1 = math.expm1 %x : f32
    %2 = math.tanh %x : f32
    %3 = math.erf %x : f32
    // The sign of a zero.
    %one = arith.constant 1.0 : f32
    %4 = arith.divf %one, %3 : f32
    linalg.yield %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
