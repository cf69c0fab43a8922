// EmulatedDevice: a device whose compiler is another engine.
//
// Its code is an artifact of that engine, so all that the engine computes can be tried on it, and
// compared. It stands for a real one in every way that this side can see.
#pragma once

#include "engine/session/Device.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace plim::testing {

/// What the device was asked to do.
struct DeviceLog {
  std::mutex mutex;
  std::vector<std::string> texts; // that it compiled
  std::atomic<int> loads{0}, launches{0}, loaded{0};
};

/// Refuses functions with types at their border that an engine does not have. `log` may be null.
std::shared_ptr<const Device> makeEmulatedDevice(std::string name,
                                                 std::shared_ptr<DeviceLog> log = nullptr);

} // namespace plim::testing
