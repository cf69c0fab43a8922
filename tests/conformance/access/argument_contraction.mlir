// What a product is added to is an argument.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2x2xf32=1 2 3 4
// INPUT: 2x2xf32=1 0 0 1
// INPUT: 2x2xf32=100 200 300 400
// EXPECT: result[0]: 2x2xf32=[[101, 202], [303, 404]]
// CASE:
// INPUT: 37x29xf32=rnd:1
// INPUT: 29x31xf32=rnd:2
// INPUT: 37x31xf32=rnd:3
// CASE:
// INPUT: 1x1xf32=3
// INPUT: 1x1xf32=4
// INPUT: 1x1xf32=5
// CASE:
// INPUT: 0x3xf32=
// INPUT: 3x2xf32=rnd:1
// INPUT: 0x2xf32=

func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
