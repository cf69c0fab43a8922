// FilledVectors: vectors of a number of elements that is no power of two, such as the 14 columns of a small image, become vectors of the next
// one. LLVM makes 8, 4 and 2 of 14 floats, where 16 are one register; what is beyond the 14 is neither read nor written.
#pragma once

#include "ir/Codegen/Host.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::ir {

class FilledVectors {
public:
  /// The host has masks.
  explicit FilledVectors(const Host &host) : host(host) {}

  /// All vectors of a function in which there are such, if nothing but loops, transfers and elementwise ops has them. Transfers of rows
  /// become one for each row, behind a mask.
  bool fill(mlir::func::FuncOp function) const;

private:
  bool isNarrow(mlir::Type type) const;
  bool mayFill(mlir::Operation *op) const;

  const Host &host;
};

} // namespace plim::ir
