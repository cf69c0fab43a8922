// The same operand twice: a square matrix to the fourth power.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-4
// CASE:
// INPUT: 2x2xf32=1 1 1 0
// EXPECT: result[0]: 2x2xf32=[[5, 3], [3, 2]]
// CASE:
// INPUT: 19x19xf32=rnd:1

func.func @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.matmul ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = linalg.matmul ins(%2, %2 : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}
