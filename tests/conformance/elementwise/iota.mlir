// Values made from the iteration indices and a dynamic extent given as a scalar.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=3
// INPUT: index=4
// EXPECT: result[0]: 3x4xi32=[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
// CASE:
// INPUT: index=0
// INPUT: index=4
// EXPECT: result[0]: 0x4xi32=[]
// CASE:
// INPUT: index=53
// INPUT: index=47

func.func @main(%m: index, %n: index) -> tensor<?x?xi32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xi32>) {
  ^bb0(%z: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %n : index
    %flat = arith.addi %row, %j : index
    %v = arith.index_cast %flat : index to i32
    linalg.yield %v : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
