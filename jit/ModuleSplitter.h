// Splits a lowered module into one per dispatch and kernel plus one of host code, so that LLVM can
// compile them in parallel and each sees only what it needs. On the thread of the module's context.
#pragma once

#include "jit/ObjectEmitter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace plim::jit {

/// One module to be compiled by itself. `module` is in the context of the module that was split,
/// and owned here.
struct ModulePiece {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CodeKind kind = CodeKind::Host;
  std::string name; // of the dispatch or kernel; empty for host code
};

/// `module` holds only llvm ops, and stays as it is: its operations are copied. Each symbol of the
/// ABI is defined in exactly one piece and declared where others use it; internal symbols are
/// copied into every piece that uses them. Dispatches come first, then kernels, each by name; host
/// code, if there is any, is the last.
std::vector<ModulePiece> splitModule(mlir::ModuleOp module);

} // namespace plim::jit
