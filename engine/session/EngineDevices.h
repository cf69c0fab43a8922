// EngineDevices: what the devices that run code beside the CPU make of a target. For engine/session
// alone.
#pragma once

#include "engine/session/Device.h"
#include "targets/TargetDescription.h"

namespace plim::session {

/// Completes a target by the devices that the host brings: a device that it lacks is added.
/// InvalidArgument for one that cannot be.
Status addDevices(const Devices &devices, targets::TargetDescription &target);

/// Devices for the GPUs of the target that the host brings none for. In `target` each of them comes
/// to reach all memories of the host, since its launches copy what it does not reach. Opens no
/// driver.
Devices addGpus(const Devices &devices, targets::TargetDescription &target);

} // namespace plim::session
