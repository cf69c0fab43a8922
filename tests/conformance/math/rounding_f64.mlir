// abs, floor, ceil, round, roundeven and trunc in f64 are exact, halves and signs included.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 8xf64=0.0625 -0.0625 0.1875 -0.1875 0.3125 1 -1.3 0
// EXPECT: result[0]: 8xf64=[0.5, 0.5, 1.5, 1.5, 2.5, 8, 10.4, 0]
// EXPECT: result[1]: 8xf64=[0, -1, 1, -2, 2, 8, -11, 0]
// EXPECT: result[2]: 8xf64=[1, -0, 2, -1, 3, 8, -10, 0]
// EXPECT: result[3]: 8xf64=[1, -1, 2, -2, 3, 8, -10, 0]
// EXPECT: result[4]: 8xf64=[0, -0, 2, -2, 2, 8, -10, 0]
// EXPECT: result[5]: 8xf64=[0, -0, 1, -1, 2, 8, -10, 0]
// CASE:
// INPUT: 1033xf64=rnd:5

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>)
    -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:6 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>)
      outs(%e, %e, %e, %e, %e, %e : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>,
          tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64, %o5: f64):
    %scale = arith.constant 8.0 : f64
    %y = arith.mulf %x, %scale : f64
    %0 = math.absf %y : f64
    %1 = math.floor %y : f64
    %2 = math.ceil %y : f64
    %3 = math.round %y : f64
    %4 = math.roundeven %y : f64
    %5 = math.trunc %y : f64
    linalg.yield %0, %1, %2, %3, %4, %5 : f64, f64, f64, f64, f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5
      : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
