// Where `plim.dot_pairs` is one instruction.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Bits of the widest vectors whose pairs of 16-bit integers the host of a module's target multiplies and adds with one
/// instruction; 0 where there is none, or no target.
unsigned widthOfDotPairs(mlir::ModuleOp module);

} // namespace plim::ir
