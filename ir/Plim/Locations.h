// Locations in the messages of checks that run in compiled code.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <string>

namespace plim::ir {

/// "file:line:column: " of the first place with a file in `loc`, or an empty string where there is
/// none. In this form errorAtPlace() finds the place again.
inline std::string locationText(mlir::Location loc) {
  auto file = loc->findInstanceOf<mlir::FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
          llvm::Twine(file.getColumn()) + ": ")
      .str();
}

} // namespace plim::ir
