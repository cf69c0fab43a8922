// StackModel: what is on the stack of every function of a module at each of its positions, and whom
// it calls.
#pragma once

#include "ir/Memory/AllocationUse.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace plim::ir {

/// An estimate for placement: of allocations alone, of which those share bytes that are not live at
/// the same position. What the code generator adds is proved later (jit/StackUse.h). All numbers
/// are bytes. Of the module as it is: functions and calls must stay. Not for several threads while
/// it changes.
class StackModel {
public:
  /// Nothing is on the stack yet.
  explicit StackModel(mlir::ModuleOp module);

  /// The frame of its function if the allocation, which has a bound, joined those that are there.
  int64_t frameWith(const Allocation &allocation) const;
  /// Puts it on the stack.
  void add(const Allocation &allocation);
  int64_t frame(mlir::func::FuncOp function) const { return frameOf(function).bytes; }

  /// The functions whose call tree `function` is part of, itself included.
  llvm::SetVector<mlir::StringAttr> treesOf(mlir::func::FuncOp function) const;

  /// The frame of `root` and its deepest chain of callees, if the frame of `changed` were `bytes`.
  /// A function that comes back to itself counts once: recursion has no bound.
  int64_t need(mlir::StringAttr root, mlir::StringAttr changed = {}, int64_t bytes = 0) const;

private:
  struct Frame {
    std::vector<int64_t> live; // bytes at each position
    int64_t bytes = 0;
    llvm::SetVector<mlir::StringAttr> callees, callers;
  };

  const Frame &frameOf(mlir::func::FuncOp function) const {
    return frames.find(function.getSymNameAttr())->second;
  }
  int64_t need(mlir::StringAttr name, mlir::StringAttr changed, int64_t bytes,
               llvm::DenseMap<mlir::StringAttr, int64_t> &known) const;

  llvm::DenseMap<mlir::StringAttr, Frame> frames;
};

} // namespace plim::ir
