#include "tools/ModuleCall.h"

#include "jit/ArtifactCache.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <charconv>

namespace plim::tools {

using runtime::Value;

StatusOr<std::shared_ptr<Engine>> makeEngine(const ModuleOptions &options,
                                             std::shared_ptr<Profiler> profiler) {
  EngineOptions engine;
  if (!options.target.empty())
    engine.target = options.target;
  else if (!options.device.empty() && options.devices.empty())
    engine.target = "host";
  engine.targetOverrides = options.overrides;
  engine.limits = options.limits;
  if (!options.policy.empty())
    engine.policy = options.policy;
  engine.numerics = options.numerics.value_or(jit::Numerics::Default);
  engine.threads = options.threads;
  if (!options.inProcess)
    engine.compileWorkers.emplace();
  engine.checked = options.checked;
  engine.specialization.mode = options.specialization;
  engine.devices = options.devices;
  engine.profiler = std::move(profiler);
  if (options.cache || !options.cacheFolder.empty())
    engine.cacheFolder =
        options.cacheFolder.empty() ? jit::ArtifactCache::defaultFolder() : options.cacheFolder;
  engine.logger = makeStderrLogger(LogLevel::Warning);
  return Engine::create(std::move(engine));
}

Status checkPrecompiled(const ModuleOptions &options) {
  std::string late;
  for (auto [isGiven, name] :
       {std::pair(!options.target.empty(), "--target"),
        {!options.overrides.empty(), "--set"},
        {!options.limits.empty(), "--limit"},
        {!options.policy.empty(), "--policy"},
        {!options.device.empty(), "--device"},
        {options.oracle, "--oracle"},
        {options.numerics.has_value(), "--numerics"},
        {options.specialization != Specialization::None, "--specialize-hot"}})
    if (isGiven)
      late += (late.empty() ? "" : ", ") + std::string(name);
  return late.empty()
             ? okStatus()
             : invalidArgumentError(options.file + " is compiled already, too late for: " + late);
}

StatusOr<std::vector<Value>> readInputs(const CallText &text, const PoolPtr &pool) {
  std::vector<Value> inputs;
  for (size_t i = 0; i < text.inputs.size(); ++i) {
    StatusOr<Value> value = parseValue(text.inputs[i], pool);
    if (!value.ok())
      return value.status().withContext("input #" + std::to_string(i));
    inputs.push_back(std::move(*value));
  }
  return inputs;
}

StatusOr<Parameters> readParameters(const CallText &call, const PoolPtr &pool) {
  const Logger log = makeStderrLogger(LogLevel::Info);
  Parameters parameters;
  auto add = [&](const std::string &name, runtime::Buffer buffer) {
    return parameters.emplace(name, std::move(buffer)).second
               ? okStatus()
               : invalidArgumentError("parameter '" + name + "' is bound twice");
  };
  for (const std::string &path : call.parameterFiles) {
    PLIM_ASSIGN_OR_RETURN(Parameters file, loadParameters(path, log));
    for (const auto &[name, buffer] : file)
      PLIM_RETURN_IF_ERROR(add(name, buffer).withContext(path));
  }
  for (const std::string &text : call.parameters) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalidArgumentError("parameter '" + text + "' must be NAME=VALUE");
    std::string name = text.substr(0, equals);
    std::string_view value = std::string_view(text).substr(equals + 1);
    if (value.starts_with('@')) {
      PLIM_ASSIGN_OR_RETURN(runtime::Buffer buffer,
                            loadParameter(std::string(value.substr(1)), log));
      PLIM_RETURN_IF_ERROR(add(name, std::move(buffer)));
      continue;
    }
    StatusOr<Value> parsed = parseValue(value, pool);
    if (!parsed.ok())
      return parsed.status().withContext("parameter '" + name + "'");
    const auto *buffer = std::get_if<runtime::Buffer>(&*parsed);
    if (!buffer)
      return invalidArgumentError("parameter '" + name + "' must be a tensor");
    PLIM_RETURN_IF_ERROR(add(name, *buffer));
  }
  return parameters;
}

StatusOr<Pools> makePools(const CallText &call, const PoolPtr &pool,
                          std::vector<runtime::Buffer> &memories) {
  Pools pools;
  for (const std::string &text : call.pools) {
    size_t equals = text.find('=');
    std::string_view digits = std::string_view(text).substr(std::min(equals + 1, text.size()));
    int64_t bytes = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (equals == std::string::npos || error != std::errc() ||
        end != digits.data() + digits.size() || bytes < 0)
      return invalidArgumentError("pool '" + text + "' must be NAME=BYTES");
    StatusOr<runtime::Buffer> memory =
        runtime::Buffer::allocate(pool, runtime::ElementType::I8, std::span(&bytes, 1));
    if (!memory.ok())
      return memory.status().withContext("pool '" + text + "'");
    pools[text.substr(0, equals)] = {memory->mutableData(), static_cast<size_t>(bytes)};
    memories.push_back(std::move(*memory));
  }
  return pools;
}

StatusOr<Function> chooseFunction(const Module &module, const CallText &call) {
  if (!call.function.empty())
    return module.lookup(call.function);
  if (module.functions().size() != 1)
    return invalidArgumentError("the module has " + std::to_string(module.functions().size()) +
                                " public functions: choose one with --function");
  return module.lookup(module.functions()[0].name);
}

Status adaptScalars(const jit::FunctionSignature &signature, const PoolPtr &pool,
                    std::vector<Value> &inputs) {
  for (size_t i = 0; i < std::min(inputs.size(), signature.arguments.size()); ++i) {
    const auto *scalar = std::get_if<runtime::Scalar>(&inputs[i]);
    if (!scalar || !signature.arguments[i].isShaped || !signature.arguments[i].shape.empty())
      continue;
    auto bytes = std::as_bytes(std::span(&scalar->bits, 1));
    PLIM_ASSIGN_OR_RETURN(
        runtime::Buffer buffer,
        runtime::Buffer::fromCopy(pool, scalar->type, {},
                                  bytes.first(static_cast<size_t>(elementBytes(scalar->type)))));
    inputs[i] = std::move(buffer);
  }
  return okStatus();
}

} // namespace plim::tools
