// DataCollector: the constants, variables and parameters of a lowered module, and their contents.
#pragma once

#include "jit/Artifact.h"
#include "jit/ConstantTable.h"

#include "mlir/IR/BuiltinOps.h"

namespace plim::jit {

/// The names of what a module that was just parsed leaves to be bound.
std::vector<std::string> parametersOf(mlir::ModuleOp module);

/// Adds them to the artifact, of whose `unreadParameters` it takes those that something needs. Large contents that lie in `source`, if it has an owner, or that `table` knows,
/// are shared. Unimplemented for elements without a layout, InvalidArgument for more than `atMost` bytes.
Status collectData(mlir::ModuleOp module, Artifact &artifact, ConstantTable &table,
                   const SharedBytes &source, int64_t atMost);

} // namespace plim::jit
