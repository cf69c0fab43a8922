// MaskBounds: which columns a comparison of indices masks, such as those behind the row's own in causal attention.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// A comparison in the body of an op that masks the iterations of one loop behind a last one, or in front of a first one: it is
/// `masks` there, and not so in the others.
struct MaskBound {
  mlir::arith::CmpIOp comparison;
  bool masks;
  bool isLast;
  mlir::AffineExpr visible; // the last iteration that is not masked, or the first one: of the other loops, and of symbols
  llvm::SmallVector<mlir::Value> symbols; // integers of the body, or from outside of the op
};

/// Both that each comparison is, as it masks what it holds of or what it does not: those of sums of indices and of values that all
/// iterations of the op share.
llvm::SmallVector<MaskBound> maskBounds(mlir::linalg::GenericOp op, unsigned loop);

/// One of each kind.
struct MaskBounds {
  std::optional<MaskBound> first, last;
};

/// Iterations of a loop.
struct Columns {
  mlir::Value begin, count;
};

/// Computes at `builder` those of which the bounds leave some to some row. They are all if a row has none, and where numbers
/// are larger than extents are. The begin is a multiple of 64, so that what is summed in lanes is so in the same ones.
/// Nothing if a value is needed that is not there at `builder`.
std::optional<Columns> visibleColumns(mlir::OpBuilder &builder, mlir::linalg::GenericOp op,
                                      unsigned loop, const MaskBounds &bounds);

} // namespace plim::ir
