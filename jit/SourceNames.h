// SourceNames: what a source in text calls its values. MLIR forgets the names, and keeps the places
// where they stand.
//
// Immutable; any thread.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace plim::jit {

class SourceNames {
public:
  /// Borrows both. `text` is the source, empty for bytecode, and `name` the file that its locations
  /// are in.
  SourceNames(llvm::StringRef text, llvm::StringRef name);

  /// The name of the value whose location this is, without '%': that of a NameLoc, or what stands
  /// in the text there. Empty if there is none, or only a number. Points into the text or the
  /// context.
  llvm::StringRef at(mlir::Location loc) const;

private:
  llvm::StringRef text, name;
  std::vector<size_t> lines; // where each begins
};

} // namespace plim::jit
