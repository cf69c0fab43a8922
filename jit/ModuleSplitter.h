// Splits a lowered module into one per dispatch and kernel plus one of host code, so that LLVM can
// compile them in parallel and each sees only what it needs.
#pragma once

#include "jit/ObjectEmitter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace plim::jit {

struct ModulePiece {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CodeKind kind = CodeKind::Host;
  std::string name; // of the dispatch or kernel; empty for host code
};

/// `module` holds only llvm ops. Each symbol of the ABI is defined in exactly one piece; internal
/// ones are copied into every piece that uses them. Host code is the last.
std::vector<ModulePiece> splitModule(mlir::ModuleOp module);

} // namespace plim::jit
