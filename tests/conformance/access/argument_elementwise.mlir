// An argument as the destination of an elementwise op: the caller's memory stays.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 4xf32=1 2 3 4
// INPUT: 4xf32=10 20 30 40
// EXPECT: result[0]: 4xf32=[11, 22, 33, 44]
// CASE:
// INPUT: 0xf32=
// INPUT: 0xf32=
// CASE:
// INPUT: 1031xf32=rnd:1
// INPUT: 1031xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
