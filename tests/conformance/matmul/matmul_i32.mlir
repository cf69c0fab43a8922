// Integer products wrap like the scalar operations.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xi32=65536 1 2 3
// INPUT: 2x2xi32=65536 1 -1 4
// EXPECT: result[0]: 2x2xi32=[[-1, 65540], [131069, 14]]
// CASE:
// INPUT: 23x29xi32=rnd:1
// INPUT: 29x31xi32=rnd:2

func.func @main(%a: tensor<?x?xi32>, %b: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %m = tensor.dim %a, %c0 : tensor<?x?xi32>
  %n = tensor.dim %b, %c1 : tensor<?x?xi32>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xi32>, tensor<?x?xi32>)
      outs(%z : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %p : tensor<?x?xi32>
}
