// As first_maximum, along columns first: what lies next to each other in memory is not what comes next.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xf32=0 5 5 0
// EXPECT: result[0]: f32=5
// EXPECT: result[1]: index=2
// CASE:
// INPUT: 3x2xf32=1 2 7 3 4 7
// EXPECT: result[0]: f32=7
// EXPECT: result[1]: index=2

func.func @main(%x: tensor<?x?xf32>) -> (tensor<f32>, tensor<index>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %width = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = tensor.splat %low : tensor<f32>
  %p = tensor.splat %none : tensor<index>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> ()>,
                                          affine_map<(j, i) -> ()>],
                         iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%m, %p : tensor<f32>, tensor<index>) {
  ^bb0(%v: f32, %best: f32, %at: index):
    %j = linalg.index 0 : index
    %i = linalg.index 1 : index
    %row = arith.muli %i, %width : index
    %here = arith.addi %row, %j : index
    %more = arith.cmpf ogt, %v, %best : f32
    %value = arith.select %more, %v, %best : f32
    %place = arith.select %more, %here, %at : index
    linalg.yield %value, %place : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0, %r#1 : tensor<f32>, tensor<index>
}
