// RowMaximum: what a softmax subtracts.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {

/// What an op yields for a result.
mlir::Value yielded(mlir::linalg::GenericOp op, mlir::OpResult result);

/// Is `difference`, in the body of `op`, one of an element and the maximum of all such elements of its row? The op that computes the
/// maximum may read the elements, yield them too, or compute them in the same way of the same operands.
bool subtractsRowMaximum(mlir::linalg::GenericOp op, mlir::arith::SubFOp difference);

} // namespace plim::ir
