#include "targets/vulkan/Vulkan.h"

#include "targets/internal/DynamicLibrary.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <algorithm>

namespace plim::targets {
namespace {

Status check(VkResult result, const char *call) {
  if (result == VK_SUCCESS)
    return okStatus();
  return unavailableError(std::string(call) + ": error " + std::to_string(result));
}

struct InstanceCalls {
  PFN_vkDestroyInstance destroyInstance;
  PFN_vkEnumeratePhysicalDevices enumeratePhysicalDevices;
  PFN_vkGetPhysicalDeviceProperties getProperties;
  PFN_vkGetPhysicalDeviceProperties2 getProperties2;
  PFN_vkGetPhysicalDeviceFeatures2 getFeatures2;
  PFN_vkGetPhysicalDeviceMemoryProperties getMemoryProperties;
};

/// An instance with the calls that belong to it; destroyed with this object.
class Instance {
public:
  Instance() = default;
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;
  ~Instance() {
    if (handle && calls.destroyInstance)
      calls.destroyInstance(handle, nullptr);
  }

  /// False if no driver is installed.
  StatusOr<bool> create(PFN_vkGetInstanceProcAddr getProc) {
    // Without this call the loader is of Vulkan 1.0, which has no subgroups.
    auto enumerateVersion = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(
        getProc(nullptr, "vkEnumerateInstanceVersion"));
    auto createInstance =
        reinterpret_cast<PFN_vkCreateInstance>(getProc(nullptr, "vkCreateInstance"));
    if (!createInstance)
      return unavailableError("no symbol vkCreateInstance");
    uint32_t version = VK_API_VERSION_1_0;
    if (!enumerateVersion || enumerateVersion(&version) != VK_SUCCESS ||
        version < VK_API_VERSION_1_1)
      return false;

    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = std::min<uint32_t>(version, VK_API_VERSION_1_3);
    VkInstanceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    VkResult created = createInstance(&info, nullptr, &handle);
    if (created == VK_ERROR_INCOMPATIBLE_DRIVER)
      return false;
    PLIM_RETURN_IF_ERROR(check(created, "vkCreateInstance"));
    bool complete = load(getProc, "vkDestroyInstance", calls.destroyInstance) &&
                    load(getProc, "vkEnumeratePhysicalDevices", calls.enumeratePhysicalDevices) &&
                    load(getProc, "vkGetPhysicalDeviceProperties", calls.getProperties) &&
                    load(getProc, "vkGetPhysicalDeviceProperties2", calls.getProperties2) &&
                    load(getProc, "vkGetPhysicalDeviceFeatures2", calls.getFeatures2) &&
                    load(getProc, "vkGetPhysicalDeviceMemoryProperties", calls.getMemoryProperties);
    if (!complete)
      return unavailableError("the instance lacks calls of Vulkan 1.1");
    return true;
  }

  StatusOr<std::vector<VkPhysicalDevice>> physicalDevices() const {
    uint32_t count = 0;
    PLIM_RETURN_IF_ERROR(check(calls.enumeratePhysicalDevices(handle, &count, nullptr),
                               "vkEnumeratePhysicalDevices"));
    std::vector<VkPhysicalDevice> devices(count);
    VkResult listed = calls.enumeratePhysicalDevices(handle, &count, devices.data());
    // A device plugged in between the two calls waits for the next query.
    if (listed != VK_INCOMPLETE)
      PLIM_RETURN_IF_ERROR(check(listed, "vkEnumeratePhysicalDevices"));
    devices.resize(count);
    return devices;
  }

  InstanceCalls calls = {};

private:
  template <typename Call>
  bool load(PFN_vkGetInstanceProcAddr getProc, const char *name, Call &call) {
    call = reinterpret_cast<Call>(getProc(handle, name));
    return call != nullptr;
  }

