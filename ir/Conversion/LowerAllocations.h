// LowerAllocations: where the memory of each `plim.alloc` comes from: the frame of its function, a place in the slab, in a pool or in
// the scratch of a dispatch, or the allocator of the call. A part of plim-lower-runtime.
#pragma once

#include "ir/Conversion/ArgumentViews.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace plim::ir {

/// Is its memory in the frame of its function?
bool isOnStack(AllocOp alloc);

class LowerAllocations {
public:
  /// Borrows all. `frames` are those of the calls that a function makes.
  LowerAllocations(RuntimeCalls &runtime, ArgumentViews &views, CallFrames &frames)
      : runtime(runtime), views(views), frames(frames) {}

  /// Those of a function that have a place: in its frame, or in what the context has.
  void lowerPlaced(mlir::func::FuncOp function);
  /// One that has none: memory of the allocator, or the function is left.
  void lower(AllocOp op);
  void lower(mlir::memref::DeallocOp op);

private:
  /// Where the planned memories of a function begin, by pool; "" is the slab, or in a dispatch
  /// function the worker's scratch.
  using Bases = llvm::StringMap<mlir::Value>;

  void lowerPlaced(AllocOp op, Bases &bases);
  mlir::Value placeOfCall(AllocOp op, mlir::Value base);
  mlir::Value allocate(mlir::OpBuilder &builder, AllocOp op, mlir::ValueRange sizes);
  mlir::Value scratchOf(mlir::func::FuncOp function);
  llvm::SmallVector<mlir::Value> extentsOf(mlir::OpBuilder &builder, AllocOp op,
                                           bool onlyDynamic) const;

  RuntimeCalls &runtime;
  ArgumentViews &views;
  CallFrames &frames;
};

} // namespace plim::ir
