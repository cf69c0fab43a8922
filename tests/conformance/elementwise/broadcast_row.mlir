// A row vector added to each row.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3xf32=1 2 3 4 5 6
// INPUT: 3xf32=10 20 30
// EXPECT: result[0]: 2x3xf32=[[11, 22, 33], [14, 25, 36]]
// CASE:
// INPUT: 1x1xf32=1
// INPUT: 1xf32=-1
// EXPECT: result[0]: 1x1xf32=[[0]]
// CASE:
// INPUT: 31x127xf32=rnd:1
// INPUT: 127xf32=rnd:2
// CASE:
// INPUT: 3x0xf32=[]
// INPUT: 0xf32=[]
// EXPECT: result[0]: 3x0xf32=[]

func.func @main(%a: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
