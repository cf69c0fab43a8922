// Who touches a buffer, wherever it goes.
#pragma once

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

/// Follows buffers through views, control flow, calls and returns. Valid as long as nothing of the
/// module that concerns buffers changes.
class BufferUses {
public:
  /// Analyses all functions of the module at once.
  explicit BufferUses(mlir::ModuleOp module);

  /// Calls `visit` once for each operand through which an op uses what lies in the memory behind
  /// `buffer`, in this function or another. Ops that only pass the buffer on are left out. A return
  /// from a public function counts: its caller is not known.
  void forEach(mlir::Value buffer, llvm::function_ref<void(mlir::OpOperand &)> visit) const;

  /// What happens to a buffer: the operand of the first op that is found to read, write or free it;
  /// null where none does.
  struct Found {
    mlir::OpOperand *read = nullptr, *write = nullptr, *free = nullptr;
  };
  Found find(mlir::Value buffer) const;

private:
  mlir::BufferViewFlowAnalysis views;
  llvm::DenseMap<mlir::StringAttr, mlir::func::FuncOp> functions;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::func::CallOp>> calls; // by callee
};

} // namespace plim::ir
