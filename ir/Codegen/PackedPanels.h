// Panels of a product that were made once, for all calls (plim.unpack_panels).
#pragma once

#include "ir/Analysis/Products.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace plim::ir {

/// Where the operand of a product, or what it is a slice of, has panels; null otherwise.
UnpackPanelsOp unpackingOf(mlir::Value operand);

/// What copyOf() would make of the part of one panel that `op` reads, in groups if the panels have such, but where it lies: its
/// first `width` columns, or if that is 0 those that `op` has. Nothing if it is not known to be part of one panel, and whole
/// groups of it.
std::optional<Copy> panelOf(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op,
                            const Product &product, int64_t width);

/// Reads element by element what nothing has read as panels.
void unpackRest(mlir::func::FuncOp function);

} // namespace plim::ir
