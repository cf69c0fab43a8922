// Double precision products.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-13
// CASE:
// INPUT: 1x2xf64=1 1e-9
// INPUT: 2x1xf64=1 1
// EXPECT: result[0]: 1x1xf64=[[1.000000001]]
// CASE:
// INPUT: 41x43xf64=rnd:1
// INPUT: 43x47xf64=rnd:2
// CASE:
// INPUT: 65x515xf64=rnd:5
// INPUT: 515x33xf64=rnd:6

func.func @main(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>)
      outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %p : tensor<?x?xf64>
}
