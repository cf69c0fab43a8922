// abs, floor, ceil, round, roundeven and trunc in f32 are exact, halves and signs included.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 8xf32=0.0625 -0.0625 0.1875 -0.1875 0.3125 1 -1.3 0
// EXPECT: result[0]: 8xf32=[0.5, 0.5, 1.5, 1.5, 2.5, 8, 10.4, 0]
// EXPECT: result[1]: 8xf32=[0, -1, 1, -2, 2, 8, -11, 0]
// EXPECT: result[2]: 8xf32=[1, -0, 2, -1, 3, 8, -10, 0]
// EXPECT: result[3]: 8xf32=[1, -1, 2, -2, 3, 8, -10, 0]
// EXPECT: result[4]: 8xf32=[0, -0, 2, -2, 2, 8, -10, 0]
// EXPECT: result[5]: 8xf32=[0, -0, 1, -1, 2, 8, -10, 0]
// CASE:
// INPUT: 1033xf32=rnd:5

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
    %scale = arith.constant 8.0 : f32
    %y = arith.mulf %x, %scale : f32
    %0 = math.absf %y : f32
    %1 = math.floor %y : f32
    %2 = math.ceil %y : f32
    %3 = math.round %y : f32
    %4 = math.roundeven %y : f32
    %5 = math.trunc %y : f32
    linalg.yield %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
