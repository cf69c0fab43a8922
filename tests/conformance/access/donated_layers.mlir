// The second product is made where the argument was, which nothing reads any more.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=2
// CASE:
// INPUT: 7x5xf32=rnd:1
// INPUT: 5x5xf32=rnd:2
// CASE:
// INPUT: 0x5xf32=
// INPUT: 5x5xf32=rnd:2
// EXPECT: result[0]: 0x5xf32=[]

func.func @main(%x: tensor<?x5xf32> {plim.donate = 0}, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x5xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x5xf32>, tensor<5x5xf32>) outs(%f : tensor<?x5xf32>) -> tensor<?x5xf32>
  %r = linalg.matmul ins(%h, %w : tensor<?x5xf32>, tensor<5x5xf32>) outs(%f : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
