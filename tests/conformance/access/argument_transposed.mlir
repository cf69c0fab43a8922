// An argument that is read along its columns while rows are written.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=1 dispatches=1
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3x2xf32=10 20 30 40 50 60
// EXPECT: result[0]: 3x2xf32=[[11, 24], [32, 45], [53, 66]]
// CASE:
// INPUT: 37x41xf32=rnd:1
// INPUT: 41x37xf32=rnd:2

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #t], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
