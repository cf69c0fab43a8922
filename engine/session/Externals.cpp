#include "engine/session/GpuDevices.h"
#include "engine/session/State.h"
#include "support/Nearest.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace plim {

using namespace session;

namespace {

std::string withoutSpaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

/// The function that a declaration is bound to: of the load, else of the engine. Null: of neither.
const HostFunction *find(const HostFunctions &ofLoad, const HostFunctions &ofEngine,
                         const std::string &name) {
  for (const HostFunctions *functions : {&ofLoad, &ofEngine})
    if (auto it = functions->find(name); it != functions->end())
      return &it->second;
  return nullptr;
}

std::string whatIs(const jit::ExternalFunction &external) {
  return external.location + "host function '" + external.name + "' ";
}

/// That a function is not bound, where it is called, and what it may have been meant to be.
std::string unbound(const jit::ExternalFunction &external, const HostFunctions &ofLoad,
                    const HostFunctions &ofEngine) {
  constexpr size_t most = 8;
  std::string text = whatIs(external) + "of type " + external.signature + " is not bound";
  for (size_t i = 0; i < std::min(external.calls.size(), most); ++i)
    text += (i ? ", " : "; called at ") + external.calls[i];
  if (external.calls.size() > most)
    text += " and " + std::to_string(external.calls.size() - most) + " more places";
  std::vector<std::string> names;
  for (const HostFunctions *functions : {&ofLoad, &ofEngine})
    for (const auto &[name, each] : *functions)
      if (each.function)
        names.push_back(name);
  return text + suggestion(external.name, names);
}

Status checkExternal(const jit::ExternalFunction &external, const HostFunction *function) {
  const std::string what = whatIs(external);
  if (!function->signature.empty() &&
      withoutSpaces(function->signature) != withoutSpaces(external.signature))
    return errorAtPlace(StatusCode::InvalidArgument, what + "is declared as " + external.signature +
                                                         ", but the one that it is bound to is " +
                                                         function->signature);
  if (external.isPure && function->kind != HostFunctionKind::Pure)
    return errorAtPlace(StatusCode::InvalidArgument,
                        what + "is declared pure, but the one that it is bound to is not");
  return okStatus();
}

bool isReachedBy(const targets::MemoryDescription &memory, const std::string &device) {
  return std::ranges::find(memory.accessibleBy, device) != memory.accessibleBy.end();
}

/// Launches of the device copy what it does not reach.
void reachHostMemory(const std::string &device, targets::TargetDescription &target) {
  const std::string &host = target.devices[0].name;
  for (targets::MemoryDescription &memory : target.memories)
    if (memory.kind == targets::MemoryKind::Host && isReachedBy(memory, host) &&
        !isReachedBy(memory, device))
      memory.accessibleBy.push_back(device);
}

/// What a callback of the host gives, which promises not to throw, but may.
template <typename T, typename CallT> StatusOr<T> withoutThrowing(CallT call) {
  try {
    return call();
  } catch (const std::exception &exception) {
    return Status(StatusCode::Unknown, std::string("it threw an exception: ") + exception.what());
  } catch (...) {
    return Status(StatusCode::Unknown, "it threw an exception");
  }
}

/// The function that runs a dispatch which was compiled for a device.
/// `turn` gets what serial ones take turns with.
StatusOr<HostFunction> loadCode(const jit::ExternalFunction &dispatch, const Device *device,
                                HostFunction &turn) {
  if (!device)
    return errorAtPlace(StatusCode::FailedPrecondition,
                        dispatch.location + "this is compiled for device '" + dispatch.device +
                            "', which the engine does not have");
  const std::string what = dispatch.location + "device '" + dispatch.device + "' ";
  if (!dispatch.name.starts_with(dispatch.device + "."))
    return errorAtPlace(StatusCode::DataLoss,
                        dispatch.location + "'" + dispatch.name + "' is no code of a device");
  if (!device->load)
    return errorAtPlace(StatusCode::FailedPrecondition,
                        what + "has no load: its code is for other programs");
  auto function = withoutThrowing<HostFunction>([&] {
    return device->load(dispatch.name.substr(dispatch.device.size() + 1), dispatch.code);
  });
  if (!function.ok())
    return errorAtPlace(function.status().code(), what + "does not load its code: " +
                                                      std::string(function.status().message()));
  if (!function->function)
    return errorAtPlace(StatusCode::Internal, what + "has made no function of its code");
  // One launch of the device at a time, whatever it runs.
  if (function->kind == HostFunctionKind::Serial)
    turn = {.user = const_cast<Device *>(device)};
  return function;
}

} // namespace

