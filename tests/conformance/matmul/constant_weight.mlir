// The right operand is a constant of the module: it may be packed at load time, never written.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 1x4xf32=1 2 3 4
// EXPECT: result[0]: 1x3xf32=[[-6, 8, 14]]
// EXPECT: result[1]: 4x3xf32=[[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-2, 0.25, 3]]
// CASE:
// INPUT: 7x4xf32=rnd:1

func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x3xf32>, tensor<4x3xf32>) {
  %w = arith.constant dense<[[1.0, 0.0, -1.0], [0.5, 2.0, 0.0], [0.0, 1.0, 1.0], [-2.0, 0.25, 3.0]]>
      : tensor<4x3xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>)
      outs(%z : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %p, %w : tensor<?x3xf32>, tensor<4x3xf32>
}
