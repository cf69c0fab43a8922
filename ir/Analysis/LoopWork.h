// What loops cost, as far as the IR tells.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace plim::ir {

/// Work of one workgroup, in scalar operations: some ten microseconds, so that a task costs little
/// against it and a large problem still has many.
inline constexpr int64_t workgroupCost = int64_t(1) << 21;
/// What touching the memory of one point costs, in the same unit.
inline constexpr int64_t pointCost = 64;
/// Assumed trip count of a loop that is not known at load.
inline constexpr int64_t unknownTripCount = 256;

/// On a parallel loop, as a unit: each of its iterations is worth a task.
inline constexpr llvm::StringLiteral tasksAttr = "plim.tasks";

/// Scalar operations of one iteration of the innermost loop of a nest, an `scf.parallel` or `scf.forall`, those of loops in it
/// included; `workgroupCost` at most.
int64_t operationsOf(mlir::LoopLikeOpInterface loop);

/// Iterations of each loop of a nest, dynamic where they are not known.
llvm::SmallVector<int64_t> tripCountsOf(mlir::scf::ParallelOp loop);

} // namespace plim::ir
