// Weights and activations of 8 bits, sums in f32; and a product that rounds every sum to 8 bits.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 33x29xf8E4M3FN=rnd:1
// INPUT: 29x41xf8E4M3FN=rnd:2
// CASE:
// INPUT: 1x1xf8E4M3FN=1.5
// INPUT: 1x1xf8E4M3FN=-448
// EXPECT: result[0]: 1x1xf32=[[-672]]
// EXPECT: result[1]: 1x1xf8E4M3FN=[[nan]]
// CASE:
// INPUT: 0x4xf8E4M3FN=0
// INPUT: 4x3xf8E4M3FN=1

func.func @main(%a: tensor<?x?xf8E4M3FN>, %b: tensor<?x?xf8E4M3FN>)
    -> (tensor<?x?xf32>, tensor<?x?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf8E4M3FN>
  %n = tensor.dim %b, %c1 : tensor<?x?xf8E4M3FN>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %small = arith.constant 0.0 : f8E4M3FN
  %f = tensor.empty(%m, %n) : tensor<?x?xf8E4M3FN>
  %y = linalg.fill ins(%small : f8E4M3FN) outs(%f : tensor<?x?xf8E4M3FN>) -> tensor<?x?xf8E4M3FN>
  %s = linalg.matmul ins(%a, %b : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E4M3FN>)
      outs(%y : tensor<?x?xf8E4M3FN>) -> tensor<?x?xf8E4M3FN>
  return %r, %s : tensor<?x?xf32>, tensor<?x?xf8E4M3FN>
}
