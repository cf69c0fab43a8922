// linalg.contract with static shapes that are multiples of nothing.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 5x7xf32=rnd:1
// INPUT: 3x7xf32=rnd:2
// CASE:
// INPUT: 5x7xf32=1
// INPUT: 3x7xf32=2
// EXPECT: result[0]: 3x5xf32=[[14, 14, 14, 14, 14], [14, 14, 14, 14, 14], [14, 14, 14, 14, 14]]

func.func @main(%a: tensor<5x7xf32>, %b: tensor<3x7xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (n, m)>]
      ins(%a, %b : tensor<5x7xf32>, tensor<3x7xf32>) outs(%z : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}
