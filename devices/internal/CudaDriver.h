// CudaDriver: an opened device of CUDA, its primary context, and memory in it.
//
// The driver's ABI is written down here: names and numbers are those of cuda.h. What runs on it is in
// devices/Cuda.cpp. Threads: any, for all methods.
#pragma once

#include "support/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace plim::devices::internal {

using CuResult = int;
using CuDevice = int;
using CuAddress = unsigned long long;
using CuContext = struct CuContextObject *;
using CuFunction = struct CuFunctionObject *;
using CuModule = struct CuModuleObject *;
using CuStream = struct CuStreamObject *;

// Member, symbol, parameters.
#define PLIM_CUDA_CALLS(CALL)                                                                      \
  CALL(init, cuInit, (unsigned flags))                                                             \
  CALL(deviceGet, cuDeviceGet, (CuDevice * device, int ordinal))                                   \
  CALL(deviceGetCount, cuDeviceGetCount, (int *count))                                             \
  CALL(deviceGetName, cuDeviceGetName, (char *name, int length, CuDevice device))                  \
  CALL(deviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CuDevice device))     \
  CALL(primaryContextRetain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))     \
  CALL(primaryContextRelease, cuDevicePrimaryCtxRelease_v2, (CuDevice device))                     \
  CALL(contextPush, cuCtxPushCurrent_v2, (CuContext context))                                      \
  CALL(contextPop, cuCtxPopCurrent_v2, (CuContext * context))                                      \
  CALL(moduleLoad, cuModuleLoadDataEx,                                                             \
       (CuModule * module, const void *image, unsigned count, int *options, void **values))        \
  CALL(moduleGetFunction, cuModuleGetFunction,                                                     \
       (CuFunction * function, CuModule module, const char *name))                                 \
  CALL(functionSetAttribute, cuFuncSetAttribute, (CuFunction function, int attribute, int value))  \
  CALL(moduleUnload, cuModuleUnload, (CuModule module))                                            \
  CALL(launchKernel, cuLaunchKernel,                                                               \
       (CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,      \
        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CuStream stream,                   \
        void **parameters, void **extra))                                                          \
  CALL(streamCreate, cuStreamCreate, (CuStream * stream, unsigned flags))                          \
  CALL(streamDestroy, cuStreamDestroy_v2, (CuStream stream))                                       \
  CALL(streamSynchronize, cuStreamSynchronize, (CuStream stream))                                  \
  CALL(memoryAllocate, cuMemAlloc_v2, (CuAddress * address, size_t bytes))                         \
  CALL(memoryFree, cuMemFree_v2, (CuAddress address))                                              \
  CALL(copyToDevice, cuMemcpyHtoDAsync_v2,                                                         \
       (CuAddress to, const void *from, size_t bytes, CuStream stream))                            \
  CALL(copyToHost, cuMemcpyDtoHAsync_v2,                                                           \
       (void *to, CuAddress from, size_t bytes, CuStream stream))                                  \
  CALL(getErrorName, cuGetErrorName, (CuResult error, const char **name))                          \
  CALL(getErrorString, cuGetErrorString, (CuResult error, const char **text))

struct CudaCalls {
#define CALL(member, symbol, parameters) CuResult(*member) parameters = nullptr;
  PLIM_CUDA_CALLS(CALL)
#undef CALL
};

class CudaDriver {
public:
  /// The device at this position. Unavailable where there is none.
  static StatusOr<std::unique_ptr<CudaDriver>> open(int ordinal, const std::string &library);
  ~CudaDriver();
  CudaDriver(const CudaDriver &) = delete;
  CudaDriver &operator=(const CudaDriver &) = delete;

  /// What a call answered. Unavailable, from then on, where the context does not survive the error; ResourceExhausted
  /// without memory; FailedPrecondition for code that the driver does not take; otherwise Internal.
  Status check(CuResult result, const char *call);
  bool isLost() const { return lost.load(std::memory_order_relaxed); }
  /// Unavailable if it is lost.
  Status checkAlive() const;

  /// Makes the context that of the thread, as long as this object lives.
  class Current {
  public:
    explicit Current(CudaDriver &driver);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;
    Status status; // nothing may be called unless it is ok

  private:
    CudaDriver &driver;
  };

  // As it is after open().
  CudaCalls calls;
  std::string model;
  int capability = 0; // 90 for sm_90
  uint32_t maxBlockThreads = 0;
  uint32_t maxBlock[3] = {};
  uint32_t maxWorkgroupMemory = 0; // bytes that a launch may ask for

private:
  CudaDriver() = default;
  Status loadCalls(void *library);
  Status findDevice(int ordinal);
  std::string describe(CuResult result) const;

  CuDevice device = 0;
  CuContext context = nullptr;
  std::atomic<bool> lost = false;
};

} // namespace plim::devices::internal
