// powf, sqrt, rsqrt and cbrt in f64.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 5xf64=0.75 3.75 -1 -3.75 0
// EXPECT: result[0]: 5xf64=[1, 181.01933598375618, 0.7999999999999999, 0.005524271728019903, 1]
// EXPECT: result[1]: 5xf64=[1, 2, 1.118033988749895, 2, 0.5]
// EXPECT: result[2]: 5xf64=[1, 0.5, 0.8944271909999159, 0.5, 2]
// EXPECT: result[3]: 5xf64=[0.9085602964160698, 1.5536162529769295, -1, -1.5536162529769295, 0]
// CASE:
// INPUT: 1031xf64=rnd:4

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>)
      outs(%e, %e, %e, %e : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64):
    %m = math.absf %x : f64
    %tiny = arith.constant 0.25 : f64
    %p = arith.addf %m, %tiny : f64
    %0 = math.powf %p, %x : f64
    %1 = math.sqrt %p : f64
    %2 = math.rsqrt %p : f64
    %3 = math.cbrt %x : f64
    linalg.yield %0, %1, %2, %3 : f64, f64, f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
