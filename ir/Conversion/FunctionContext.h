// FunctionContext: which functions take the context of a call (plim_context of engine/abi), what they read from it, and how they
// leave when something has failed.
//
//   addContext(function, contextNeedOf(function, symbols, variables));
//   leaveIfFailed(builder, status, op);   // behind it `op` is reached with a status of 0 alone
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace plim::ir {

/// The variables of a module: they lie where the context says, in the order of `plim.data`.
class Variables {
public:
  explicit Variables(mlir::ModuleOp module);

  /// Of the module with these symbols, once nothing gets them.
  void eraseGlobals(mlir::SymbolTable &symbols) const;

  /// Is `op`, which may be null, what gets one of them?
  bool isOne(mlir::Operation *op) const;
  /// Gets one of them from the context.
  void lower(mlir::memref::GetGlobalOp op) const;

private:
  llvm::StringMap<int32_t> positions; // by symbol
};

/// What a function wants of the context. `Looks`: only to ask whether it has been stopped and to say why
/// it ends; without a call it does without both.
enum class ContextNeed { None, Looks, All };

/// Of what is in the function, and in the dispatches that it calls. The declaration of a dispatch that is elsewhere
/// (separateDispatches()) has `plim.needs_context` for All.
ContextNeed bodyNeedOf(mlir::func::FuncOp function, const mlir::SymbolTable &symbols,
                       const Variables &variables);

/// Host and dispatch functions always have it: their entries have it at hand. A kernel's raw pointer
/// shows it only if something uses it.
ContextNeed contextNeedOf(mlir::func::FuncOp function, const mlir::SymbolTable &symbols,
                          const Variables &variables);

/// Makes it the first argument, which `plim.context` becomes.
void addContext(mlir::func::FuncOp function, ContextNeed need);

/// The context of the function around `op`, which has one.
mlir::Value contextOf(mlir::Operation *op);

/// Leaves the function before `op` if `failed` holds; `onFailure` fills the block in between. The results of a function that was
/// left are looked at only where a raw pointer was called: zero.
void leaveIf(
    mlir::Value failed, mlir::Operation *op,
    llvm::function_ref<void(mlir::OpBuilder &)> onFailure = [](mlir::OpBuilder &) {});

/// The same where a status is not 0, or memory is null; `builder` stands before `op`.
void leaveIfFailed(mlir::OpBuilder &builder, mlir::Value status, mlir::Operation *op);
void leaveIfNull(mlir::OpBuilder &builder, mlir::Value memory, mlir::Operation *op);

} // namespace plim::ir
