// bfloat16, each step rounded.
// RUN-FUNCTION: @main
// TOLERANCE: 2e-2
// CASE:
// INPUT: 4xbf16=1 2 0.5 -3
// INPUT: 4xbf16=0.5 100 0.25 7
// EXPECT: result[0]: 4xbf16=[1.5, 202, 0.625, -24]
// CASE:
// INPUT: 523xbf16=rnd:1
// INPUT: 523xbf16=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xbf16>, %b: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xbf16>
  %e = tensor.empty(%n) : tensor<?xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xbf16>, tensor<?xbf16>) outs(%e : tensor<?xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %p, %x : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}
