// exp, exp2, log, log2 and log1p in f64.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 6xf64=0 1 -1 0.5 -2.5 10
// CASE:
// INPUT: 1009xf64=rnd:1
// CASE:
// INPUT: 0xf64=[]

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>)
    -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>)
      outs(%e, %e, %e, %e, %e : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64):
    %m = math.absf %x : f64
    %tiny = arith.constant 0.125 : f64
    %p = arith.addf %m, %tiny : f64
    %0 = math.exp %x : f64
    %1 = math.exp2 %x : f64
    %2 = math.log %p : f64
    %3 = math.log2 %p : f64
    %4 = math.log1p %m : f64
    linalg.yield %0, %1, %2, %3, %4 : f64, f64, f64, f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}
