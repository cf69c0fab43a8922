// GpuLaunch: what a launch computes before a driver sees it, and the function that an engine calls for one.
//
// A dispatch of a device gets views (plim_abi.h). Extents and scalars become the numbers of GpuCode, those become
// sizes, words and workgroups, checked here once for all drivers.
#pragma once

#include "devices/GpuCode.h"
#include "devices/GpuDevice.h"
#include "engine/abi/plim_abi.h"
#include "support/Status.h"

#include <memory>
#include <vector>

namespace plim::devices {

/// Storage of one launch at a time, for one code. An instance belongs to one thread.
class LaunchNumbers {
public:
  /// Takes all memory that it needs. `code` is one that verify() takes, and outlives this object.
  explicit LaunchNumbers(const GpuCode &code);

  /// `arguments`: a view for each argument of the code, tensors dense. OutOfRange for what does not fit or divides by
  /// zero, InvalidArgument for an extent below zero. Takes no memory unless it fails.
  Status compute(const plim_view *arguments);

  /// Of the last compute() that succeeded; points into this object and at what the views point at.
  GpuLaunch launch() const { return {buffers, temporaryBytes, kernels}; }

private:
  Status computeNumbers(const plim_view *arguments);
  Status computeBuffers(const plim_view *arguments);
  Status computeTemporaries();
  Status computeKernels();
  StatusOr<size_t> bytesOf(size_t argument, const int64_t *sizes) const;

  const GpuCode &code;
  std::vector<int64_t> numbers;
  std::vector<GpuLaunch::Buffer> buffers;
  std::vector<size_t> temporaryBytes;
  std::vector<GpuLaunch::Kernel> kernels;
  std::vector<std::byte> words; // of all kernels
};

/// As plim_rt_fail: latches why a call fails, and returns `code`.
using ReportFailure = plim_code (*)(plim_context *context, plim_code code, const char *message);

/// For the engine to bind to a dispatch. `owner` keeps what `user` points at, the program among it.
struct LaunchFunction {
  plim_host_function function = nullptr;
  void *user = nullptr;
  std::shared_ptr<const void> owner;
};

/// A function that runs the program: any number of threads at once. It does not look at the results' views, as the
/// destinations are arguments. `report`: plim_rt_fail, which is the engine's to link.
LaunchFunction makeLaunchFunction(std::shared_ptr<GpuProgram> program, ReportFailure report);

} // namespace plim::devices
