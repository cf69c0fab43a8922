// Bounded extents: temporaries have places that were planned at load, for the largest size.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x1xf32=2
// INPUT: 1x1xf32=3
// EXPECT: result[0]: 1x1xf32=[[162]]
// CASE:
// INPUT: 64x48xf32=rnd:1
// INPUT: 48x48xf32=rnd:2
// CASE:
// INPUT: 13x7xf32=rnd:3
// INPUT: 7x7xf32=rnd:4
// CASE:
// INPUT: 0x7xf32=0
// INPUT: 7x7xf32=rnd:5

!t = tensor<?x?xf32>
func.func @main(%a: !t {plim.bounds = [{max = 64}, {min = 1, max = 48}]},
                %b: !t {plim.bounds = [{max = 48}, {max = 48}]}) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : !t
  %m = tensor.dim %b, %c1 : !t
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %p = linalg.matmul ins(%a, %b : !t, !t) outs(%z : !t) -> !t
  %q = linalg.matmul ins(%p, %b : !t, !t) outs(%z : !t) -> !t
  %r = linalg.matmul ins(%q, %b : !t, !t) outs(%z : !t) -> !t
  %s = linalg.matmul ins(%r, %b : !t, !t) outs(%z : !t) -> !t
  return %s : !t
}
