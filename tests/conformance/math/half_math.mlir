// exp and sqrt of f16, computed at least in half precision.
// RUN-FUNCTION: @main
// TOLERANCE: 4e-3
// CASE:
// INPUT: 5xf16=0 1 -1 4 2.25
// EXPECT: result[0]: 5xf16=[1, 2.719, 0.368, 54.6, 9.484]
// EXPECT: result[1]: 5xf16=[0, 1, 1, 2, 1.5]
// CASE:
// INPUT: 211xf16=rnd:1

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xf16>) -> (tensor<?xf16>, tensor<?xf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf16>
  %e = tensor.empty(%n) : tensor<?xf16>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xf16>) outs(%e, %e : tensor<?xf16>, tensor<?xf16>) {
  ^bb0(%x: f16, %o0: f16, %o1: f16):
    %m = math.absf %x : f16
    %0 = math.exp %x : f16
    %1 = math.sqrt %m : f16
    linalg.yield %0, %1 : f16, f16
  } -> (tensor<?xf16>, tensor<?xf16>)
  return %r#0, %r#1 : tensor<?xf16>, tensor<?xf16>
}
