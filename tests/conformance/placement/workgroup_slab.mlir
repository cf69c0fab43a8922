// Scratch of a host function lies in the slab as well: what shares its bytes keeps its order.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 8x8xf32=rnd:1
// INPUT: 8x8xf32=rnd:2
// CASE:
// INPUT: 8x8xf32=1
// INPUT: 8x8xf32=2

!t = tensor<8x8xf32>
func.func @main(%x: !t, %w: !t) -> (!t, !t) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() {plim.scope = "workgroup"} : !t
  %f = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %a = linalg.matmul ins(%x, %w : !t, !t) outs(%f : !t) -> !t
  %e1 = tensor.empty() : !t
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : !t) -> !t
  %y1 = linalg.matmul ins(%a, %w : !t, !t) outs(%f1 : !t) -> !t
  %e2 = tensor.empty() : !t
  %f2 = linalg.fill ins(%one : f32) outs(%e2 : !t) -> !t
  %b = linalg.matmul ins(%w, %x : !t, !t) outs(%f2 : !t) -> !t
  %y2 = linalg.matmul ins(%b, %x : !t, !t) outs(%f1 : !t) -> !t
  return %y1, %y2 : !t, !t
}
