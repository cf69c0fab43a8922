// As extract_slice_units, where nothing of the shape is known, so that nothing tells: a row becomes a column.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// x[1, 0..1, 1] of shape 2x3x2
// CASE:
// INPUT: 2x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12
// INPUT: index=1
// EXPECT: result[0]: 1x2xf32=[[8, 10]]

func.func @main(%x: tensor<?x?x?xf32>, %k: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %x[%k, 0, %k] [%c1, %c2, 1] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
