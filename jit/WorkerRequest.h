// WorkerRequest: a compilation as a compile worker is asked for it.
#pragma once

#include "jit/Compiler.h"

#include <string>
#include <string_view>
#include <vector>

namespace plim::jit {

struct WorkerRequest {
  std::string sourceName;
  targets::TargetDescription target;
  /// Without what only the host has: functions, owners, the profiler.
  CompileOptions options;
  /// Those of options.devices.
  std::vector<std::string> devices;
  /// The folder of options.cache; empty: there is none.
  std::string cacheFolder;
  bool wantsAssembly = false, wantsProgress = false;
  /// That code generation may use.
  unsigned threads = 1;
};

WorkerRequest requestFor(std::string_view sourceName, const targets::TargetDescription &target,
                         const CompileOptions &options);

std::string toJson(const WorkerRequest &request);

/// All that decides what a compilation gives besides the source, the target, the builds of the compilers and what
/// compilers of devices do: the request without what it says of how the compiler works, and its texts as they are.
std::string inputsOf(std::string_view sourceName, const CompileOptions &options);

/// The inverse. InvalidArgument, or FailedPrecondition for what another version of the library wrote.
StatusOr<WorkerRequest> requestFromJson(std::string_view json);

/// What a compilation failed with.
std::string toJson(const Status &failure);
/// The inverse, with the code that is told apart. InvalidArgument for what is no such text.
Status failureFromJson(StatusCode code, std::string_view json);

/// A dispatch for the compiler of a device.
struct DeviceRequest {
  std::string device, name, text;
};

std::string toJson(const DeviceRequest &request);
StatusOr<DeviceRequest> deviceRequestFromJson(std::string_view json);

} // namespace plim::jit
