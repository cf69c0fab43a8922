// A slice of fewer dimensions whose sizes are constants that are operands: which dimension it lacks is guessed anew,
// leading ones first: a row becomes a column (the counterpart of llvm-project #217361 in
// OpWithOffsetSizesAndStridesConstantArgumentFolder<tensor::ExtractSliceOp, SliceReturnType, SliceCanonicalizer>).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// x[1, 0..2, 0] and twice that
// CASE:
// INPUT: 2x3x1xf32=1 2 3 4 5 6
// INPUT: index=1
// EXPECT: result[0]: 1x3xf32=[[4, 5, 6]]
// EXPECT: result[1]: 1x3xf32=[[8, 10, 12]]

func.func @main(%x: tensor<?x3x1xf32>, %k: index) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %x[%k, 0, 0] [%c1, 3, 1] [1, 1, 1] : tensor<?x3x1xf32> to tensor<?x3xf32>
  %n = tensor.dim %s, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %d = linalg.add ins(%s, %s : tensor<?x3xf32>, tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %s, %d : tensor<?x3xf32>, tensor<?x3xf32>
}
