// A product that is added to a splat which is not zero.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=1 0 0 1 1 1
// EXPECT: result[0]: 2x2xf32=[[4.5, 5.5], [10.5, 11.5]]
// CASE:
// INPUT: 67x3xf32=rnd:1
// INPUT: 3x2xf32=rnd:2

func.func @main(%a: tensor<?x3xf32>, %b: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %n = tensor.dim %a, %c0 : tensor<?x3xf32>
  %c = tensor.splat %half[%n] : tensor<?x2xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x2xf32>) outs(%c : tensor<?x2xf32>)
      -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
