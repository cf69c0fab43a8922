// Four products of one argument, which none of them writes: they run at once.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=4 dispatches=4 kernels=1 beside=4
// CASE:
// INPUT: 16x16xf32=rnd:1
// INPUT: 16x16xf32=rnd:2
// INPUT: 16x16xf32=rnd:3
// INPUT: 16x16xf32=rnd:4
// INPUT: 16x16xf32=rnd:5

func.func @main(%x: tensor<16x16xf32>, %a: tensor<16x16xf32>, %b: tensor<16x16xf32>,
                %c: tensor<16x16xf32>, %d: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>)
      -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%x, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>)
      -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%x, %c : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>)
      -> tensor<16x16xf32>
  %3 = linalg.matmul ins(%x, %d : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>)
      -> tensor<16x16xf32>
  return %0, %1, %2, %3
      : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
