// tanh and erf in f64, with arguments where both saturate.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 7xf64=0 0.25 -0.25 1 -1 100 -100
// EXPECT: result[0]: 7xf64=[0, 0.7615941559557649, -0.7615941559557649, 0.999329299739067, -0.999329299739067, 1, -1]
// EXPECT: result[1]: 7xf64=[0, 0.8427007929497149, -0.8427007929497149, 0.9999999845827421, -0.9999999845827421, 1, -1]
// CASE:
// INPUT: 1013xf64=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf64>) outs(%e, %e : tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%x: f64, %o0: f64, %o1: f64):
    %scale = arith.constant 4.0 : f64
    %y = arith.mulf %x, %scale : f64
    %0 = math.tanh %y : f64
    %1 = math.erf %y : f64
    linalg.yield %0, %1 : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}
