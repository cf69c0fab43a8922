// Reductions: which of them may fold their elements in another order than the source's, which value
// they may start from, and which type their accumulators have. Pure functions of the IR.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// Does a result have an element for each iteration of the op, instead of an accumulator?
bool hasElementOfEach(mlir::linalg::LinalgOp op, mlir::OpOperand &init);

/// May the reduction loops of the op run in another order, floats being rounded otherwise then?
/// Looks at the combiner of each result: one operation that is known to be associative and
/// commutative, of the accumulator, which nothing else reads, and of an element. Anything else,
/// such as a decay (acc * 0.5 + x), a first maximum (two accumulators that know of each other) or x
/// - acc, depends on the order. Results that have an element for each iteration do not matter. What has
/// `inOrderAttr` may not.
bool mayReorderReduction(mlir::linalg::LinalgOp op);

/// Do results depend on the order of the elements? They do where floats are rounded: in sums and products.
bool dependsOnOrder(mlir::linalg::LinalgOp op);

/// Elements of a row, or of a column of rows, that are summed or multiplied on their own, from the neutral element on, before
/// the result is added to what there was: neither workgroups that share them, nor code that does not know how many there are,
/// see other sums then.
inline constexpr int64_t chunkOfRow = 8192, chunkOfColumn = 256;

/// Do the columns of rows lie side by side in an input that the op, which is no product with a matrix, sums or multiplies, in
/// any order? What is known to be one column is a row.
bool sumsColumns(mlir::linalg::LinalgOp op);

/// Makes a reduction a linalg.generic, and takes the ops into it that compute elements of its
/// inputs for it alone, as long as `accepts` holds of what that makes. Returns the op that is there
/// then, in whose place `op` is gone if it is another one; null, and nothing has changed, if
/// upstream has no generic form of it.
mlir::linalg::GenericOp fuseProducers(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                                      llvm::function_ref<bool(mlir::linalg::GenericOp)> accepts);

/// What an accumulator is combined with, and by which operation of two operands.
struct Combination {
  mlir::Operation *combiner;
  mlir::Value element;
};

/// Nothing if `value` is not the accumulator combined with something that does not read it.
std::optional<Combination> combinationOf(mlir::Value value, mlir::BlockArgument accumulator);

/// The value that leaves each element as it is, bit for bit; null where the combiner has none.
mlir::TypedAttr neutralElement(mlir::Operation *combiner);

/// Takes sums and products whose accumulators are floats of 16 bits in f32, and rounds them once.
/// Returns the op that does, which is another one, in whose place `op` is gone; null if there was
/// nothing to widen. Adds the number of accumulators to `widened`.
mlir::linalg::LinalgOp widenAccumulators(mlir::linalg::LinalgOp op, unsigned &widened);

} // namespace plim::ir
