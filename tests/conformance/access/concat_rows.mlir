// Three parts are computed where the concatenation has them, at once.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// COUNT: copies=0 allocations=1 dispatches=3 beside=3
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 1x3xf32=7 8 9
// EXPECT: result[0]: 5x3xf32=[[2, 4, 6], [8, 10, 12], [49, 64, 81], [8, 10, 12], [11, 13, 15]]
// CASE:
// INPUT: 2x3xf32=rnd:1
// INPUT: 1x3xf32=rnd:2

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (0, j)>
func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %f = tensor.empty() : tensor<1x3xf32>
  %x = linalg.add ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>)
      -> tensor<2x3xf32>
  %y = linalg.mul ins(%b, %b : tensor<1x3xf32>, tensor<1x3xf32>) outs(%f : tensor<1x3xf32>)
      -> tensor<1x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<1x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %r = tensor.concat dim(0) %x, %y, %z
      : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
