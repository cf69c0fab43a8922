// A product needs all of its argument to the end: it is made elsewhere and copied.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=1 allocations=1 dispatches=1
// CASE:
// INPUT: 5x5xf32=rnd:1
// INPUT: 5x5xf32=rnd:2

func.func @main(%x: tensor<5x5xf32> {plim.donate = 0 : i32}, %w: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %r = linalg.matmul ins(%x, %w : tensor<5x5xf32>, tensor<5x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %r : tensor<5x5xf32>
}
