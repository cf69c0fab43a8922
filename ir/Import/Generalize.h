// Generalize: what upstream can say in terms of generic ops on tensors becomes that, so that later stages know few operations.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Named ops and aggregates (softmax), packs, concatenations, splats, generated and padded tensors. What was named keeps its name in
/// `plim.source_op`.
mlir::LogicalResult generalize(mlir::ModuleOp module);

} // namespace plim::ir
