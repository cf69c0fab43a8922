// The indices that the index expressions of a linalg op come to while its loops run
// (`docs/design/bounds.md`).
//
// Writes checks in front of the op, as Requirements has them; what is proven needs none. Not for
// several threads.
#pragma once

#include "ir/Import/Requirements.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// An extent that a loop of the op takes its trip count from.
struct Extent {
  unsigned operand;
  unsigned dimension;
  int64_t size;
};

/// One instance serves one op, whose loops `loops` has, one extent for each.
class LoopBounds {
public:
  LoopBounds(Requirements &requirements, mlir::linalg::LinalgOp op,
             llvm::ArrayRef<std::optional<Extent>> loops)
      : requirements(requirements), op(op), loops(loops) {}

  /// Requires that all values of `expression` are indices of that dimension of the operand;
  /// otherwise the call fails, with the place of the op.
  void require(mlir::AffineExpr expression, mlir::OpOperand &operand, unsigned dimension);

private:
  struct Interval {
    mlir::Value min, max;
    bool isExact; // both are reached
  };

  mlir::Value sizeOf(unsigned loop);
  mlir::Value isEmpty();
  Interval intervalOf(mlir::AffineExpr expression);
  mlir::Value tryAll(mlir::AffineExpr expression, mlir::Value known, mlir::Value extent);

  Requirements &requirements;
  mlir::linalg::LinalgOp op;
  llvm::ArrayRef<std::optional<Extent>> loops;
  mlir::Value empty;
};

} // namespace plim::ir
