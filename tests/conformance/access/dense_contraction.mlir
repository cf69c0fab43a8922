// A product that is added to a table, twice: the table must stay what it is.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=2 dispatches=2 kernels=2 beside=2
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// EXPECT: result[0]: 2x2xf32=[[8, 12], [18, 26]]
// EXPECT: result[1]: 2x2xf32=[[9, 17], [21, 35]]

func.func @main(%a: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[2.0, 1.0], [3.0, 7.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%c : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
