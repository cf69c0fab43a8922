// Two chains that never meet; each step of the one may run beside a step of the other.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 1x1xf32=2
// EXPECT: result[0]: 2x2xf32=[[37, 54], [81, 118]]
// EXPECT: result[1]: 1x1xf32=[[8]]
// CASE:
// INPUT: 71x71xf32=rnd:1
// INPUT: 97x97xf32=rnd:2
// CASE:
// INPUT: 0x0xf32=[]
// INPUT: 89x89xf32=rnd:3

!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : !t
  %m = tensor.dim %b, %c0 : !t
  %en = tensor.empty(%n, %n) : !t
  %zn = linalg.fill ins(%zero : f32) outs(%en : !t) -> !t
  %em = tensor.empty(%m, %m) : !t
  %zm = linalg.fill ins(%zero : f32) outs(%em : !t) -> !t
  %a2 = linalg.matmul ins(%a, %a : !t, !t) outs(%zn : !t) -> !t
  %a3 = linalg.matmul ins(%a2, %a : !t, !t) outs(%zn : !t) -> !t
  %b2 = linalg.matmul ins(%b, %b : !t, !t) outs(%zm : !t) -> !t
  %b3 = linalg.matmul ins(%b2, %b : !t, !t) outs(%zm : !t) -> !t
  return %a3, %b3 : !t, !t
}
