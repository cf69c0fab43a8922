// Two accumulators of one reduction that start from different splats.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// COUNT: copies=0 allocations=2 dispatches=1
// CASE:
// INPUT: 2x3xf32=1 5 3 -4 -6 -5
// EXPECT: result[0]: 2xf32=[5, -4]
// EXPECT: result[1]: 2xi64=[1, 0]
// CASE:
// INPUT: 53x67xf32=rnd:1

func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i64
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.splat %low[%n] : tensor<?xf32>
  %i = tensor.splat %none[%n] : tensor<?xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                          affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%m, %i : tensor<?xf32>, tensor<?xi64>) {
  ^bb0(%v: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %more = arith.cmpf ogt, %v, %best : f32
    %value = arith.select %more, %v, %best : f32
    %index = arith.select %more, %k, %at : i64
    linalg.yield %value, %index : f32, i64
  } -> (tensor<?xf32>, tensor<?xi64>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi64>
}
