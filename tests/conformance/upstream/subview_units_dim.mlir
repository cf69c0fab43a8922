// As subview_units_wrong, for memref.dim, which folds to the extent of a neighbour (llvm-project #183995, #184334,
// memref::DimOp::fold through SubViewOp::getDroppedDims).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 2x3x2x4xf32=0
// INPUT: index=2
// EXPECT: result[0]: index=2

func.func @main(%x: memref<?x?x?x?xf32>, %k: index) -> index {
  %c1 = arith.constant 1 : index
  %s = memref.subview %x[0, 0, 0, 0] [1, %k, 1, 4] [1, 1, 1, 1]
      : memref<?x?x?x?xf32> to memref<1x?x4xf32, strided<[?, ?, 1]>>
  %d = memref.dim %s, %c1 : memref<1x?x4xf32, strided<[?, ?, 1]>>
  return %d : index
}
