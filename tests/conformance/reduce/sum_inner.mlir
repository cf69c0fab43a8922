// Sums of rows; the sum of nothing is zero.
// RUN-FUNCTION: @main
// TOLERANCE: 1e-5
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6.5
// EXPECT: result[0]: 2xf32=[6, 15.5]
// CASE:
// INPUT: 1x1xf32=-3
// EXPECT: result[0]: 1xf32=[-3]
// CASE:
// INPUT: 37x101xf32=rnd:1
// CASE:
// INPUT: 3x0xf32=[]
// EXPECT: result[0]: 3xf32=[0, 0, 0]
// CASE:
// INPUT: 0x3xf32=[]
// EXPECT: result[0]: 0xf32=[]
// CASE:
// INPUT: 2x4099xf32=rnd:2

func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %init = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%init : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
