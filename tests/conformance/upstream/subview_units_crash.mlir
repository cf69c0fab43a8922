// A slice with a step that is not known, of a tensor with a dimension of extent 1 besides the one it drops: which one
// that is cannot be told from the strides, and the compiler reads what is not there (llvm-project #183995, #184334,
// memref::SubViewOp::getDroppedDims, used by expand-strided-metadata; the process crashes or allocates without end).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// x[2, 0..1, 0]
// CASE:
// INPUT: 3x2x1xf32=1 2 3 4 5 6
// INPUT: index=1
// EXPECT: result[0]: 2x1xf32=[[5], [6]]

func.func @main(%x: tensor<3x2x1xf32>, %step: index) -> tensor<2x1xf32> {
  %s = tensor.extract_slice %x[2, 0, 0] [1, 2, 1] [1, %step, 1] : tensor<3x2x1xf32> to tensor<2x1xf32>
  return %s : tensor<2x1xf32>
}
