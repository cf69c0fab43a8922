#include "engine/session/Workspace.h"

#include "engine/runtime/Executor.h"
#include "engine/runtime/StackBounds.h"
#include "engine/session/SmallArray.h"
#include "engine/session/State.h"

#include <algorithm>
#include <optional>

namespace plim::session {

namespace {

/// Of slab and scratch; none if no address space has so many.
std::optional<size_t> bytesOf(const runtime::CallMemory &layout) {
  size_t bytes;
  if (__builtin_mul_overflow(layout.scratchBytes, layout.scratchCount, &bytes) ||
      __builtin_add_overflow(bytes, layout.slabBytes, &bytes))
    return std::nullopt;
  return bytes;
}

} // namespace

StatusOr<size_t> planSlab(const FunctionCode &code, const plim_view *arguments,
                          std::span<int64_t> offsets, runtime::Executor &executor,
                          runtime::MemoryPool &slabs) {
  if (!code.planner)
    return static_cast<size_t>(code.signature->workspaceBytes);
  auto count = static_cast<size_t>(code.signature->plan.extentCount);
  SmallArray<int64_t, 16> extents(count);
  SmallArray<plim_view, 16> views(count);
  for (size_t i = 0; i < count; ++i)
    views[i] = {&extents[i], nullptr, nullptr};
  // Integers alone, none of which can trap.
  plim_context context{};
  code.extentsEntry(&context, arguments, views.data());
  std::span<const int64_t> needed = extents.span();
  if (std::optional<size_t> bytes = code.planner->find(needed, offsets))
    return *bytes;

  // New sizes. The search wants more stack than a call without it.
  constexpr int64_t plannerStackBytes = 512 << 10;
  StatusOr<size_t> bytes = internalError("not planned");
  auto job = [&] { bytes = code.planner->plan(needed, offsets); };
  if (runtime::StackBounds::left() >= plannerStackBytes)
    job();
  else
    PLIM_RETURN_IF_ERROR(executor.callThreads().run(plannerStackBytes, job));
  // Slabs of all sizes that ever were would add up.
  if (bytes.ok())
    slabs.trim(std::max(runtime::MemoryPoolOptions().maxKeptBytes, 2 * *bytes));
  return bytes;
}

runtime::CallMemory workspaceLayout(const FunctionCode &code, size_t slabBytes,
                                    const runtime::Executor &executor) {
  runtime::CallMemory layout;
  layout.slabBytes = roundUp(static_cast<int64_t>(slabBytes));
  layout.scratchBytes = roundUp(code.signature->scratchBytes);
  layout.scratchCount = static_cast<size_t>(executor.threads());
  return layout;
}

StatusOr<WorkspaceRequirement> workspaceRequirement(const FunctionCode &code, size_t slabBytes,
                                                    const runtime::Executor &executor) {
  const jit::FunctionSignature &signature = *code.signature;
  if (!signature.unplanned.empty())
    return failedPreconditionError(
        "'" + signature.name +
        "' cannot do with a workspace of the caller's: " + signature.unplanned);
  std::optional<size_t> bytes = bytesOf(workspaceLayout(code, slabBytes, executor));
  if (!bytes)
    return resourceExhaustedError("the workspace of '" + signature.name +
                                  "' is too large for the address space");
  return WorkspaceRequirement{*bytes, PLIM_BUFFER_ALIGNMENT};
}

bool fitsWorkspace(const FunctionCode &code, size_t bytes, const runtime::Executor &executor) {
  if (code.planner || !code.signature->unplanned.empty())
    return false;
  std::optional<size_t> needed =
      bytesOf(workspaceLayout(code, static_cast<size_t>(code.signature->workspaceBytes), executor));
  return needed && *needed <= bytes;
}

} // namespace plim::session
