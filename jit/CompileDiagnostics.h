// CompileDiagnostics: what MLIR says while a source is compiled, with its places, as our
// diagnostics.
//
//   CompileDiagnostics said(context, source, name, options.witness);
//   if (failed(manager.run(module)))
//     return said.status("lowering");
//
// Of one context and one thread: upstream calls handlers where it finds something.
#pragma once

#include "support/Status.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>
#include <vector>

namespace plim::jit {

/// A diagnostic at that place, without the range that it spans; without a place where the location
/// has none.
Diagnostic diagnosticAt(mlir::Location location, Diagnostic::Severity severity,
                        std::string message);

/// Takes all diagnostics of the context for as long as this lives.
class CompileDiagnostics {
public:
  /// All are borrowed. The range of a diagnostic is found where its place is in `source`, which
  /// `name` stands for. The witness may be empty; it is told of the first error at once.
  CompileDiagnostics(mlir::MLIRContext &context, llvm::StringRef source, llvm::StringRef name,
                     const std::function<void(const Diagnostic &)> &witness);

  /// InvalidArgument. The message is that of the first error, with its place in front; without one
  /// it is that `stage` failed.
  Status status(llvm::StringRef stage) const;

private:
  std::vector<Diagnostic>::const_iterator firstError() const;
  void add(mlir::Diagnostic &said);
  size_t tokenAt(mlir::FileLineColLoc place) const;

  llvm::StringRef source, name;
  const std::function<void(const Diagnostic &)> &witness;
  std::vector<Diagnostic> all;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace plim::jit
