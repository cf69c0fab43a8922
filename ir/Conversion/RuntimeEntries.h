// RuntimeEntries: what the runtime calls of a lowered module. Public functions, dispatch functions and
// workgroup counts get the entry that engine/abi describes, kernels their raw pointer; everything else
// becomes private to the object.
//
// An instance is for one module, whose calls must not change otherwise while it lives.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::ir {

class RuntimeEntries {
public:
  explicit RuntimeEntries(mlir::ModuleOp module);

  /// Makes the entries of `function`, whose body is lowered, or declares those of a dispatch function that another
  /// module has. Counts come before the dispatch functions that they name, since those change their names here.
  void make(mlir::func::FuncOp function);

  /// Copies of kernels that were made for calls whose buffers have no byte in common.
  unsigned variants() const { return variantCount; }

private:
  void makeDispatchEntry(mlir::func::FuncOp function);
  /// That of a dispatch function that another module has, which goes.
  void declareDispatch(mlir::func::FuncOp function);
  void makeCount(mlir::func::FuncOp function);
  /// Unpacks the views of the arguments, calls, packs the results, unless the body takes the views and does so itself.
  void makeFunctionEntry(mlir::func::FuncOp function);
  /// The raw pointer of a kernel that does without the context: calls it with one of no call. The body has
  /// bare pointers already.
  void makeRaw(mlir::func::FuncOp function, llvm::StringRef name);
  /// A copy of a kernel for calls whose buffers have no byte in common; null if there is but one.
  mlir::func::FuncOp makeApart(mlir::func::FuncOp function);
  /// Calls `apart` if the context says that the arguments are, otherwise `function`.
  mlir::ValueRange callEither(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::func::FuncOp function, mlir::func::FuncOp apart,
                              mlir::ValueRange arguments, mlir::Value context);
  mlir::func::CallOp callFrom(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::func::FuncOp function, mlir::ValueRange arguments);
  void rename(mlir::func::FuncOp function, llvm::StringRef name);
  /// Out of the way of symbols of the C library: a user's function may be called `exp`.
  void makePrivate(mlir::func::FuncOp function);
  /// Rank-0 memrefs become bare pointers, with all that is known of them: LLVM sees the access
  /// analysis only on real pointer arguments. `isApart`: no two have a byte in common.
  void barePointers(mlir::func::FuncOp function, bool isApart = false);

  mlir::ModuleOp module;
  unsigned variantCount = 0;
  /// Who calls a function. (A search of the whole module for each would be quadratic.)
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::func::CallOp>> calls;
};

} // namespace plim::ir
