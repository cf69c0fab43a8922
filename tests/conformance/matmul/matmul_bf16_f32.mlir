// bf16 operands are widened into an f32 accumulator.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x2xbf16=1.5 2
// INPUT: 2x1xbf16=0.5 -4
// EXPECT: result[0]: 1x1xf32=[[-7.25]]
// CASE:
// INPUT: 33x65xbf16=rnd:1
// INPUT: 65x47xbf16=rnd:2
// CASE:
// INPUT: 128x64xbf16=rnd:3
// INPUT: 64x96xbf16=rnd:4
// CASE:
// INPUT: 40x515xbf16=rnd:5
// INPUT: 515x70xbf16=rnd:6

func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
