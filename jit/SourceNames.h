// SourceNames: what a source in text calls its values. MLIR forgets that, but for where they stand.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace plim::jit {

class SourceNames {
public:
  /// `text` is borrowed, and has the locations that begin with `name`; empty for a source that is none.
  SourceNames(llvm::StringRef text, llvm::StringRef name);

  /// The name of the value whose location this is, without '%': that of a NameLoc, or what stands in
  /// the text there. Empty if it has none, or a number.
  llvm::StringRef at(mlir::Location loc) const;

private:
  llvm::StringRef text, name;
  std::vector<size_t> lines; // where each begins
};

} // namespace plim::jit
