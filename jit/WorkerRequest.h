// WorkerRequest: a compilation as a compile worker is asked for it, and how requests and failures
// are written as JSON.
//
// The source itself is sent beside it (WorkerProtocol.h). Pure functions; any thread. Texts that
// are no UTF-8 arrive with replacement characters.
#pragma once

#include "jit/Compiler.h"

#include <string>
#include <string_view>
#include <vector>

namespace plim::jit {

/// By value: nothing of it points at the host's memory.
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

/// The request for a compilation with these options, of the part of the target that code depends
/// on.
WorkerRequest requestFor(std::string_view sourceName, const targets::TargetDescription &target,
                         const CompileOptions &options);

std::string toJson(const WorkerRequest &request);

/// A key: all that decides what a compilation gives, but for the source, the target, the builds of
/// the compilers and what compilers of devices do. That is the request without what only says how
/// the compiler works (cache, assembly, IR, progress), and its texts byte for byte, even if they
/// are no UTF-8.
std::string inputsOf(std::string_view sourceName, const CompileOptions &options);

/// The inverse of toJson(WorkerRequest). InvalidArgument for what is no such text,
/// FailedPrecondition for what another version of the library wrote.
StatusOr<WorkerRequest> requestFromJson(std::string_view json);

/// Message and diagnostics of a compilation that failed; the code is sent beside them.
std::string toJson(const Status &failure);
/// The inverse, with that code. InvalidArgument for what is no such text.
Status failureFromJson(StatusCode code, std::string_view json);

/// A dispatch for the compiler of a device.
struct DeviceRequest {
  std::string device, name, text;
};

std::string toJson(const DeviceRequest &request);
/// The inverse. InvalidArgument for what is no such text.
/// The inverse. InvalidArgument for what is no such text.
StatusOr<DeviceRequest> deviceRequestFromJson(std::string_view json);

} // namespace plim::jit
