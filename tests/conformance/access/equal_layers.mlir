// Three layers of the same kind, each with weights of its own: one piece of code.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=2 dispatches=3 kernels=1
// CASE:
// INPUT: 3x2xf32=1 0 0 1 1 1
// EXPECT: result[0]: 3x2xf32=[[0, 9.5], [0, 20.5], [0, 30]]
// CASE:
// INPUT: 3x2xf32=rnd:1

func.func private @layer(%x: tensor<3x2xf32>, %w: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %m = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x2xf32>) outs(%f : tensor<3x2xf32>)
      -> tensor<3x2xf32>
  %r = linalg.max ins(%m, %f : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>)
      -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[0.5, 1.0], [2.0, 0.0]]> : tensor<2x2xf32>
  %c = arith.constant dense<[[-1.0, 2.0], [0.0, 0.5]]> : tensor<2x2xf32>
  %0 = func.call @layer(%x, %a) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = func.call @layer(%0, %b) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %2 = func.call @layer(%1, %c) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
