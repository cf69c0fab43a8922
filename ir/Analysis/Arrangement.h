// Which values are constants and parameters in another order.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace plim::ir {

/// A dense tensor of the elements of another one, and zeros.
struct Arrangement {
  /// One that the elements are counted along, outermost first. The index of an element along a dimension of the origin is
  /// the sum of what it is along those that are `of` it, times `step`; where that is beyond its extent there is a zero.
  struct Dimension {
    int64_t extent;
    unsigned of;
    int64_t step;
  };

  mlir::Value origin; // of static shape: what the steps below begin with
  llvm::SmallVector<Dimension> dimensions;
};

/// How `value`, of static shape, is made of one tensor by ops that only move elements: transposes, reshapes, zeros behind
/// the elements, and groups of them that become one wider integer, the first in the low bits. Goes back as far as that
/// holds; nothing if there is no such op, or one that does not split dimensions evenly.
std::optional<Arrangement> arrangementOf(mlir::Value value);

/// Of a value in the body of `op`: the inputs whose bits it has, side by side, from the lowest on. Empty if it has others, or
/// zeros.
llvm::SmallVector<int> inputsSideBySide(mlir::linalg::LinalgOp op, mlir::Value value);

} // namespace plim::ir
