// A splat that is overwritten without being read.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 5xf32=1 2 3 4 5
// EXPECT: result[0]: 5xf32=[2, 4, 6, 8, 10]

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %c = arith.constant dense<7.0> : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%c : tensor<5xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
