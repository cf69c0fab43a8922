#include "tests/unit/session/EmulatedDevice.h"

#include "engine/session/Engine.h"
#include "jit/Artifact.h"

#include <cstring>

namespace plim::testing {

namespace {

using runtime::Buffer;
using runtime::ElementType;
using runtime::Value;

/// Code that is ready to be launched.
struct Executable {
  explicit Executable(Function function, std::shared_ptr<DeviceLog> log)
      : function(std::move(function)), log(std::move(log)) {
    ++this->log->loaded;
  }
  ~Executable() { --log->loaded; }

  Function function;
  std::shared_ptr<DeviceLog> log;
};

StatusOr<Value> valueOf(const jit::ValueType &type, const plim_view &view, bool isWritten) {
  ElementType element = *runtime::elementTypeFromName(type.element);
  if (!type.isShaped) {
    runtime::Scalar scalar{element, 0};
    std::memcpy(&scalar.bits, view.data, static_cast<size_t>(elementBytes(element)));
    return Value(scalar);
  }
  PLIM_ASSIGN_OR_RETURN(Buffer buffer,
                        Buffer::wrap(view.data, element, {view.sizes, type.shape.size()},
                                     /*readOnly=*/!isWritten, nullptr, nullptr));
  return Value(std::move(buffer));
}

Status run(const Executable &executable, const plim_view *arguments, const plim_view *results) {
  const jit::FunctionSignature &signature = executable.function.signature();
  std::vector<Value> values, made(signature.results.size());
  std::vector<Buffer> outputs;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    PLIM_ASSIGN_OR_RETURN(Value value, valueOf(signature.arguments[i], arguments[i], false));
    values.push_back(std::move(value));
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    PLIM_ASSIGN_OR_RETURN(Value value, valueOf(signature.results[i], results[i], true));
    outputs.push_back(std::get<Buffer>(value));
  }
  CallOptions options;
  options.outputs = outputs;
  return executable.function.callInto(values, made, options);
}

plim_code launch(plim_context *context, void *user, const plim_view *arguments,
                 const plim_view *results) {
  const auto &executable = *static_cast<const Executable *>(user);
  ++executable.log->launches;
  Status status = run(executable, arguments, results);
  return status.ok() ? 0
                     : plim_rt_fail(context, static_cast<plim_code>(status.code()),
                                    status.toString().c_str());
}

} // namespace

std::shared_ptr<const Device> makeEmulatedDevice(std::string name, std::shared_ptr<DeviceLog> log) {
  if (!log)
    log = std::make_shared<DeviceLog>();
  StatusOr<std::shared_ptr<Engine>> made = Engine::create({.threads = 1});
  if (!made.ok())
    std::abort();
  std::shared_ptr<Engine> engine = std::move(*made);
  auto device = std::make_shared<Device>();
  device->name = std::move(name);
  device->version = "1";
  device->compile = [engine, log](std::string_view name,
                                  std::string_view text) -> StatusOr<std::string> {
    {
      std::lock_guard lock(log->mutex);
      log->texts.emplace_back(text);
    }
    StatusOr<jit::Artifact> artifact = engine->compile(text, std::string(name) + ".mlir", {});
    if (!artifact.ok() &&
        artifact.status().message().find("unsupported element type") != std::string_view::npos)
      return unimplementedError(std::string(artifact.status().message()));
    PLIM_RETURN_IF_ERROR(artifact.status());
    return jit::serialize(*artifact);
  };
  device->load = [engine, log](std::string_view name,
                               std::string_view code) -> StatusOr<HostFunction> {
    ++log->loads;
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module, engine->load(code, name));
    PLIM_ASSIGN_OR_RETURN(Function function, module->lookup(name));
    auto executable = std::make_shared<Executable>(std::move(function), log);
    return HostFunction{.function = &launch, .user = executable.get(), .owner = executable};
  };
  return device;
}

} // namespace plim::testing