Status session::addDevices(const Devices &devices, targets::TargetDescription &target) {
  std::vector<std::string> names;
  for (const std::shared_ptr<const Device> &device : devices) {
    if (!device || device->name.empty() || (!device->compile && !device->load))
      return invalidArgumentError("a device needs a name, and compile or load");
    if (!device->memory.allocate != !device->memory.release)
      return invalidArgumentError("the memory of device '" + device->name +
                                  "' needs both allocate and release");
    const std::string &name = device->name;
    if (std::ranges::find(names, name) != names.end())
      return invalidArgumentError("device '" + name + "' is there twice");
    names.push_back(name);
    if (const targets::DeviceDescription *known = target.findDevice(name)) {
      if (known->kind == targets::DeviceKind::Cpu)
        return invalidArgumentError("device '" + name + "' is a CPU of target '" + target.name +
                                    "': code for it is the engine's");
    } else {
      targets::DeviceDescription &description = target.devices.emplace_back();
      description.name = name;
      description.kind = targets::DeviceKind::Npu;
      description.description = "brought by the host application";
      description.stackAddressable = false;
    }
    if (target.memories.empty()) {
      targets::MemoryDescription &memory = target.memories.emplace_back();
      memory.name = "dram";
      for (const targets::DeviceDescription &each : target.devices)
        if (each.kind == targets::DeviceKind::Cpu)
          memory.accessibleBy.push_back(each.name);
    }
    reachHostMemory(name, target);
  }
  return devices.empty() ? okStatus() : targets::verify(target);
}

