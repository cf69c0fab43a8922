// The bias is broadcast into the accumulator before the product.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 1 1 1
// INPUT: 2xf32=100 -100
// EXPECT: result[0]: 2x2xf32=[[103, -97], [107, -93]]
// CASE:
// INPUT: 19x43xf32=rnd:1
// INPUT: 43x53xf32=rnd:2
// INPUT: 53xf32=rnd:3

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.broadcast ins(%bias : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [0]
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