  VkInstance handle = VK_NULL_HANDLE;
};

struct Features {
  VkPhysicalDeviceFeatures core = {};
  VkPhysicalDevice16BitStorageFeatures storage16 = {};
  VkPhysicalDeviceShaderFloat16Int8Features small = {};
  VkPhysicalDevice8BitStorageFeatures storage8 = {};
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {};
  VkPhysicalDeviceVulkanMemoryModelFeatures memoryModel = {};
};

Features readFeatures(const InstanceCalls &calls, VkPhysicalDevice device, uint32_t version) {
  Features features;
  VkPhysicalDeviceFeatures2 all = {};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  void **chain = &all.pNext;
  auto ask = [&](auto &part, VkStructureType type) {
    part.sType = type;
    *chain = &part;
    chain = &part.pNext;
  };
  ask(features.storage16, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
  if (version >= VK_API_VERSION_1_2) {
    ask(features.small, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    ask(features.storage8, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES);
    ask(features.addresses, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
    ask(features.memoryModel, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES);
  }
  calls.getFeatures2(device, &all);
  features.core = all.features;
  return features;
}

void describeFeatures(const Features &features, DeviceDescription &device) {
  device.setFeature("bufferDeviceAddress", features.addresses.bufferDeviceAddress);
  device.setFeature("shaderFloat16", features.small.shaderFloat16);
  device.setFeature("shaderFloat64", features.core.shaderFloat64);
  device.setFeature("shaderInt16", features.core.shaderInt16);
  device.setFeature("shaderInt64", features.core.shaderInt64);
  device.setFeature("shaderInt8", features.small.shaderInt8);
  device.setFeature("storageBuffer16BitAccess", features.storage16.storageBuffer16BitAccess);
  device.setFeature("storageBuffer8BitAccess", features.storage8.storageBuffer8BitAccess);
  device.setFeature("vulkanMemoryModel", features.memoryModel.vulkanMemoryModel);
}

DeviceDescription describeDevice(const InstanceCalls &calls, VkPhysicalDevice handle,
                                 const std::string &name) {
  VkPhysicalDeviceSubgroupProperties subgroup = {};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceFloatControlsProperties floats = {}; // of Vulkan 1.2; others leave it alone
  floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  subgroup.pNext = &floats;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &subgroup;
  calls.getProperties2(handle, &properties);
  const VkPhysicalDeviceProperties &core = properties.properties;
  const VkPhysicalDeviceLimits &limits = core.limits;
  // SPIR-V is generated for the versions that are out when this is written.
  uint32_t version = std::min<uint32_t>(core.apiVersion, VK_API_VERSION_1_3);

  DeviceDescription device;
  device.name = name;
  device.kind = DeviceKind::Vulkan;
  device.description = core.deviceName;
  device.triple =
      "spirv-unknown-vulkan1." + std::to_string(VK_API_VERSION_MINOR(version)) + "-compute";
  describeFeatures(readFeatures(calls, handle, version), device);
  device.setFeature("shaderSignedZeroInfNanPreserveFloat16",
                    floats.shaderSignedZeroInfNanPreserveFloat16);
  device.setFeature("shaderSignedZeroInfNanPreserveFloat32",
                    floats.shaderSignedZeroInfNanPreserveFloat32);
  device.setFeature("shaderSignedZeroInfNanPreserveFloat64",
                    floats.shaderSignedZeroInfNanPreserveFloat64);
  device.stackAddressable = false;
  device.workspaceAlignment =
      std::max<int64_t>(64, static_cast<int64_t>(limits.minStorageBufferOffsetAlignment));
  device.scratchBytes = limits.maxComputeSharedMemorySize;
  device.subgroupSize = std::max<int64_t>(1, subgroup.subgroupSize);
  device.maxWorkgroupSize = std::max<int64_t>(1, limits.maxComputeWorkGroupInvocations);
  return device;
}

std::vector<MemoryDescription> describeMemories(const InstanceCalls &calls, VkPhysicalDevice handle,
                                                const DeviceDescription &device,
                                                const std::string &host) {
  VkPhysicalDeviceMemoryProperties properties = {};
  calls.getMemoryProperties(handle, &properties);
  std::vector<MemoryDescription> memories;
  for (uint32_t heap = 0; heap < properties.memoryHeapCount; ++heap) {
    bool hostCanMap = false;
    for (uint32_t type = 0; type < properties.memoryTypeCount; ++type)
      hostCanMap |=
          properties.memoryTypes[type].heapIndex == heap &&
          (properties.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    bool isDevices = (properties.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    MemoryDescription &memory = memories.emplace_back();
    memory.name = device.name + ".heap" + std::to_string(heap);
    memory.kind = !isDevices   ? MemoryKind::Pinned
                  : hostCanMap ? MemoryKind::Unified
                               : MemoryKind::Device;
    memory.bytes =
        static_cast<int64_t>(std::min<VkDeviceSize>(properties.memoryHeaps[heap].size, INT64_MAX));
    memory.alignment = device.workspaceAlignment;
    memory.accessibleBy = {device.name};
    if (hostCanMap)
      memory.accessibleBy.insert(memory.accessibleBy.begin(), host);
  }
  memories.push_back({.name = device.name + ".shared",
                      .kind = MemoryKind::Scratch,
                      .bytes = device.scratchBytes,
                      .alignment = 16,
                      .accessibleBy = {device.name}});
  return memories;
}

} // namespace

Status queryVulkan(TargetDescription &target, const std::string &library) {
  PLIM_ASSIGN_OR_RETURN(void *handle, internal::openLibrary(library));
  if (!handle)
    return okStatus();
  auto getProc = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      internal::findSymbol(handle, "vkGetInstanceProcAddr"));
  if (!getProc)
    return unavailableError(library + ": no symbol vkGetInstanceProcAddr");

  std::set<std::string> before = internal::loadedLibraries();
  Instance instance;
  PLIM_ASSIGN_OR_RETURN(bool hasDriver, instance.create(getProc));
  if (!hasDriver)
    return okStatus();
  PLIM_ASSIGN_OR_RETURN(std::vector<VkPhysicalDevice> handles, instance.physicalDevices());
  internal::keepLibrariesLoadedSince(before);

  TargetDescription result = target;
  std::string host = target.devices.empty() ? "" : target.devices[0].name;
  int ordinal = 0;
  for (VkPhysicalDevice physical : handles) {
    VkPhysicalDeviceProperties properties = {};
    instance.calls.getProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1)
      continue;
    DeviceDescription device =
        describeDevice(instance.calls, physical, "vulkan" + std::to_string(ordinal++));
    for (MemoryDescription &memory : describeMemories(instance.calls, physical, device, host))
      result.memories.push_back(std::move(memory));
    result.devices.push_back(std::move(device));
  }
  PLIM_RETURN_IF_ERROR(verify(result).withContext("the Vulkan driver's answers"));
  target = std::move(result);
  return okStatus();
}

} // namespace plim::targets
