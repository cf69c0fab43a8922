// DataCollector: the constants, variables and parameters of a lowered module, and their contents.
//
// On the thread of the module's context.
#pragma once

#include "jit/Artifact.h"
#include "jit/ConstantTable.h"

#include "mlir/IR/BuiltinOps.h"

namespace plim::jit {

/// The names of the parameters that a module which was just parsed declares, in its order.
std::vector<std::string> parametersOf(mlir::ModuleOp module);

/// A variable of a module that was just parsed; null if it has none.
mlir::Operation *variableOf(mlir::ModuleOp module);

/// Adds the data of `module` to the artifact, equal contents once. From the artifact's
/// `unreadParameters` it removes those that something needs. Large contents are shared instead of
/// copied if `table` knows them, or if they lie aligned in `source` and that has an owner.
/// Unimplemented for elements without a layout; InvalidArgument for more than `atMost` bytes in
/// all, or a resource of another size than its type; ResourceExhausted without memory.
Status collectData(mlir::ModuleOp module, Artifact &artifact, ConstantTable &table,
                   const SharedBytes &source, int64_t atMost);

} // namespace plim::jit
