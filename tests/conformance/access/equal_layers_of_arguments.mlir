// The same with weights that the caller gives.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=2 dispatches=3 kernels=1
// CASE:
// INPUT: 7x8xf32=rnd:1
// INPUT: 8x8xf32=rnd:2
// INPUT: 8x8xf32=rnd:3

func.func @main(%x: tensor<7x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<7x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<7x8xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<7x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<7x8xf32>)
      -> tensor<7x8xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<7x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<7x8xf32>)
      -> tensor<7x8xf32>
  %2 = linalg.matmul ins(%1, %a : tensor<7x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<7x8xf32>)
      -> tensor<7x8xf32>
  return %2 : tensor<7x8xf32>
}
