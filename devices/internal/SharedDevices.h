// SharedDevices: one object for each device of a driver in the process, as long as anyone holds it.
// Opening a driver takes tens of milliseconds and memory of the device, so engines share what is
// open.
//
// Standard library only. Threads: any.
#pragma once

#include "support/Status.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace plim::devices::internal {

template <typename DeviceT> class SharedDevices {
public:
  /// The device that is open already, unless it is lost, or what `open` returns: a StatusOr of a
  /// std::shared_ptr<DeviceT>. Only one thread at a time opens; others wait. A failure is not
  /// remembered.
  template <typename OpenT>
  StatusOr<std::shared_ptr<DeviceT>> get(const std::string &library, int ordinal, OpenT open) {
    std::lock_guard lock(mutex);
    std::weak_ptr<DeviceT> &known = devices[{library, ordinal}];
    if (std::shared_ptr<DeviceT> device = known.lock(); device && !device->isLost())
      return device;
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<DeviceT> device, open());
    known = device;
    return device;
  }

private:
  std::mutex mutex;
  std::map<std::pair<std::string, int>, std::weak_ptr<DeviceT>> devices;
};

} // namespace plim::devices::internal
