// Two chains whose temporaries share one buffer, since one ends before the other begins: the second
// must not start early.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// EXPECT: result[0]: 2x2xf32=[[38, 54], [81, 119]]
// CASE:
// INPUT: 71x71xf32=rnd:1
// INPUT: 71x71xf32=rnd:2

!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : !t
  %e = tensor.empty(%n, %n) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %a2 = linalg.matmul ins(%a, %a : !t, !t) outs(%z : !t) -> !t
  %a3 = linalg.matmul ins(%a2, %a : !t, !t) outs(%z : !t) -> !t
  %b2 = linalg.matmul ins(%b, %b : !t, !t) outs(%z : !t) -> !t
  %b3 = linalg.matmul ins(%b2, %b : !t, !t) outs(%z : !t) -> !t
  %r = linalg.matmul ins(%a3, %b3 : !t, !t) outs(%z : !t) -> !t
  %q = linalg.add ins(%r, %b3 : !t, !t) outs(%e : !t) -> !t
  return %q : !t
}
