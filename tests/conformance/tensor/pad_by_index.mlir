// Padding whose value depends on the position.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x2xi32=1 2 3 4
// EXPECT: result[0]: 3x3xi32=[[0, 1, 2], [1, 2, 3], [3, 4, 4]]
// CASE:
// INPUT: 5x3xi32=rnd:1

func.func @main(%x: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    tensor.yield %v : i32
  } : tensor<?x?xi32> to tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
