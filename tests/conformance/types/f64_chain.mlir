// Double precision must not be narrowed on the way: the terms differ by 1e-12.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-15
// CASE:
// INPUT: 3xf64=1.000000000001 1e300 -2
// INPUT: 3xf64=1 1e-300 0.1
// EXPECT: result[0]: 3xf64=[1.000088900582341e-12, 1e+300, -2.1]
// EXPECT: result[1]: 3xf64=[1.000000000001, 1, -0.2]
// CASE:
// INPUT: 1019xf64=rnd:1
// INPUT: 1019xf64=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>, %b: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf64>, tensor<?xf64>) outs(%e, %e : tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %y: f64, %p: f64, %q: f64):
    %difference = arith.subf %x, %y : f64
    %product = arith.mulf %x, %y : f64
    linalg.yield %difference, %product : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}
