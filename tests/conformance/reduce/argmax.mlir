// The largest value of each row and where it first stands: a reduction with two results.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x4xf32=1 5 3 5 -2 -1 -1 -3
// EXPECT: result[0]: 2xf32=[5, -1]
// EXPECT: result[1]: 2xi32=[1, 1]
// CASE:
// INPUT: 1x1xf32=7
// EXPECT: result[0]: 1xf32=[7]
// EXPECT: result[1]: 1xi32=[0]
// CASE:
// INPUT: 43x67xf32=rnd:1
// CASE:
// INPUT: 5x3001xf32=rnd:5

func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %lowest = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = tensor.empty(%m) : tensor<?xi32>
  %z = linalg.fill ins(%lowest : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %w = linalg.fill ins(%first : i32) outs(%f : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z, %w : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%v: f32, %best: f32, %where: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %better = arith.cmpf ogt, %v, %best : f32
    %value = arith.select %better, %v, %best : f32
    %index = arith.select %better, %here, %where : i32
    linalg.yield %value, %index : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}
