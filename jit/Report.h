// The explain report: what the pipeline decided and why, read off the IR between its stages.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace plim::jit {

/// Dispatches with the access of each binding, and allocations with their place and reason. `module`
/// stands after the buffer pipeline.
///
///   {"functions": [{"name", "workspace_bytes", "dispatches": [{"name", "location", "device",
///     "bindings": [{"type", "access"}]}]}],
///    "allocations": [{"function", "location", "type", "scope", "reason"}]}
llvm::json::Object makeReport(mlir::ModuleOp module);

} // namespace plim::jit
