// Two vectors of different lengths make a matrix: no input has the iteration space of the result.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xf32=1 2 3
// INPUT: 2xf32=10 -1
// EXPECT: result[0]: 3x2xf32=[[10, -1], [20, -2], [30, -3]]
// CASE:
// INPUT: 1xf32=2
// INPUT: 37xf32=rnd:1
// CASE:
// INPUT: 101xf32=rnd:2
// INPUT: 59xf32=rnd:3
// CASE:
// INPUT: 5xf32=rnd:2
// INPUT: 0xf32=[]

func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
