// Half precision, each step rounded.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-3
// CASE:
// INPUT: 4xf16=1 2 0.1 -3
// INPUT: 4xf16=0.5 100 0.2 7
// EXPECT: result[0]: 4xf16=[1.5, 202, 0.12, -24]
// CASE:
// INPUT: 521xf16=rnd:1
// INPUT: 521xf16=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf16>
  %e = tensor.empty(%n) : tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf16>, tensor<?xf16>) outs(%e : tensor<?xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %p, %x : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}
