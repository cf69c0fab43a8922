// Two independent products in each turn of a loop, of values that the loop carries and swaps.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 2x2xf32=1 1 0 1
// INPUT: 2x2xf32=1 0 1 1
// INPUT: index=3
// EXPECT: result[0]: 2x2xf32=[[1, 0], [8, 1]]
// EXPECT: result[1]: 2x2xf32=[[1, 8], [0, 1]]
// CASE:
// INPUT: 61x61xf32=rnd:1
// INPUT: 61x61xf32=rnd:2
// INPUT: index=2
// CASE:
// INPUT: 5x5xf32=rnd:1
// INPUT: 5x5xf32=rnd:2
// INPUT: index=0

!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t, %turns: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : !t
  %e = tensor.empty(%n, %n) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %r:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%x = %a, %y = %b) -> (!t, !t) {
    %xx = linalg.matmul ins(%x, %x : !t, !t) outs(%z : !t) -> !t
    %yy = linalg.matmul ins(%y, %y : !t, !t) outs(%z : !t) -> !t
    scf.yield %yy, %xx : !t, !t
  }
  return %r#0, %r#1 : !t, !t
}
