// ColumnParts: ops of a tile that go over some of its columns alone.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace plim::ir {

/// Columns of the scores of an attention that are there at a time (plim-online-softmax), whatever is known of them: a row's sums would
/// have another order.
inline constexpr int64_t blockOfColumns = 512;

/// Iterations of a loop.
struct Columns {
  mlir::Value begin, count;
};

/// Ops of one block, and which of their loops has the columns.
using ColumnLoops = llvm::MapVector<mlir::Operation *, unsigned>;

/// The loop over a dimension of an operand; its index has to be one.
unsigned loopOf(mlir::AffineMap map, unsigned dimension);

/// The dimension that a loop runs over, if there is one.
std::optional<unsigned> dimensionOf(mlir::AffineMap map, unsigned loop);

/// May each of its loops go over a part? Upstream refuses parts of what is empty.
bool mayBeCut(mlir::linalg::LinalgOp op);

/// Copies of ops that go over some columns alone.
class ColumnParts {
public:
  ColumnParts(mlir::RewriterBase &rewriter, const Columns &columns)
      : rewriter(rewriter), columns(columns) {}

  /// Copies, of ops that come later, take `part` in the place of `whole`.
  void replace(mlir::Value whole, mlir::Value part) { parts[whole] = part; }

  /// A copy, at the rewriter's place, of an op whose columns `loop` has. It takes the results of copies, and of other operands a
  /// slice, where they have columns; `inits` are, by numbers of operands, what some results begin with instead.
  mlir::linalg::LinalgOp
  add(mlir::linalg::LinalgOp op, unsigned loop,
      const llvm::DenseMap<unsigned, mlir::Value> &inits = llvm::DenseMap<unsigned, mlir::Value>());

private:
  mlir::Value slice(mlir::Value tensor, unsigned dimension);

  mlir::RewriterBase &rewriter;
  Columns columns;
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
};

} // namespace plim::ir
