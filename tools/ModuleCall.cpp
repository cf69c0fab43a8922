#include "tools/ModuleCall.h"

#include "importers/Import.h"
#include "jit/ArtifactCache.h"
#include "support/Json.h"
#include "support/Nearest.h"
#include "targets/Resolve.h"
#include "tools/Text.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <unistd.h>

namespace plim::tools {

using runtime::Value;

namespace {

struct Assignment {
  std::string name;
  std::string_view value; // of the text
};

StatusOr<Assignment> parseParameter(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return invalidArgumentError("parameter '" + std::string(text) + "' must be NAME=VALUE");
  return Assignment{std::string(text.substr(0, equals)), text.substr(equals + 1)};
}

struct PoolSize {
  std::string name;
  int64_t bytes = 0;
};

StatusOr<PoolSize> parsePool(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view digits =
      text.substr(equals == std::string_view::npos ? text.size() : equals + 1);
  int64_t bytes = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  if (equals == std::string_view::npos || error != std::errc() ||
      end != digits.data() + digits.size() || bytes < 0)
    return invalidArgumentError("pool '" + std::string(text) + "' must be NAME=BYTES");
  return PoolSize{std::string(text.substr(0, equals)), bytes};
}

/// Names that paths of fields are made of.
void collectNames(const Json &json, std::vector<std::string> &names) {
  if (const Json::Array *array = json.array())
    for (const Json &element : *array)
      collectNames(element, names);
  if (const Json::Object *object = json.object())
    for (const Json::Member &member : *object) {
      names.push_back(member.key);
      if (member.key == "name" && member.value.string())
        names.push_back(*member.value.string());
      collectNames(member.value, names);
    }
}

/// The first name in the path of `assignment` that no field has, as a question.
std::string fieldSuggestion(const targets::TargetDescription &target, std::string_view assignment) {
  std::vector<std::string> names;
  if (StatusOr<Json> json = Json::parse(targets::toJson(target)); json.ok())
    collectNames(*json, names);
  std::string_view path = assignment.substr(0, assignment.find('='));
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('['));
    if (std::ranges::find(names, name) == names.end())
      return suggestion(name, names);
  }
  return "";
}

} // namespace

Status checkTarget(const std::string &target, const std::vector<std::string> &overrides) {
  const bool isFile = target.ends_with(".json");
  // This machine is known to be known, and its accelerators' drivers take long to load.
  if (overrides.empty() && (target.empty() || isFile || target == "host" || target == "host-cpu"))
    return okStatus();
  StatusOr<targets::TargetDescription> description =
      targets::resolveTarget(target.empty() ? "host-cpu" : target, {});
  if (!description.ok())
    return isFile ? okStatus() : description.status();
  for (const std::string &each : overrides)
    if (Status status = targets::overrideField(*description, each); !status.ok())
      return {status.code(), std::string(status.message()) + fieldSuggestion(*description, each)};
  return okStatus();
}

Status checkParameter(const std::string &text) {
  PLIM_ASSIGN_OR_RETURN(Assignment parameter, parseParameter(text));
  return checkValue(parameter.value);
}

Status checkPool(const std::string &text) { return parsePool(text).status(); }

Status checkWritable(const std::string &path) {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  int error = path.empty() ? ENOENT : 0;
  if (std::filesystem::is_directory(path, none))
    error = EISDIR;
  else if (access(path.c_str(), F_OK) == 0)
    error = access(path.c_str(), W_OK) == 0 ? 0 : errno;
  else if (error == 0 && access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
    error = errno;
  return error == 0 ? okStatus()
                    : unavailableError("cannot write '" + path + "': " + std::strerror(error));
}

LoadOptions loadOptions(const ModuleOptions &options, std::ostream &err) {
  LoadOptions load;
  load.oracle = options.oracle;
  load.device = options.device;
  load.irAfter = options.irAfter;
  load.takeIr = [&err](std::string_view stage, std::string_view text) {
    err << "// -----// IR after " << stage << " //----- //\n" << text;
  };
  return load;
}

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
  engine.perfMap = options.perfMap;
  engine.debugger = options.debugger;
  engine.specialization.mode = options.specialization;
  engine.devices = options.devices;
  engine.profiler = std::move(profiler);
  if (options.cache || !options.cacheFolder.empty())
    engine.cacheFolder =
        options.cacheFolder.empty() ? jit::ArtifactCache::defaultFolder() : options.cacheFolder;
  engine.logger = makeStderrLogger(LogLevel::Warning);
  return Engine::create(std::move(engine));
}

