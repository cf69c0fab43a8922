// A table as the destination of an elementwise op is one more input.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 3xf32=1 2 3
// EXPECT: result[0]: 3xf32=[11, 22, 33]
// CASE:
// INPUT: 3xf32=nan inf 0
// EXPECT: result[0]: 3xf32=[nan, inf, 30]

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%c : tensor<3xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
