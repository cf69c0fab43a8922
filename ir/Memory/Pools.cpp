#include "ir/Memory/Pools.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace plim::ir {

namespace {

/// Of every constant, as the engine lays them out.
constexpr int64_t constantAlignment = 64;

} // namespace

LogicalResult Pools::addConstants(ModuleOp module) {
  const std::string &host = target.devices[0].name;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    auto scope = global->getAttrOfType<StringAttr>(scopeAttr);
    StringRef name = scope ? Scope::parse(scope.getValue())->pool : "";
    if (name.empty())
      continue;
    const targets::MemoryDescription *memory = target.findMemory(name.str());
    auto refuse = [&]() -> InFlightDiagnostic {
      return global.emitError() << "constant '" << global.getSymName() << "' cannot be in pool '"
                                << name << "': ";
    };
    if (!memory)
      return refuse() << "target '" << target.name << "' has no such memory";
    if (!llvm::is_contained(memory->accessibleBy, host))
      return refuse() << "it is not accessible by '" << host << "'";
    MemRefType type = global.getType();
    int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
    int64_t &taken = constantBytes[name.str()];
    // No type is larger than 2^46 bytes, no module has so many of those.
    taken += llvm::alignTo(bytes, constantAlignment);
    if (memory->bytes > 0 && taken > memory->bytes)
      return refuse() << "with it the constants there take " << taken << " of its " << memory->bytes
                      << " bytes, " << taken - memory->bytes << " too many";
  }
  return success();
}

int64_t Pools::constants(StringRef pool) const {
  auto found = constantBytes.find(pool);
  return found == constantBytes.end() ? 0 : found->second;
}

planner::Problem Pools::problemWith(const Allocation &allocation, StringRef pool) const {
  AllocOp op = allocation.op;
  auto function = allocation.function;
  auto now = problems.find({function.getName().str(), pool.str()});
  planner::Problem problem = now == problems.end() ? planner::Problem() : now->second;
  int64_t &alignment = problem.pools[0].alignment;
  alignment = std::max(
      {alignment, workspaceAlignment(function->getParentOfType<ModuleOp>(), target.devices[0]),
       int64_t(op.getAlignment().value_or(1))});
  // In program order, as it will be planned.
  planner::Buffer buffer;
  buffer.lifetime = {{allocation.live.first, allocation.live.second}};
  buffer.bytes = *allocation.bytes;
  auto &buffers = problem.buffers;
  buffers.insert(
      llvm::partition_point(
          buffers, [&](auto &other) { return other.lifetime[0].lower < allocation.live.first; }),
      buffer);
  return problem;
}

int64_t Pools::peakWith(const Allocation &allocation, StringRef pool) const {
  const planner::Plan plan = planner::planGreedy(problemWith(allocation, pool));
  // Sizes that add up to more than there are addresses are no plan.
  return plan.isFound() ? plan.peaks[0] : std::numeric_limits<int64_t>::max();
}

void Pools::add(const Allocation &allocation, StringRef pool) {
  auto function = allocation.function;
  problems[{function.getName().str(), pool.str()}] = problemWith(allocation, pool);
}

} // namespace plim::ir
