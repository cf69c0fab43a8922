// The destination is an argument and is read: the result is new, the argument keeps its value.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xf32=1 2 3 4
// INPUT: 4xf32=10 20 30 40
// EXPECT: result[0]: 4xf32=[11, 22, 33, 44]
// EXPECT: result[1]: 4xf32=[10, 20, 30, 40]
// CASE:
// INPUT: 1031xf32=rnd:1
// INPUT: 1031xf32=rnd:2

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>, %acc: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%acc : tensor<?xf32>) {
  ^bb0(%v: f32, %old: f32):
    %s = arith.addf %old, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r, %acc : tensor<?xf32>, tensor<?xf32>
}
