#include "jit/WorkerRequest.h"

#include "support/ByteStream.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <utility>

using namespace llvm;

namespace plim {

/// As llvm::json reads it.
static bool fromJSON(const json::Value &value, Diagnostic &diagnostic, json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t severity = 0, line = 0, column = 0, endLine = 0, endColumn = 0;
  if (!map || !map.map("severity", severity) || !map.map("file", diagnostic.file) ||
      !map.map("line", line) || !map.map("column", column) || !map.map("end_line", endLine) ||
      !map.map("end_column", endColumn) || !map.map("message", diagnostic.message))
    return false;
  auto clamped = [](int64_t number) {
    return uint32_t(std::clamp<int64_t>(number, 0, UINT32_MAX));
  };
  diagnostic.severity = Diagnostic::Severity(std::clamp<int64_t>(severity, 0, 3));
  diagnostic.line = clamped(line);
  diagnostic.column = clamped(column);
  diagnostic.endLine = clamped(endLine);
  diagnostic.endColumn = clamped(endColumn);
  return true;
}

} // namespace plim

namespace plim::jit {

namespace {

std::string print(json::Object object) {
  return formatv("{0}", json::Value(std::move(object))).str();
}

std::vector<std::string> fixUTF8(std::vector<std::string> texts) {
  for (std::string &text : texts)
    text = json::fixUTF8(text);
  return texts;
}

Status malformed(Error error) {
  return invalidArgumentError("what the compile worker was asked for: " +
                              toString(std::move(error)));
}

} // namespace

WorkerRequest requestFor(std::string_view sourceName, const targets::TargetDescription &target,
                         const CompileOptions &options) {
  WorkerRequest request;
  request.sourceName = sourceName;
  request.target = targets::compiledPart(target);
  request.options = options;
  for (const DeviceCompiler &device : options.devices)
    request.devices.push_back(device.device);
  // JSON holds no other paths.
  if (options.cache && json::isUTF8(options.cache->folder())) {
    request.cacheFolder = options.cache->folder();
  }
  request.wantsAssembly = options.assembly != nullptr;
  request.wantsProgress = options.progress != nullptr;
  return request;
}

std::string inputsOf(std::string_view sourceName, const CompileOptions &options) {
  WorkerRequest request = requestFor(sourceName, {}, options);
  request.cacheFolder.clear();
  request.wantsAssembly = request.wantsProgress = false;
  request.options.irAfter.clear();
  ByteWriter writer;
  writer.text(toJson(request));
  // As they are: JSON has other bytes for those that are no UTF-8.
  for (std::string_view text :
       {sourceName, std::string_view(options.policy), std::string_view(options.preferredDevice),
        std::string_view(options.specialization.function), std::string_view(options.onlyFunction)})
    writer.text(text);
  for (const std::vector<std::string> *limits : {&options.engineLimits, &options.loadLimits})
    writer.list(*limits, [&](const std::string &limit) { writer.text(limit); });
  return std::move(writer.bytes);
}

std::string toJson(const WorkerRequest &request) {
  const CompileOptions &options = request.options;
  // Who adds an option has to say here what becomes of it: what decides about code goes into the JSON.
  const auto &[policy, engineLimits, loadLimits, oracle, numerics, guarded,
               /*not sent:*/ parallelFor, sourceOwner, /*by name:*/ devices, devicesWithoutCompiler,
               preferredDevice, deviceMemories,
               /*in the request:*/ cache, assembly, irAfter, /*not sent:*/ takeIr,
               /*in the request:*/ exportName, onlyFunction, describesOnly, progress,
               /*not sent:*/ witness, /*in the request:*/ specialization,
               /*not sent:*/ stop, timeout, begin, profiler] = options;
  (void)parallelFor, (void)sourceOwner, (void)devices, (void)cache, (void)assembly, (void)takeIr,
      (void)progress, (void)witness, (void)stop, (void)timeout, (void)begin, (void)profiler;
  return print(json::Object{{"version", artifactVersion},
                            {"source_name", json::fixUTF8(request.sourceName)},
                            {"target", json::fixUTF8(targets::toJson(request.target))},
                            {"policy", json::fixUTF8(policy)},
                            {"engine_limits", fixUTF8(engineLimits)},
                            {"load_limits", fixUTF8(loadLimits)},
                            {"oracle", oracle},
                            {"strict", numerics == Numerics::Strict},
                            {"guarded", guarded},
                            {"devices", fixUTF8(request.devices)},
                            {"devices_without_compiler", fixUTF8(devicesWithoutCompiler)},
                            {"preferred_device", json::fixUTF8(preferredDevice)},
                            {"device_memories", fixUTF8(deviceMemories)},
                            {"export_name", json::fixUTF8(exportName)},
                            {"only_function", json::fixUTF8(onlyFunction)},
                            {"describes_only", describesOnly},
                            {"specialized_function", json::fixUTF8(specialization.function)},
                            {"specialized_extents", specialization.extents},
                            {"cache_folder", request.cacheFolder},
                            {"assembly", request.wantsAssembly},
                            {"ir_after", fixUTF8(irAfter)},
                            {"progress", request.wantsProgress},
                            {"threads", request.threads}});
}

StatusOr<WorkerRequest> requestFromJson(std::string_view text) {
  Expected<json::Value> value = json::parse(StringRef(text.data(), text.size()));
  if (!value)
    return malformed(value.takeError());
  json::Path::Root root("request");
  json::ObjectMapper map(*value, root);
  WorkerRequest request;
  CompileOptions &options = request.options;
  int64_t version = 0, threads = 1;
  bool isStrict = false;
  std::string target;
  if (!map || !map.map("version", version))
    return malformed(root.getError());
  if (version != artifactVersion)
    return failedPreconditionError("the compile worker is of another version of the library");
  if (!map.map("source_name", request.sourceName) || !map.map("target", target) ||
      !map.map("policy", options.policy) || !map.map("engine_limits", options.engineLimits) ||
      !map.map("load_limits", options.loadLimits) || !map.map("oracle", options.oracle) ||
      !map.map("strict", isStrict) || !map.map("guarded", options.guarded) ||
      !map.map("devices", request.devices) ||
      !map.map("devices_without_compiler", options.devicesWithoutCompiler) ||
      !map.map("preferred_device", options.preferredDevice) ||
      !map.map("device_memories", options.deviceMemories) ||
      !map.map("export_name", options.exportName) ||
      !map.map("only_function", options.onlyFunction) ||
      !map.map("describes_only", options.describesOnly) ||
      !map.map("specialized_function", options.specialization.function) ||
      !map.map("specialized_extents", options.specialization.extents) ||
      !map.map("cache_folder", request.cacheFolder) ||
      !map.map("assembly", request.wantsAssembly) || !map.map("ir_after", options.irAfter) ||
      !map.map("progress", request.wantsProgress) || !map.map("threads", threads))
    return malformed(root.getError());
  options.numerics = isStrict ? Numerics::Strict : Numerics::Default;
  request.threads = unsigned(std::clamp<int64_t>(threads, 1, 1024));
  PLIM_ASSIGN_OR_RETURN(request.target, targets::fromJson(target));
  return request;
}

std::string toJson(const Status &failure) {
  json::Array diagnostics;
  for (const Diagnostic &diagnostic : failure.diagnostics())
    diagnostics.push_back(json::Object{{"severity", int64_t(diagnostic.severity)},
                                       {"file", json::fixUTF8(diagnostic.file)},
                                       {"line", diagnostic.line},
                                       {"column", diagnostic.column},
                                       {"end_line", diagnostic.endLine},
                                       {"end_column", diagnostic.endColumn},
                                       {"message", json::fixUTF8(diagnostic.message)}});
  const std::string_view message = failure.message();
  return print(json::Object{{"message", json::fixUTF8(StringRef(message.data(), message.size()))},
                            {"diagnostics", std::move(diagnostics)}});
}

Status failureFromJson(StatusCode code, std::string_view text) {
  Expected<json::Value> value = json::parse(StringRef(text.data(), text.size()));
  if (!value)
    return malformed(value.takeError());
  json::Path::Root root("failure");
  json::ObjectMapper map(*value, root);
  std::string message;
  std::vector<Diagnostic> diagnostics;
  if (!map || !map.map("message", message) || !map.map("diagnostics", diagnostics))
    return malformed(root.getError());
  return Status(code, std::move(message), std::move(diagnostics));
}

std::string toJson(const DeviceRequest &request) {
  return print(json::Object{{"device", json::fixUTF8(request.device)},
                            {"name", json::fixUTF8(request.name)},
                            {"text", json::fixUTF8(request.text)}});
}

StatusOr<DeviceRequest> deviceRequestFromJson(std::string_view text) {
  Expected<json::Value> value = json::parse(StringRef(text.data(), text.size()));
  if (!value)
    return malformed(value.takeError());
  json::Path::Root root("dispatch");
  json::ObjectMapper map(*value, root);
  DeviceRequest request;
  if (!map || !map.map("device", request.device) || !map.map("name", request.name) ||
      !map.map("text", request.text))
    return malformed(root.getError());
  return request;
}

} // namespace plim::jit
