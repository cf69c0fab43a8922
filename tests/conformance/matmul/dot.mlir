// An inner product: one reduction to a tensor of rank 0.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 4xf32=1 2 3 4
// INPUT: 4xf32=1 -1 0.5 2
// EXPECT: result[0]: f32=8.5
// CASE:
// INPUT: 0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: f32=0
// CASE:
// INPUT: 1xf32=3
// INPUT: 1xf32=3
// EXPECT: result[0]: f32=9
// CASE:
// INPUT: 10007xf32=rnd:1
// INPUT: 10007xf32=rnd:1

func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %d = linalg.dot ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}
