// A product with the left operand stored transposed, told by the indexing maps.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 3x2xf32=1 4 2 5 3 6
// INPUT: 3x2xf32=1 -1 2 0.5 -3 4
// EXPECT: result[0]: 2x2xf32=[[-4, 12], [-4, 22.5]]
// CASE:
// INPUT: 67x31xf32=rnd:1
// INPUT: 67x41xf32=rnd:2
// CASE:
// INPUT: 300x129xf32=rnd:5
// INPUT: 300x70xf32=rnd:6

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c1 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
