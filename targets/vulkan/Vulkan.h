// Vulkan devices, read through the loader opened at run time.
//
// Uses the headers only. Must not know tags or other probes. Makes an instance and destroys it; the
// loader and the drivers it brings stay in the process. Any thread. Takes as long as the drivers'
// own start (tens of milliseconds).
#pragma once

#include "targets/TargetDescription.h"

namespace plim::targets {

/// Appends a device "vulkan<n>" for each physical device of Vulkan 1.1 or later, and its memories:
///   vulkan<n>.heap<m>  one for each heap: `Unified` if it is the device's own and the host can map
///                      it, `Device` if only the device reaches it, `Pinned` if it is the host's;
///   vulkan<n>.shared   of one workgroup.
/// `features` are the device's optional features that decide what SPIR-V may be generated, by the
/// names of the Vulkan headers.
///
/// Ok and nothing appended where there is no loader, no driver or no device. With `target`
/// unchanged: Unavailable where one fails, InvalidArgument where its answers do not make a target
/// or their names are taken. `target` needs its host device first. `library` is as dlopen takes it.
Status queryVulkan(TargetDescription &target, const std::string &library = "libvulkan.so.1");

} // namespace plim::targets
