// SharedMemory: which ops of a host function touch the same memory. For the passes that reorder
// dispatches.
//
// An instance belongs to one thread, and to the function as it is: ops may move within their block, no
// value may come or go.
#pragma once

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"

#include <memory>
#include <optional>

namespace plim::ir {

/// Where a buffer comes from.
struct Origin {
  enum class Kind {
    Allocation, // or an earlier run of it, if the buffer has come round a loop
    Argument,   // of the function
    Global,
    Unknown,
  };
  Kind kind;
  mlir::Value value;  // what yields the memory
  mlir::Value buffer; // the buffer itself, without views: known since it was defined
};

/// What an op does to one buffer.
struct MemoryUse {
  const llvm::SmallVector<Origin> *origins;
  bool writes;
  mlir::Value buffer;
};

class SharedMemory {
public:
  explicit SharedMemory(mlir::func::FuncOp function) : flow(function), dominance(function) {}

  /// What `op` itself does; none if that is not known or more than a list of buffers.
  std::optional<llvm::SmallVector<MemoryUse>> usesOf(mlir::Operation *op);

  /// Does one write what another one may touch?
  bool conflict(llvm::ArrayRef<MemoryUse> some, llvm::ArrayRef<MemoryUse> others) const;

  /// Is something written that outlives the call?
  static bool writesVisibly(llvm::ArrayRef<MemoryUse> uses);

private:
  const llvm::SmallVector<Origin> &originsOf(mlir::Value buffer);
  std::optional<Origin> originAt(mlir::Value value) const;
  bool mayAlias(const Origin &a, const Origin &b) const;
  bool isMadeAfter(const Origin &a, const Origin &b) const;

  mlir::BufferViewFlowAnalysis flow;
  mlir::DominanceInfo dominance;
  llvm::DenseMap<mlir::Value, std::unique_ptr<llvm::SmallVector<Origin>>> known;
};

} // namespace plim::ir
