#include "engine/session/CallPlanner.h"

#include "engine/abi/plim_abi.h"
#include "engine/runtime/ByteSize.h"
#include "planner/Planner.h"

#include <algorithm>

namespace plim {
namespace {

/// No allocation is larger; more is an error at the allocation itself.
constexpr int64_t maxBufferBytes = int64_t(1) << 47;

/// The planner's search, where it ends soon; the classical rules alone where there are many buffers.
constexpr uint64_t searchNodes = 2000;
constexpr size_t searchedBuffers = 64;

} // namespace

std::optional<size_t> CallPlanner::find(std::span<const int64_t> extents,
                                        std::span<int64_t> offsets) {
  std::lock_guard lock(mutex);
  for (auto it = kept.begin(); it != kept.end(); ++it)
    if (std::equal(extents.begin(), extents.end(), it->extents.begin())) {
      kept.splice(kept.begin(), kept, it);
      std::copy(it->offsets.begin(), it->offsets.end(), offsets.begin());
      return it->bytes;
    }
  return std::nullopt;
}

StatusOr<size_t> CallPlanner::plan(std::span<const int64_t> extents, std::span<int64_t> offsets) {
  PLIM_ASSIGN_OR_RETURN(Placement placement, place(extents));
  std::copy(placement.offsets.begin(), placement.offsets.end(), offsets.begin());
  size_t bytes = placement.bytes;
  std::lock_guard lock(mutex);
  for (const Placement &each : kept)
    if (each.extents == placement.extents)
      return bytes; // another thread was first, with the same plan
  kept.push_front(std::move(placement));
  if (kept.size() > maxKept)
    kept.pop_back();
  return bytes;
}

StatusOr<CallPlanner::Placement> CallPlanner::place(std::span<const int64_t> extents) const {
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
  search.nodes = problem.buffers.size() <= searchedBuffers ? searchNodes : 0;
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