Devices session::addGpus(const Devices &devices, targets::TargetDescription &target) {
  Devices gpus;
  for (const targets::DeviceDescription &device : target.devices) {
    const bool isBrought = std::ranges::any_of(
        devices, [&](const auto &brought) { return brought->name == device.name; });
    std::shared_ptr<const Device> gpu = isBrought ? nullptr : makeGpuDevice(device.name);
    if (!gpu ||
        (device.kind != targets::DeviceKind::Cuda && device.kind != targets::DeviceKind::Vulkan))
      continue;
    reachHostMemory(device.name, target);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<jit::ExternalBinding> bindingsOf(const Externals &externals) {
  std::vector<jit::ExternalBinding> bindings;
  for (const auto &external : externals)
    bindings.emplace_back(external->name, external.get());
  return bindings;
}

StatusOr<Externals> Engine::State::bindExternals(const jit::Artifact &artifact,
                                                 const HostFunctions &ofLoad) {
  Externals externals;
  std::string missing; // a line for each
  std::vector<Diagnostic> places;
  for (const jit::ExternalFunction &external : artifact.externals) {
    HostFunction function, turn;
    if (!external.device.empty()) {
      std::shared_ptr<const Device> device = deviceOf(external.device);
      if (device && std::ranges::find(options.devices, device) == options.devices.end())
        if (Status status = session::checkGpuCode(external.signature, external.code); !status.ok())
          return errorAtPlace(status.code(), external.location + "device '" + external.device +
                                                 "': " + std::string(status.message()));
      PLIM_ASSIGN_OR_RETURN(function, loadCode(external, device.get(), turn));
    } else {
      const HostFunction *found = find(ofLoad, options.functions, external.name);
      if (!found || !found->function) {
        const std::string text = unbound(external, ofLoad, options.functions);
        missing += (missing.empty() ? "" : "\n") + text;
        if (std::optional<Diagnostic> diagnostic = diagnosticOf(text))
          places.push_back(std::move(*diagnostic));
        continue;
      }
      PLIM_RETURN_IF_ERROR(checkExternal(external, found));
      turn = function = *found;
    }
    std::vector<runtime::OpenResult> openResults;
    for (const auto &[index, type] : external.openResults) {
      std::optional<runtime::ElementType> element = runtime::elementTypeFromName(type.element);
      if (!element)
        return dataLossError(artifact.source + " has no type of elements '" + type.element + "'");
      openResults.push_back({index, runtime::elementBytes(*element), type.shape});
    }
    externals.push_back(std::make_unique<const plim_external>(
        plim_external{external.name, function.function, function.user,
                      function.kind == HostFunctionKind::Serial ? turnOf(turn) : nullptr,
                      function.owner, std::move(openResults), external.device}));
  }
  if (!missing.empty())
    return Status(StatusCode::FailedPrecondition, missing, std::move(places));
  return externals;
}

std::vector<jit::DeviceCompiler> Engine::State::deviceCompilers() const {
  std::vector<jit::DeviceCompiler> compilers;
  for (const std::shared_ptr<const Device> &device : options.devices)
    if (device->compile)
      compilers.push_back({device->name, [device](std::string_view name, std::string_view text) {
                             return withoutThrowing<std::string>(
                                 [&] { return device->compile(name, text); });
                           }});
  return compilers;
}

std::shared_ptr<const Device> Engine::State::deviceOf(const std::string &name) const {
  for (const Devices *devices : {&options.devices, &gpus})
    for (const std::shared_ptr<const Device> &device : *devices)
      if (device->name == name)
        return device;
  return session::makeGpuDevice(name);
}

const Device *Engine::State::providerOf(const targets::MemoryDescription &memory) const {
  if (isReachedBy(memory, target.devices[0].name))
    return nullptr;
  for (const Devices *devices : {&options.devices, &gpus})
    for (const std::shared_ptr<const Device> &device : *devices)
      if (device->memory.allocate && isReachedBy(memory, device->name) &&
          memory.kind != targets::MemoryKind::Scratch)
        return device.get();
  return nullptr;
}

std::vector<std::string> Engine::State::deviceMemories() const {
  std::vector<std::string> names;
  for (const targets::MemoryDescription &memory : target.memories)
    if (providerOf(memory))
      names.push_back(memory.name);
  return names;
}

std::vector<std::unique_ptr<DevicePool>>
Engine::State::makeDevicePools(const jit::Artifact &artifact) const {
  std::vector<std::unique_ptr<DevicePool>> pools(artifact.pools.size());
  bool hasAny = false;
  for (size_t i = 0; i < pools.size(); ++i) {
    const targets::MemoryDescription *memory = target.findMemory(artifact.pools[i]);
    const Device *device = memory ? providerOf(*memory) : nullptr;
    if (!device)
      continue;
    jit::PoolNeed need;
    for (const jit::FunctionSignature &function : artifact.functions) {
      need.bytes = std::max(need.bytes, function.pools[i].bytes);
      need.alignment = std::max(need.alignment, function.pools[i].alignment);
    }
    pools[i] =
        std::make_unique<DevicePool>(device->memory, memory->name, static_cast<size_t>(need.bytes),
                                     static_cast<size_t>(need.alignment));
    hasAny = true;
  }
  if (!hasAny)
    pools.clear();
  return pools;
}

std::vector<std::shared_ptr<const void>>
Engine::State::keepConstants(const Externals &externals, const jit::LinkedModule &module) const {
  std::set<std::string> names;
  for (const auto &external : externals)
    if (!external->device.empty())
      names.insert(external->device);
  std::vector<std::shared_ptr<const void>> kept;
  for (const std::string &name : names) {
    std::shared_ptr<const Device> device = deviceOf(name);
    if (!device || !device->keepConstant)
      continue;
    for (std::span<const std::byte> constant : module.constants())
      if (std::shared_ptr<const void> keeper = device->keepConstant(constant))
        kept.push_back(std::move(keeper));
  }
  return kept;
}

Status Engine::State::checkDevice(const std::string &name) const {
  std::vector<std::string> names;
  for (const std::shared_ptr<const Device> &device : options.devices)
    if (device->compile)
      names.push_back(device->name);
  for (const std::shared_ptr<const Device> &gpu : gpus)
    names.push_back(gpu->name);
  if (name.empty() || name == target.devices[0].name ||
      std::ranges::find(names, name) != names.end())
    return okStatus();
  // The commonest reason.
  const bool leavesOut = target.name == "host-cpu" && session::makeGpuDevice(name);
  return invalidArgumentError("the engine has no compiler for a device '" + name + "'" +
                              (leavesOut
                                   ? ": its target is 'host-cpu', which leaves out accelerators; "
                                     "'host' has them"
                                   : suggestion(name, names)));
}

} // namespace plim
