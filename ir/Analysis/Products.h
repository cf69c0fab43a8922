// Products: what the loops of matrix products, convolutions and whatever else sums products of two operands are to each
// other.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// The factor of `loop` in an index that is a sum of loops times constants and of a constant, 0 where it does not occur;
/// nothing where the index is not such a sum.
std::optional<int64_t> factorOf(mlir::AffineExpr index, unsigned loop);

/// Has an index a loop with a negative factor? Upstream's tiling takes slices of the wrong size of such operands.
bool runsBackwards(mlir::AffineMap map);

/// Are all indices sums of loops times constants that are not negative?
bool hasTileableIndices(mlir::AffineMap map);

/// How many elements of the innermost dimension neighbouring iterations of `loop` are apart, which access none further away.
std::optional<int64_t> stepAlong(mlir::AffineMap map, unsigned loop);

/// Do neighbouring iterations of `loop` access neighbouring elements, in the innermost dimension, and none further away?
bool isContiguousAlong(mlir::AffineMap map, unsigned loop);

/// May loops of the op become one? Not if there are none of them, or if an extent is known from one operand and not from another: the
/// types of what is collapsed would not agree.
bool mayCollapseLoops(mlir::linalg::LinalgOp op);

/// A reduction over two operands of which one, the panel, has the columns of the result and the other one does not. In a
/// product of matrices the panel is the right-hand side; in a convolution it is the filter where channels are innermost
/// and the image where they are not.
///
/// Each loop is in one of the lists, which keep their order.
struct Product {
  unsigned panel, rows; // numbers of the operands
  unsigned column;      // the loop of the innermost dimension of the result; one of `columnLoops`
  llvm::SmallVector<unsigned> columnLoops; // parallel, index the panel alone
  llvm::SmallVector<unsigned> rowLoops;    // parallel, index the other operand alone
  llvm::SmallVector<unsigned> batchLoops;  // parallel, index both, or neither
  llvm::SmallVector<unsigned> depthLoops;  // the reduction
};

/// Nothing if the op is none, or if it reads an operand at indices that cannot be tiled.
std::optional<Product> productOf(mlir::linalg::LinalgOp op);

/// Is it a product with rows and columns? A vector times a matrix, whose elements are used once, is none.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// Iterations of some loops of an op together; nothing where they are not known.
std::optional<int64_t> iterations(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> loops);

} // namespace plim::ir
