// MaskBounds: which columns a comparison of indices masks, such as those behind the row's own in causal attention.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// More than any extent or position that these sums are of: a few numbers of this size are one of 32 bits together.
inline constexpr int64_t tooLargeForMasks = int64_t(1) << 26;

/// An integer in the body of an op as a sum of its loops (dimensions of the expression), symbols and a constant. Symbols are values of
/// the body, or from outside of the op.
struct IndexSum {
  mlir::AffineExpr expr;
  llvm::SmallVector<mlir::Value> symbols;
};
/// The expression is null where constants are too large, or factors others than -1, 0 and 1.
IndexSum indexSum(mlir::linalg::GenericOp op, mlir::Value value);

/// The factors of the loops, those of the symbols, and the constant; nothing where it is no such sum.
std::optional<llvm::SmallVector<int64_t>> factorsOf(mlir::AffineExpr sum, unsigned loops,
                                                    unsigned symbols);

/// A comparison in the body of an op that masks the iterations of one loop behind a last one, or in front of a first one: it is
/// `masks` there, and not so in the others.
struct MaskBound {
  mlir::arith::CmpIOp comparison;
  bool masks;
  bool isLast;
  bool isUnsigned; // then it is what it says as long as no symbol is negative
  /// The last iteration that is not masked, or the first one: no sum of this loop.
  IndexSum visible;
};

/// Both that each comparison is, as it masks what it holds of or what it does not. Factors are -1, 0 and 1, and constants smaller than
/// what is too large.
llvm::SmallVector<MaskBound> maskBounds(mlir::linalg::GenericOp op, unsigned loop);

/// Are elements of its innermost dimension masked by their places, by the op or by one in its block that it depends on? Not looked at is
/// what a product computes.
bool isMaskedByPlace(mlir::Value tensor);

} // namespace plim::ir
