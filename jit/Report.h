// The explain report: what the pipeline decided and why, read off the IR between its stages.
#pragma once

#include "ir/Plim/Plim.h"
#include "jit/Artifact.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace plim::jit {

/// Artifact::ExternalFunction::signature: "(f32, memref<?x4xf32> readonly) -> i32".
std::string signatureOf(ir::ExternalOp external);

/// Dispatches with the access of each binding, and allocations with their place and reason. `module`
/// stands behind the stage Schedule.
///
///   {"functions": [{"name", "workspace_bytes", "pool_bytes": {POOL: bytes},
///     "arguments": [{"index", "access", "type"}], "dispatches": [{"name",
///     "location", "device", "operations", "bindings": [{"type", "access", "buffers": [index], "data": ["constant 'w'"]}], "strategy": [{"what": "workgroups",
///     "tiles", "because"} | {"what": "panels", "panel", "rows", "depth", "columns", "lines", "because"} |
///     {"what": "registers", "rows", "columns", "lanes", "because"}]}]}],
///    "scratch": [{"name", "bytes"}],
///    "allocations": [{"function", "location", "type", "scope", "reason", "level", "accessors",
///     "candidates", "bytes", "offset", "lifetime": [from, to]}],
///    "copies": [{"function", "location", "type", "of"}],
///    "externals": [{"name", "location", "type", "pure"}]}
///
/// `operations` are those of a run, absent where they are not known (plim-count-operations). `buffers` of a binding are allocations
/// that it may be, by their positions in `allocations`, `data` what else it may be; both are absent where there is none.
/// `arguments` are the memrefs. `copies` are those that the engine added, since something needs the old contents too.
/// `externals` are the functions of the host application that are called.
/// `strategy` has how the code of a dispatch was made, in order (ir/Plim/PlimStrategy.td).
/// `scratch` is what one worker needs while it runs a dispatch. `bytes` is absent where there is no bound, `offset` and `lifetime` (positions in the function)
/// where nothing is planned.
llvm::json::Object makeReport(mlir::ModuleOp module,
                              const std::vector<FunctionSignature> &signatures);

/// Bytes by what they are for; constants with equal contents count once.
///
///   {"constants", "constants_in_pools": {POOL: bytes}, "duplicate_constants", "duplicate_constant_bytes", "parameters",
///    "prepared", "variables"}
llvm::json::Object dataReport(const Artifact &artifact);

} // namespace plim::jit
