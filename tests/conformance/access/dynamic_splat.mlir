// What the buffer is filled with is known to the call alone.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: f32=2.5
// INPUT: 2x2xf32=1 2 3 4
// EXPECT: result[0]: 2x2xf32=[[9.5, 12.5], [17.5, 24.5]]
// CASE:
// INPUT: f32=-0.0
// INPUT: 31x31xf32=rnd:1

func.func @main(%s: f32, %a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %c = tensor.splat %s[%n, %n] : tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
