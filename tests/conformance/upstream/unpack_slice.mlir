// A slice of what linalg.unpack gives, along a dimension that was not packed: the destination shrinks, the source does
// not, and the module is refused (llvm-project #181840, UnPackOp::canonicalize).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3x2x2xf32=1 2 3 4 5 6 7 8 9 10 11 12
// EXPECT: result[0]: 2x4xf32=[[1, 2, 3, 4], [5, 6, 7, 8]]

func.func @main(%x: tensor<3x2x2xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %u = linalg.unpack %x inner_dims_pos = [1] inner_tiles = [2] into %e : tensor<3x2x2xf32> -> tensor<3x4xf32>
  %s = tensor.extract_slice %u[0, 0] [2, 4] [1, 1] : tensor<3x4xf32> to tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}
