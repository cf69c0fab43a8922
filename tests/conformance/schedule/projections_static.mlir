// The same diamond with static shapes: its buffers have offsets in the slab, which later ones reuse.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 96x64xf32=rnd:1
// INPUT: 64x64xf32=rnd:2
// INPUT: 64x64xf32=rnd:3
// INPUT: 64x64xf32=rnd:4

!x = tensor<96x64xf32>
!w = tensor<64x64xf32>
func.func @main(%x: !x, %wq: !w, %wk: !w, %wv: !w) -> (!x, !w) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !x
  %z = linalg.fill ins(%zero : f32) outs(%e : !x) -> !x
  %q = linalg.matmul ins(%x, %wq : !x, !w) outs(%z : !x) -> !x
  %k = linalg.matmul ins(%x, %wk : !x, !w) outs(%z : !x) -> !x
  %v = linalg.matmul ins(%x, %wv : !x, !w) outs(%z : !x) -> !x
  %ew = tensor.empty() : !w
  %zw = linalg.fill ins(%zero : f32) outs(%ew : !w) -> !w
  // Outer product of queries and keys, then of its result with itself: offsets are free again.
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j, d) -> (d, i)>, affine_map<(i, j, d) -> (d, j)>,
                       affine_map<(i, j, d) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : !x, !x) outs(%zw : !w) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %sum, %p : f32
    linalg.yield %t : f32
  } -> !w
  %t = linalg.matmul ins(%s, %s : !w, !w) outs(%zw : !w) -> !w
  %u = linalg.matmul ins(%s, %wq : !w, !w) outs(%zw : !w) -> !w
  %y = linalg.matmul ins(%v, %t : !x, !w) outs(%z : !x) -> !x
  %uu = linalg.matmul ins(%u, %wk : !w, !w) outs(%zw : !w) -> !w
  return %y, %uu : !x, !w
}
