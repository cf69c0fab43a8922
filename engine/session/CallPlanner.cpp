#include "engine/session/CallPlanner.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/ByteSize.h"
#include "planner/Planner.h"

#include <algorithm>

namespace plim {
namespace {

/// No allocation is larger; more is an error at the allocation itself.
constexpr int64_t maxBufferBytes = int64_t(1) << 47;

/// The search of the planner: about a millisecond, at the first call with these sizes.
constexpr uint64_t searchNodes = 2000;

} // namespace

StatusOr<size_t> CallPlanner::place(std::span<const int64_t> extents, std::span<int64_t> offsets) {
  auto take = [&](const Placement &placement) {
    std::copy(placement.offsets.begin(), placement.offsets.end(), offsets.begin());
    return placement.bytes;
  };
  {
    runtime::LockGuard lock(mutex);
    for (auto it = kept.begin(); it != kept.end(); ++it)
      if (std::equal(extents.begin(), extents.end(), it->extents.begin())) {
        kept.splice(kept.begin(), kept, it);
        return take(*it);
      }
  }
  PLIM_ASSIGN_OR_RETURN(Placement placement, plan(extents));
  size_t bytes = take(placement);
  std::list<Placement> fresh, dropped;
  fresh.push_back(std::move(placement));
  runtime::LockGuard lock(mutex);
  kept.splice(kept.begin(), fresh);
  if (kept.size() > maxKept)
    dropped.splice(dropped.begin(), kept, std::prev(kept.end()));
  return bytes;
}

StatusOr<CallPlanner::Placement> CallPlanner::plan(std::span<const int64_t> extents) const {
  const jit::CallPlan &callPlan = function.plan;
  planner::Problem problem;
  problem.pools[0].alignment = callPlan.alignment;
  std::vector<bool> hasMemory;
  std::vector<int64_t> factors;
  for (const jit::PlannedBuffer &planned : callPlan.buffers) {
    factors.clear();
    for (uint32_t position : planned.extents)
      factors.push_back(extents[position]);
    StatusOr<int64_t> bytes = runtime::byteSizeOf(factors, planned.bytes);
    hasMemory.push_back(bytes.ok() && *bytes <= maxBufferBytes);
    planner::Buffer &buffer = problem.buffers.emplace_back();
    buffer.lifetime = {{planned.lower, planned.upper}};
    buffer.bytes = hasMemory.back() ? *bytes : 0;
  }
  planner::Options search;
  search.nodes = searchNodes;
  planner::Plan plan = planner::solve(problem, search);
  if (!plan.isFound())
    return resourceExhaustedError("the buffers of '" + function.name +
                                  "' have no plan: " + plan.message);
  Placement placement{{extents.begin(), extents.end()}, std::move(plan.offsets), 0};
  for (size_t i = 0; i < hasMemory.size(); ++i)
    if (!hasMemory[i])
      placement.offsets[i] = -1;
  // Code rounds the base up to what is more than the runtime's alignment.
  placement.bytes = static_cast<size_t>(plan.peaks[0] + callPlan.alignment) - PLIM_BUFFER_ALIGNMENT;
  return placement;
}

} // namespace plim
