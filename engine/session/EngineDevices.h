// EngineDevices: what the devices that run code beside the CPU make of a target. For engine/session alone.
#pragma once

#include "engine/session/Device.h"
#include "targets/TargetDescription.h"

namespace plim::session {

/// Completes a target by the devices that the host brings. InvalidArgument for one that cannot be.
Status addDevices(const Devices &devices, targets::TargetDescription &target);

/// The GPUs of the target that the host brings no device for, which may copy what they do not reach.
Devices addGpus(const Devices &devices, targets::TargetDescription &target);

} // namespace plim::session
