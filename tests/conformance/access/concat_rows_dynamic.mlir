// Two products of sizes that the call knows, one below the other; nothing is copied.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=2
// CASE:
// INPUT: 1x2xf32=1 2
// INPUT: 2x2xf32=1 1 3 4
// INPUT: 2x4xf32=1 0 0 1 0 1 1 0
// EXPECT: result[0]: 3x4xf32=[[1, 2, 2, 1], [1, 1, 1, 1], [3, 4, 4, 3]]
// CASE:
// INPUT: 0x2xf32=
// INPUT: 13x2xf32=rnd:1
// INPUT: 2x4xf32=rnd:2
// CASE:
// INPUT: 67x2xf32=rnd:1
// INPUT: 0x2xf32=
// INPUT: 2x4xf32=rnd:2

func.func @main(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x2xf32>
  %n = tensor.dim %b, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %x = linalg.matmul ins(%a, %w : tensor<?x2xf32>, tensor<2x4xf32>) outs(%f : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %g = tensor.empty(%n) : tensor<?x4xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.matmul ins(%b, %w : tensor<?x2xf32>, tensor<2x4xf32>) outs(%h : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %r = tensor.concat dim(0) %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
