// The devices of an engine: those that the host brings, and GPUs of the target that are our own.
#include "engine/session/EngineDevices.h"

#include "engine/session/GpuDevices.h"
#include "engine/session/State.h"
#include "support/Nearest.h"

#include <algorithm>
#include <set>

namespace plim {

using namespace session;

namespace {

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
