// What passes that make dispatches of parts of kernels have in common.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace plim::ir {

/// Can a dispatch be given values of this type: words, or buffers without gaps?
bool canBeBound(mlir::Type type);

/// An empty dispatch function named after the kernel and `part`, with the kernel's limits. It has no arguments yet, and a block.
mlir::func::FuncOp makeDispatchFunction(mlir::func::FuncOp kernel, llvm::StringRef part,
                                        mlir::Location location, mlir::SymbolTable &symbols);

/// The name of the device that kernels run on; null, with an error, if the module's target cannot be read.
mlir::StringAttr hostDevice(mlir::ModuleOp module);

/// Is it all of an argument of the kernel, of memory that the kernel takes, or of a constant? Nobody knows of others what they are
/// parts of; the host application may know where a variable is.
bool isWhole(mlir::Value buffer);

/// The buffers among the values that are arguments of the kernel: of two or more only a call knows whether they overlap (`plim.are_apart`).
size_t countArguments(mlir::ValueRange values);

/// Is it the memory of a constant? That of a variable may be somebody else's too.
bool isConstantMemory(mlir::memref::GetGlobalOp get);

} // namespace plim::ir
