// IdleMemory: what programs keep in a device's memory for later, and give back where it lacks
// memory.
//
// Standard library only. Threads: any, for all methods.
#pragma once

#include "devices/internal/ConstantCopies.h"
#include "devices/internal/FramePool.h"
#include "support/Status.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace plim::devices::internal {

/// One for each device. CopyT is a constant's copy on the device.
template <typename CopyT> struct IdleMemory {
  FramePools frames;
  ConstantCopies<CopyT> constants;

  /// What `attempt` returns, a Status or a StatusOr. If it lacks memory it is called again without
  /// the frames that rest, and once more without the copies that no launch uses.
  template <typename AttemptT> auto withMemory(AttemptT attempt) {
    auto result = withoutIdleFrames(attempt);
    if (!lacksMemory(result) || !constants.drop())
      return result;
    result = attempt();
    if (lacksMemory(result))
      constants.tryAgain(); // it was not what they had
    return result;
  }

  /// The same, but copies stay.
  template <typename AttemptT> auto withoutIdleFrames(AttemptT attempt) {
    auto result = attempt();
    if (!lacksMemory(result))
      return result;
    frames.drop();
    return attempt();
  }

private:
  static bool lacksMemory(const Status &status) {
    return status.code() == StatusCode::ResourceExhausted;
  }
  template <typename T> static bool lacksMemory(const StatusOr<T> &value) {
    return lacksMemory(value.status());
  }
};

/// What GpuDevice::keepConstant() returns: as long as it lives the device may have a copy of these
/// bytes, which nobody writes. It keeps `shared`, whose `idle` is an IdleMemory. Null for no bytes.
template <typename SharedT>
std::shared_ptr<const void> keepConstant(std::shared_ptr<SharedT> shared, const void *data,
                                         size_t bytes) {
  if (bytes == 0)
    return nullptr;
  shared->idle.constants.add(data, bytes);
  return {data, [shared, bytes](const void *data) { shared->idle.constants.remove(data, bytes); }};
}

} // namespace plim::devices::internal
