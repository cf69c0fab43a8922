// CompileContext: a context of MLIR as compilations have it, with all dialects, for one thread at a time.
#pragma once

#include "jit/CompileDiagnostics.h"
#include "jit/Patience.h"

#include "mlir/IR/MLIRContext.h"

namespace plim::jit {

struct CompileContext {
  /// Diagnostics are of the source called `name`, as CompileDiagnostics says. What has begun ends when the patience does;
  /// passes that follow are left out. All is borrowed.
  CompileContext(llvm::StringRef source, llvm::StringRef name,
                 const std::function<void(const Diagnostic &)> &witness, const Patience &patience);

  mlir::MLIRContext context;
  CompileDiagnostics diagnostics;
};

} // namespace plim::jit
