// Vectors that the bodies of operations use from outside, of one and of two dimensions.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 6xf32=1 2 3 4 5 6
// INPUT: 4xf32=10 20 30 40
// INPUT: 2x3xi32=1 2 3 4 5 6
// EXPECT: result[0]: 6xf32=[11, 22, 33, 44, 15, 26]
// EXPECT: result[1]: 2x3xi32=[[7, 8, 9], [10, 11, 12]]
// CASE:
// INPUT: 0xf32=[]
// INPUT: 4xf32=10 20 30 40
// INPUT: 2x3xi32=0 0 0 0 0 7
// EXPECT: result[0]: 0xf32=[]
// EXPECT: result[1]: 2x3xi32=[[7, 7, 7], [7, 7, 14]]
func.func @main(%x: tensor<?xf32>, %w: tensor<4xf32>, %y: tensor<2x3xi32>) -> (tensor<?xf32>, tensor<2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant 0 : i32
  %v = vector.transfer_read %w[%c0], %z {in_bounds = [true]} : tensor<4xf32>, vector<4xf32>
  %m = vector.transfer_read %y[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<2x3xi32>, vector<2x3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.remui %i, %c4 : index
    %e = vector.extract %v[%k] : f32 from vector<4xf32>
    %s = arith.addf %e, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%y : tensor<2x3xi32>) {
  ^bb0(%o: i32):
    %e = vector.extract %m[1, 2] : i32 from vector<2x3xi32>
    %s = arith.addi %e, %o : i32
    linalg.yield %s : i32
  } -> tensor<2x3xi32>
  return %r, %q : tensor<?xf32>, tensor<2x3xi32>
}
