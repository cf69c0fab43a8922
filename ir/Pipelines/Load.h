// Loading a module: from text or bytecode to verified IR, without trusting the text.
//
// The parser of upstream recurses on nesting and casts unchecked attribute kinds, so the text is
// looked over first: what would bring the process down becomes a located diagnostic.
#pragma once

#include "targets/AllocationOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace plim::ir {

/// How deep brackets may nest in a text.
inline constexpr unsigned maxNesting = 256;

bool isBytecode(llvm::StringRef source);

/// Parses and verifies `source`, which may hold as much as `limits` say. Diagnostics go to the context's handler; null
/// after one. The calling thread needs 8 MiB of stack. Resources of a bytecode that begins a page are not copied:
/// they lie in `source`, which must outlive the module.
mlir::OwningOpRef<mlir::ModuleOp> loadModule(mlir::MLIRContext &context, llvm::StringRef source,
                                             llvm::StringRef name,
                                             const targets::SourceLimits &limits = {});

/// May callers pass the arguments of its public functions and get their results? What the import
/// checks of that, and no more. The module is not to be lowered any more.
mlir::LogicalResult checkSignatures(mlir::ModuleOp module);

} // namespace plim::ir
