// GpuDevices: the GPUs of a target that the engine runs by itself, as devices like those that a host brings.
#pragma once

#include "engine/session/Device.h"

#include <memory>
#include <string>
#include <string_view>

namespace plim::session {

/// The device "vulkan0", "cuda1"...: loads code, allocates memory that it alone reaches, and keeps constants there. Its driver is opened when it is
/// asked for either, and stays open as long as anybody uses it; then, without it, load fails with Unavailable. Has no
/// compiler: that is jit's. Null for other names.
std::shared_ptr<const Device> makeGpuDevice(const std::string &name);

/// Does code for such a device take the arguments of this signature (jit::ExternalFunction)? Launches read them as the code
/// says. DataLoss if not.
Status checkGpuCode(std::string_view signature, std::string_view code);

} // namespace plim::session
