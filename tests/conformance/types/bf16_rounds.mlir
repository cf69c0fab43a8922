// Each operation of bf16 rounds: in f32 up to the end these sums would be 1.2578125, 1.3046875, 1.4140625 and 2.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xbf16=0.50390625 0.5546875 0.640625 1
// INPUT: 4xbf16=0
// EXPECT: result[0]: 4xbf16=[1.25, 1.3125, 1.40625, 2]

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xbf16>, %out: tensor<?xbf16>) -> tensor<?xbf16> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xbf16>) outs(%out : tensor<?xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %one = arith.constant 1.0 : bf16
    %p = arith.mulf %a, %a : bf16
    %s = arith.addf %p, %one : bf16
    linalg.yield %s : bf16
  } -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}
