// QuantizedWeights: what the weights of a product are made of, where that is narrow integers,
// scales and zero points.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace plim::ir {

/// Does the op make each element of one tensor once, of elements of its inputs alone? Not where a
/// device was asked for.
bool makesElements(mlir::linalg::LinalgOp op);

/// The loops that index an operand, one for each of its dimensions; nothing if it has other
/// indices.
std::optional<llvm::SmallVector<unsigned>> loopsOf(mlir::AffineMap map);

/// Floats that an elementwise op makes of narrow integers and of what a block of those has in
/// common.
struct QuantizedWeights {
  mlir::linalg::LinalgOp op;
  /// For each dimension of the tensor that was asked about: the loops of `op` that run along it,
  /// outermost first.
  llvm::SmallVector<llvm::SmallVector<unsigned>> dimensions;
  unsigned narrow; // the number of the operand of `op` with an integer for each weight

  /// What a weight is, in the body of `op`.
  mlir::Value weight();
  /// The integer it is made of, in the body of `op`.
  mlir::Value number();
};

/// What makes a tensor of weights; looks through copies in another order and through reshapes that
/// make one dimension of several.
std::optional<QuantizedWeights> quantizedWeightsOf(mlir::Value value);

/// What takes the place of a weight in memory: an integer of 8 bits.
struct StoredWeight {
  mlir::Value value; // in the body: the narrow number, or what a zero point leaves of it
  bool isSigned; // as a byte; a narrow number that is read as it is has the sign that the body says
};

std::optional<StoredWeight> storedWeightOf(QuantizedWeights weights);

/// A weight as `(number - zero) * scale`.
struct ScaledWeight {
  /// An integer, or a float that is one, of the body: the narrow number or what is computed of it.
  mlir::Value number;
  int64_t least; // of the number
  unsigned bits; // that `number - least` needs: 2, 4 or 8
  /// Of the body, made without the number. `zero` is a float or an integer, or null; it may be
  /// added instead.
  mlir::Value scale, zero;
  bool addsZero = false;
};

/// Nothing if the body computes something else, or if the number may need more than 8 bits.
std::optional<ScaledWeight> scaledWeightOf(QuantizedWeights weights);

/// The ops of a body that some values of it need, once `given` is there.
llvm::SetVector<mlir::Operation *> opsFor(mlir::linalg::LinalgOp op, mlir::ValueRange values,
                                          mlir::Value given = {});

bool isUsedBy(mlir::Value element, const llvm::SetVector<mlir::Operation *> &ops);

/// Clones ops of the body of `op`, in its order.
void cloneInto(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
               const llvm::SetVector<mlir::Operation *> &ops, mlir::IRMapping &mapping);

} // namespace plim::ir
