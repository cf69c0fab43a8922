// Two products in a row; the temporary between them is as large as the result.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 1x2xf32=1 2
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x1xf32=1 -1
// EXPECT: result[0]: 1x1xf32=[[-3]]
// CASE:
// INPUT: 23x37xf32=rnd:1
// INPUT: 37x29xf32=rnd:2
// INPUT: 29x53xf32=rnd:3

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %k = tensor.dim %b, %c1 : tensor<?x?xf32>
  %n = tensor.dim %c, %c1 : tensor<?x?xf32>
  %e0 = tensor.empty(%m, %k) : tensor<?x?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e1 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p1 = linalg.matmul ins(%p0, %c : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p1 : tensor<?x?xf32>
}