std::string moduleName(const ModuleOptions &options) {
  return options.file == "-" ? "<stdin>" : options.file;
}

namespace {

StatusOr<ModuleText> textOf(StatusOr<importers::ImportedSource> imported) {
  if (!imported.ok())
    return imported.status();
  return ModuleText{std::move(imported->text), std::move(imported->parameters)};
}

} // namespace

StatusOr<ModuleText> readModuleText(const ModuleOptions &options) {
  if (options.file != "-" && importers::isModelFile(options.file))
    return textOf(importers::importModelFile(options.file));
  PLIM_ASSIGN_OR_RETURN(std::string source,
                        Engine::readSource(options.file == "-" ? "/dev/stdin" : options.file));
  if (!importers::isModel(source, moduleName(options)))
    return ModuleText{std::move(source)};
  return textOf(importers::importModel(source, moduleName(options)));
}

StatusOr<std::string> readModule(const ModuleOptions &options) {
  PLIM_ASSIGN_OR_RETURN(ModuleText module, readModuleText(options));
  return std::move(module.text);
}

StatusOr<std::shared_ptr<Module>>
loadModule(const ModuleOptions &options, Engine &engine, const LoadOptions &load,
           const std::function<Status(std::string_view text)> &check) {
  std::error_code error;
  if (options.file != "-" && !std::filesystem::is_fifo(options.file, error) &&
      !importers::isModelFile(options.file)) {
    PLIM_ASSIGN_OR_RETURN(const std::string source, Engine::readSource(options.file));
    if (!importers::isModel(source, options.file))
      PLIM_RETURN_IF_ERROR(check(source));
    return engine.loadFile(options.file, load); // which maps it
  }
  PLIM_ASSIGN_OR_RETURN(ModuleText module, readModuleText(options));
  PLIM_RETURN_IF_ERROR(check(module.text));
  return loadModuleText(module, options, engine, load);
}

StatusOr<std::shared_ptr<Module>> loadModuleText(const ModuleText &module,
                                                 const ModuleOptions &options, Engine &engine,
                                                 LoadOptions load) {
  load.parameters.insert(module.parameters.begin(),
                         module.parameters.end()); // what the user gives is stronger
  return engine.load(module.text, moduleName(options), load);
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
  return late.empty() ? okStatus()
                      : invalidArgumentError(moduleName(options) +
                                             " is compiled already, too late for: " + late);
}

namespace {

/// What the source says of an argument, without the bounds of its extents; nothing where these are
/// the call's.
std::optional<std::string> inputTypeOf(const jit::ValueType &type) {
  std::string text;
  for (int64_t extent : type.shape) {
    if (extent < 0)
      return std::nullopt;
    text += std::to_string(extent) + "x";
  }
  return text + type.element;
}

} // namespace

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
    PLIM_ASSIGN_OR_RETURN(Assignment parameter, parseParameter(text));
    const auto &[name, value] = parameter;
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
    PLIM_ASSIGN_OR_RETURN(PoolSize size, parsePool(text));
    StatusOr<runtime::Buffer> memory =
        runtime::Buffer::allocate(pool, runtime::ElementType::I8, std::span(&size.bytes, 1));
    if (!memory.ok())
      return memory.status().withContext("pool '" + text + "'");
    pools[size.name] = {memory->mutableData(), static_cast<size_t>(size.bytes)};
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

Status completeInputs(const jit::FunctionSignature &signature, const PoolPtr &pool,
                      std::vector<Value> &inputs) {
  if (inputs.empty()) {
    CallText random;
    for (size_t i = 0; i < signature.arguments.size(); ++i) {
      std::optional<std::string> type = inputTypeOf(signature.arguments[i]);
      if (!type)
        return invalidArgumentError("argument #" + std::to_string(i) + " is " +
                                    toString(signature.arguments[i]) +
                                    ", of which only a call knows the extents: give --input for "
                                    "each argument");
      random.inputs.push_back(*type + "=rnd:" + std::to_string(i + 1));
    }
    PLIM_ASSIGN_OR_RETURN(inputs, readInputs(random, pool));
  }
  return adaptScalars(signature, pool, inputs);
}

} // namespace plim::tools
