// AllocationUse: the allocations of a module as plim-place-allocations sees them: how large they are, when they live, how much they are used.
#pragma once

#include "ir/Memory/Allocations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <utility>
#include <vector>

namespace plim::ir {

struct Allocation {
  AllocOp op;
  mlir::func::FuncOp function;
  Scope scope;
  Life life;
  std::pair<int64_t, int64_t> live; // positions of the function
  std::optional<int64_t> bytes;     // at most
  /// Every access has constant indices, and it is small: mem2reg and vectorisation leave nothing of it in memory.
  bool inRegisters = false;
  double gain = 0;  // estimated accesses per byte
  size_t index = 0; // in the module
};

/// All of a module, in order. Those that have no accessors yet belong to `host`, and those with a bound get it (`bytes`).
std::vector<Allocation> allocationsOf(mlir::ModuleOp module, llvm::StringRef host);

} // namespace plim::ir
