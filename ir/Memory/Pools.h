// Pools: how full the memories of a target are, with the constants that their author put there and the allocations that are placed
// there so far.
#pragma once

#include "ir/Memory/AllocationUse.h"
#include "planner/Planner.h"
#include "targets/TargetDescription.h"

#include <map>
#include <string>
#include <utility>

namespace plim::ir {

class Pools {
public:
  /// The target is borrowed.
  explicit Pools(const targets::TargetDescription &target) : target(target) {}

  /// Constants that their author put in a pool: fails, at the constant, unless the host reaches it and it holds them all.
  mlir::LogicalResult addConstants(mlir::ModuleOp module);

  /// Bytes of the constants in a pool.
  int64_t constants(llvm::StringRef pool) const;

  /// The most bytes of a pool that a function has in use at once, as it will be planned, with one more allocation.
  int64_t peakWith(const Allocation &allocation, llvm::StringRef pool) const;
  /// The same, and the allocation stays.
  void add(const Allocation &allocation, llvm::StringRef pool);

private:
  planner::Problem problemWith(const Allocation &allocation, llvm::StringRef pool) const;

  const targets::TargetDescription &target;
  std::map<std::pair<std::string, std::string>, planner::Problem> problems; // by function and pool
  std::map<std::string, int64_t, std::less<>> constantBytes;                // by pool
};

} // namespace plim::ir
