// Which values of a function are the same in all calls, and known when its module is linked.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace plim::ir {

/// What is computed from constants and parameters alone, by ops that can neither fail nor be seen.
/// What an author put in a pool is left where it is. Nothing is where the host of the module's
/// target has no pages of its own: memory is what the host application gives there, and there is no
/// place for what would be computed once. Valid until ops go that were asked about.
class FixedValues {
public:
  explicit FixedValues(mlir::ModuleOp module);

  /// Answers are kept, so that asking for all values of a module is linear in its ops.
  bool isFixed(mlir::Value value);
  /// Are all results of the op?
  bool isFixed(mlir::Operation *op);

private:
  bool compute(mlir::Operation *op);

  mlir::SymbolTable symbols;
  bool hasPlace = false;
  llvm::DenseMap<mlir::Operation *, bool> known;
};

} // namespace plim::ir
