// Two products that differ in nothing but what they are added to: one piece of code.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=2 dispatches=2 kernels=1 beside=2
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=0 1 1 3
// EXPECT: result[0]: 2x2xf32=[[2, 7], [4, 15]]
// EXPECT: result[1]: 2x2xf32=[[7, 8], [14, 18]]

func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %four = arith.constant dense<4.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  %1 = linalg.matmul ins(%b, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%four : tensor<2x2xf32>)
      -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
