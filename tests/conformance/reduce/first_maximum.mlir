// The place of the first maximum over two loops: where the loops change places it is another one. The rows of
// the source come first.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xf32=0 5 5 0
// EXPECT: result[0]: f32=5
// EXPECT: result[1]: index=1
// CASE:
// INPUT: 3x2xf32=1 2 7 3 4 7
// EXPECT: result[0]: f32=7
// EXPECT: result[1]: index=2
// CASE:
// INPUT: 0x4xf32=[]
// EXPECT: result[1]: index=-1

func.func @main(%x: tensor<?x?xf32>) -> (tensor<f32>, tensor<index>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %width = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = tensor.splat %low : tensor<f32>
  %p = tensor.splat %none : tensor<index>
  // The first loop is the inner one of the operand: it would be interchanged.
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                                          affine_map<(i, j) -> ()>],
                         iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%m, %p : tensor<f32>, tensor<index>) {
  ^bb0(%v: f32, %best: f32, %at: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %width : index
    %here = arith.addi %row, %j : index
    %more = arith.cmpf ogt, %v, %best : f32
    %value = arith.select %more, %v, %best : f32
    %place = arith.select %more, %here, %at : index
    linalg.yield %value, %place : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0, %r#1 : tensor<f32>, tensor<index>
}
