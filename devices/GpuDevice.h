// GpuDevice: a GPU that runs code of dispatches, behind whichever driver it has.
//
// openVulkan() and openCuda() open the driver at run time; nothing of it is needed to build. A launch copies
// what the device cannot reach, runs the kernels in order and waits for their end.
#pragma once

#include "devices/GpuCode.h"
#include "support/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace plim::devices {

/// Numbers and memory of one launch. Borrowed.
struct GpuLaunch {
  struct Buffer {
    void *data = nullptr; // of the host, or what GpuDevice::allocate() gave, or behind it
    size_t bytes = 0;
  };
  struct Kernel {
    /// As the kernel gets them: in Vulkan's packing, or 8 bytes for each word, whose low bytes count, for CUDA.
    std::span<const std::byte> words;
    uint32_t workgroups = 0; // 0: the kernel does not run
    int64_t iterations = 0;  // of an invocation
  };
  std::span<const Buffer> arguments; // empty for scalars
  std::span<const size_t> temporaryBytes;
  std::span<const Kernel> kernels;
};

/// Code that is loaded. Threads: any, for all methods.
class GpuProgram {
public:
  virtual ~GpuProgram() = default;
  virtual const GpuCode &code() const = 0;
  /// Returns when the results are there. Arguments in memory of the host are copied in where the code reads them and out
  /// where it writes them, those of kernels that run, but for constants (GpuDevice::keepConstant). A launch like an earlier
  /// one takes no memory from the system, unless more run at once than before.
  /// Unavailable once the device is lost, ResourceExhausted without memory, OutOfRange for a buffer larger than kernels of the
  /// device reach.
  virtual Status run(const GpuLaunch &launch) = 0;
};

/// Outlives its programs: they keep it. Threads: any, for all methods.
class GpuDevice {
public:
  virtual ~GpuDevice() = default;
  /// As the driver calls it.
  virtual const std::string &model() const = 0;
  /// FailedPrecondition for code of the other kind, or if the device lacks what it needs.
  virtual StatusOr<std::shared_ptr<GpuProgram>> load(GpuCode code) = 0;
  /// Memory that the device alone reaches: an address to compute with, which the host cannot read. Arguments that begin
  /// in it are used where they are. On Vulkan those whose distance from its begin is no multiple of what the device
  /// demands, 256 at most, are copied on the device. Null without memory, and on Vulkan for more than its largest buffer.
  /// `alignment` is a power of two, at most 256.
  virtual void *allocate(size_t bytes, size_t alignment) = 0;
  /// What allocate() gave, with the same `bytes`; no launch uses it. All is given back before the last holder of the device
  /// goes.
  virtual void release(void *memory, size_t bytes) = 0;
  /// Nobody writes these bytes of the host's memory, or gives them back, until the result is destroyed. Arguments in them
  /// that the code only reads are copied once: the first launch that has one copies all the bytes, and later ones use
  /// them as they use memory that allocate() gave. Without memory for it they copy as ever. Constants may overlap, and the
  /// same may be kept several times.
  virtual std::shared_ptr<const void> keepConstant(const void *data, size_t bytes) = 0;
};

/// The device at this position, from 0, among those that targets/vulkan and targets/cuda describe. Unavailable without a
/// loader, a driver, or that many devices. One that is open and not lost is shared.
StatusOr<std::shared_ptr<GpuDevice>> openVulkan(int ordinal,
                                                const std::string &library = "libvulkan.so.1");
StatusOr<std::shared_ptr<GpuDevice>> openCuda(int ordinal,
                                              const std::string &library = "libcuda.so.1");

} // namespace plim::devices
