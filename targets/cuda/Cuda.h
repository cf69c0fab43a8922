// NVIDIA devices, read through the driver API of a library opened at run time.
//
// Declares the few entry points itself, so it builds without CUDA. Must not know tags or other
// probes. The driver, once opened, stays in the process with the threads it starts; nothing else
// lasts. Any thread; not between fork and exec. The first call takes as long as the driver's own
// start (tens to hundreds of milliseconds where there is a device).
#pragma once

#include "targets/TargetDescription.h"

namespace plim::targets {

/// Appends a device "cuda<n>" for each that the driver shows, and its memories:
///   cuda<n>.global   its own memory, reached by it alone;
///   cuda<n>.shared   of one workgroup, as large as a kernel may ask for; `scratchBytes` of the
///                    device is what every kernel gets without asking;
///   cuda<n>.managed  pages that move between host and device, where both may use them at once;
///   cuda.pinned      host memory that all devices map at the host's addresses.
/// A device that reads pageable host memory joins the `accessibleBy` of the host's.
///
/// Ok and nothing appended where there is no driver or no device. With `target` unchanged:
/// Unavailable where there is a driver that fails, InvalidArgument where its answers do not make a
/// target or their names are taken. `target` needs its host device first. `library` is as dlopen
/// takes it.
Status queryCuda(TargetDescription &target, const std::string &library = "libcuda.so.1");

} // namespace plim::targets
