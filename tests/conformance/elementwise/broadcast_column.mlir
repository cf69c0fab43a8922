// A column vector scales each row; the value is the same along the inner loop.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x2xf32=1 2 3 4 5 6
// INPUT: 3xf32=1 10 -2
// EXPECT: result[0]: 3x2xf32=[[1, 2], [30, 40], [-10, -12]]
// CASE:
// INPUT: 61x67xf32=rnd:1
// INPUT: 61xf32=rnd:2
// CASE:
// INPUT: 0x4xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 0x4xf32=[]

func.func @main(%a: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
