// A slice that keeps one of two dimensions of extent 1: which one it drops is guessed from strides, and where those are
// not known, from nothing: the other dimensions get strides of their neighbours (llvm-project #184334,
// computeMemRefRankReductionMask in memref::SubViewOp::getDroppedDims, used by expand-strided-metadata).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// x[0, 0..1, 1, 0..1] of shape 2x2x3x2: 1 + 6 i + 2 + j
// CASE:
// INPUT: 2x2x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
// INPUT: index=1
// EXPECT: result[0]: 1x2x2xf32=[[[3, 4], [9, 10]]]
// EXPECT: result[1]: 1x2x2xf32=[[[6, 8], [18, 20]]]

func.func @main(%x: tensor<?x?x?x?xf32>, %k: index) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %s = tensor.extract_slice %x[0, 0, %k, 0] [1, 2, 1, 2] [1, 1, 1, 1]
      : tensor<?x?x?x?xf32> to tensor<1x2x2xf32>
  %e = tensor.empty() : tensor<1x2x2xf32>
  %d = linalg.add ins(%s, %s : tensor<1x2x2xf32>, tensor<1x2x2xf32>)
      outs(%e : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  return %s, %d : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
