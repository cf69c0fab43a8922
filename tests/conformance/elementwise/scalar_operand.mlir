// Scalars that come in as arguments are captured by the region and appear as generic operands.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-6
// CASE:
// INPUT: f32=2
// INPUT: 5xf32=1 2 3 4 5
// INPUT: f32=-1
// EXPECT: result[0]: 5xf32=[1, 3, 5, 7, 9]
// CASE:
// INPUT: f32=0.3
// INPUT: 1009xf32=rnd:1
// INPUT: f32=1.7

#id = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @main(%alpha: f32, %x: tensor<?xf32>, %beta: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel"]}
      ins(%x, %beta : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %b: f32, %z: f32):
    %p = arith.mulf %v, %alpha : f32
    %s = arith.addf %p, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
