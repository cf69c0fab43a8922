// Rows picked by an index tensor: tensor.extract inside a generic.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x2xf32=1 2 3 4 5 6
// INPUT: 4xi32=2 0 0 1
// EXPECT: result[0]: 4x2xf32=[[5, 6], [1, 2], [1, 2], [3, 4]]
// CASE:
// INPUT: 31x17xf32=rnd:1
// INPUT: 0xi32=[]
// CASE:
// INPUT: 31x17xf32=rnd:1
// INPUT: 5xi32=30 7 0 29 7

func.func @main(%table: tensor<?x?xf32>, %rows: tensor<?xi32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %rows, %c0 : tensor<?xi32>
  %n = tensor.dim %table, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?xi32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %v = tensor.extract %table[%i, %j] : tensor<?x?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
