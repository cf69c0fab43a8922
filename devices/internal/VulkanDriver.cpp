#include "devices/internal/VulkanDriver.h"

#include "targets/internal/DynamicLibrary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace plim::devices::internal {
namespace {

/// The features that code may name, as the driver gives and takes them.
class Features {
public:
  /// All of them off. A structure of a later version than the device's stays out of the chain.
  explicit Features(uint32_t version) {
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    void **end = &all.pNext;
    auto append = [&](auto &part, VkStructureType type) {
      part.sType = type;
      *end = &part;
      end = &part.pNext;
    };
    append(storage16, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
    if (version < VK_API_VERSION_1_2)
      return;
    append(small, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    append(storage8, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES);
    append(memoryModel, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES);
    append(subgroups, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES);
  }
  Features(const Features &) = delete;
  Features &operator=(const Features &) = delete;

  struct Named {
    const char *name;
    VkBool32 &isOn;
  };
  std::array<Named, 10> named() {
    return {{{"shaderFloat16", small.shaderFloat16},
             {"shaderFloat64", all.features.shaderFloat64},
             {"shaderInt16", all.features.shaderInt16},
             {"shaderInt64", all.features.shaderInt64},
             {"shaderInt8", small.shaderInt8},
             {"shaderSubgroupExtendedTypes", subgroups.shaderSubgroupExtendedTypes},
             {"storageBuffer16BitAccess", storage16.storageBuffer16BitAccess},
             {"storageBuffer8BitAccess", storage8.storageBuffer8BitAccess},
             {"vulkanMemoryModel", memoryModel.vulkanMemoryModel},
             {"vulkanMemoryModelDeviceScope", memoryModel.vulkanMemoryModelDeviceScope}}};
  }

  VkPhysicalDeviceFeatures2 all = {};

private:
  VkPhysicalDevice16BitStorageFeatures storage16 = {};
  VkPhysicalDeviceShaderFloat16Int8Features small = {};
  VkPhysicalDevice8BitStorageFeatures storage8 = {};
  VkPhysicalDeviceVulkanMemoryModelFeatures memoryModel = {};
  VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures subgroups = {};
};

constexpr VkMemoryPropertyFlags hostReaches =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags hostCaches = hostReaches | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;

uint32_t largestLocalHeap(const VkPhysicalDeviceMemoryProperties &properties) {
  uint32_t largest = 0;
  VkDeviceSize bytes = 0;
  for (uint32_t heap = 0; heap < properties.memoryHeapCount; ++heap) {
    const VkMemoryHeap &candidate = properties.memoryHeaps[heap];
    if ((candidate.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && candidate.size > bytes) {
      largest = heap;
      bytes = candidate.size;
    }
  }
  return largest;
}

VkBufferCreateInfo bufferInfo(VkDeviceSize bytes) {
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  // The same for all, so that all can have memory of the same types.
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  return info;
}

} // namespace

StatusOr<std::unique_ptr<VulkanDriver>> VulkanDriver::open(int ordinal, const std::string &library,
                                                           const VulkanOptions &options) {
  PLIM_ASSIGN_OR_RETURN(void *handle, targets::internal::openLibrary(library));
  if (!handle)
    return unavailableError("no library " + library);
  auto getProc = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      targets::internal::findSymbol(handle, "vkGetInstanceProcAddr"));
  if (!getProc)
    return unavailableError(library + ": no symbol vkGetInstanceProcAddr");

  std::unique_ptr<VulkanDriver> driver(new VulkanDriver);
  std::set<std::string> before = targets::internal::loadedLibraries();
  PLIM_ASSIGN_OR_RETURN(uint32_t version, driver->createInstance(getProc));
  StatusOr<VkPhysicalDevice> physical = driver->findDevice(ordinal);
  targets::internal::keepLibrariesLoadedSince(before);
  if (!physical.ok())
    return physical.status();
  driver->readProperties(*physical, version);
  PLIM_RETURN_IF_ERROR(driver->findQueue(*physical));
  PLIM_RETURN_IF_ERROR(driver->createDevice(*physical, version));
  PLIM_RETURN_IF_ERROR(driver->loadDeviceCalls());
  driver->calls.getDeviceQueue(driver->device, driver->queueFamily, 0, &driver->queue);
  PLIM_RETURN_IF_ERROR(driver->chooseMemory(*physical, options));
  return driver;
}

VulkanDriver::~VulkanDriver() {
  if (device && calls.destroyDevice)
    calls.destroyDevice(device, nullptr);
  if (instance && calls.destroyInstance)
    calls.destroyInstance(instance, nullptr);
}

Status VulkanDriver::check(VkResult result, const char *call) {
  if (result == VK_SUCCESS)
    return okStatus();
  std::string message = std::string(call) + ": error " + std::to_string(result);
  switch (result) {
  case VK_ERROR_DEVICE_LOST:
    lost = true;
    return unavailableError(message + ", the device is lost");
  case VK_ERROR_INITIALIZATION_FAILED:
  case VK_ERROR_INCOMPATIBLE_DRIVER:
    return unavailableError(std::move(message));
  case VK_ERROR_OUT_OF_HOST_MEMORY:
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_OUT_OF_POOL_MEMORY:
  case VK_ERROR_FRAGMENTED_POOL:
  case VK_ERROR_FRAGMENTATION:
  case VK_ERROR_TOO_MANY_OBJECTS:
  case VK_ERROR_MEMORY_MAP_FAILED:
    return resourceExhaustedError(message + ", no memory");
  default:
    return internalError(std::move(message));
  }
}

Status VulkanDriver::checkAlive() const {
  return isLost() ? unavailableError("the device is lost: " + model) : okStatus();
}

/// The version that devices of the instance may have at most.
StatusOr<uint32_t> VulkanDriver::createInstance(PFN_vkGetInstanceProcAddr getProc) {
  auto enumerateVersion = reinterpret_cast<PFN_vkEnumerateInstanceVersion>(
      getProc(nullptr, "vkEnumerateInstanceVersion"));
  auto create = reinterpret_cast<PFN_vkCreateInstance>(getProc(nullptr, "vkCreateInstance"));
  uint32_t version = VK_API_VERSION_1_0;
  if (!create || !enumerateVersion || enumerateVersion(&version) != VK_SUCCESS ||
      version < VK_API_VERSION_1_1)
    return unavailableError("the Vulkan loader is older than 1.1");

  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = std::min<uint32_t>(version, VK_API_VERSION_1_3);
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  PLIM_RETURN_IF_ERROR(check(create(&info, nullptr, &instance), "vkCreateInstance"));
  bool isComplete = true;
#define CALL(member, name)                                                                         \
  calls.member = reinterpret_cast<PFN_vk##name>(getProc(instance, "vk" #name));                    \
  isComplete &= calls.member != nullptr;
  PLIM_VULKAN_INSTANCE_CALLS(CALL)
#undef CALL
  if (!isComplete)
    return unavailableError("the instance lacks calls of Vulkan 1.1");
  return application.apiVersion;
}

/// Counts as targets/vulkan does.
StatusOr<VkPhysicalDevice> VulkanDriver::findDevice(int ordinal) {
  uint32_t count = 0;
  PLIM_RETURN_IF_ERROR(check(calls.enumeratePhysicalDevices(instance, &count, nullptr),
                             "vkEnumeratePhysicalDevices"));
  std::vector<VkPhysicalDevice> devices(count);
  VkResult listed = calls.enumeratePhysicalDevices(instance, &count, devices.data());
  if (listed != VK_INCOMPLETE)
    PLIM_RETURN_IF_ERROR(check(listed, "vkEnumeratePhysicalDevices"));
  devices.resize(count);

  int position = 0;
  for (VkPhysicalDevice candidate : devices) {
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    calls.getPhysicalDeviceProperties2(candidate, &properties);
    if (properties.properties.apiVersion >= VK_API_VERSION_1_1 && position++ == ordinal)
      return candidate;
  }
  return unavailableError("no Vulkan device #" + std::to_string(ordinal) + ", there are " +
                          std::to_string(position));
}

void VulkanDriver::readProperties(VkPhysicalDevice physical, uint32_t version) {
  VkPhysicalDeviceMaintenance4Properties buffers = {};
  buffers.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES;
  VkPhysicalDeviceMaintenance3Properties allocations = {};
  allocations.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  VkPhysicalDeviceFloatControlsProperties floats = {}; // of Vulkan 1.2; others leave it alone
  floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  allocations.pNext = &floats;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &allocations;
  calls.getPhysicalDeviceProperties2(physical, &properties);
  maxBufferBytes = allocations.maxMemoryAllocationSize;
  if (std::min(version, properties.properties.apiVersion) >= VK_API_VERSION_1_3) {
    floats.pNext = &buffers;
    calls.getPhysicalDeviceProperties2(physical, &properties);
    maxBufferBytes = std::min(maxBufferBytes, buffers.maxBufferSize);
  }
  for (auto [name, isThere] :
       {std::pair("shaderSignedZeroInfNanPreserveFloat16",
                  floats.shaderSignedZeroInfNanPreserveFloat16),
        {"shaderSignedZeroInfNanPreserveFloat32", floats.shaderSignedZeroInfNanPreserveFloat32},
        {"shaderSignedZeroInfNanPreserveFloat64", floats.shaderSignedZeroInfNanPreserveFloat64}})
    if (isThere)
      features.insert(name);
  maxBufferBytes -= maxBufferBytes % 256; // sums of aligned sizes stay below it
  model = properties.properties.deviceName;
  if (model.starts_with("llvmpipe")) // LP_MAX_TGSI_LOOP_ITERATIONS of Mesa, which all loops share
    maxIterations = 65535;
  limits = properties.properties.limits;
}

Status VulkanDriver::findQueue(VkPhysicalDevice physical) {
  uint32_t count = 0;
  calls.getPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  calls.getPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  for (queueFamily = 0; queueFamily < count; ++queueFamily)
    if ((families[queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT) &&
        families[queueFamily].queueCount > 0)
      return okStatus();
  return unavailableError("no queue for kernels: " + model);
}

Status VulkanDriver::createDevice(VkPhysicalDevice physical, uint32_t version) {
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  calls.getPhysicalDeviceProperties2(physical, &properties);
  version = std::min(version, properties.properties.apiVersion);
  Features available(version), enabled(version);
  calls.getPhysicalDeviceFeatures2(physical, &available.all);
  auto there = available.named(), wanted = enabled.named();
  for (size_t i = 0; i < there.size(); ++i) {
    wanted[i].isOn = there[i].isOn;
    if (there[i].isOn)
      features.insert(there[i].name);
  }

  float priority = 1;
  VkDeviceQueueCreateInfo queueInfo = {};
  queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queueInfo.queueFamilyIndex = queueFamily;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &enabled.all;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queueInfo;
  return check(calls.createDevice(physical, &info, nullptr, &device), "vkCreateDevice");
}

Status VulkanDriver::loadDeviceCalls() {
  bool isComplete = true;
#define CALL(member, name)                                                                         \
  calls.member = reinterpret_cast<PFN_vk##name>(calls.getDeviceProcAddr(device, "vk" #name));      \
  isComplete &= calls.member != nullptr;
  PLIM_VULKAN_DEVICE_CALLS(CALL)
#undef CALL
  return isComplete ? okStatus() : unavailableError("the device lacks calls of Vulkan 1.1");
}

Status VulkanDriver::chooseMemory(VkPhysicalDevice physical, const VulkanOptions &options) {
  VkBufferCreateInfo info = bufferInfo(64);
  VulkanBuffer sample(*this);
  PLIM_RETURN_IF_ERROR(
      check(calls.createBuffer(device, &info, nullptr, &sample.handle), "vkCreateBuffer"));
  VkMemoryRequirements requirements = {};
  calls.getBufferMemoryRequirements(device, sample.handle, &requirements);

  VkPhysicalDeviceMemoryProperties properties = {};
  calls.getPhysicalDeviceMemoryProperties(physical, &properties);
  uint32_t heap = largestLocalHeap(properties);
  auto find = [&](VkMemoryPropertyFlags flags, bool inHeap, uint32_t &found) {
    for (uint32_t type = 0; type < properties.memoryTypeCount; ++type) {
      const VkMemoryType &candidate = properties.memoryTypes[type];
      if ((requirements.memoryTypeBits >> type & 1) && (candidate.propertyFlags & flags) == flags &&
          (!inHeap || candidate.heapIndex == heap)) {
        found = type;
        return true;
      }
    }
    return false;
  };
  // A discrete device shows its memory to the host as well, but not in the caches: reading it is slow.
  isUnified = !options.alwaysStage && find(local | hostCaches, true, kernelsType);
  bool hasMemory = (isUnified || find(local, true, kernelsType) ||
                    find(local, false, kernelsType) || find(0, false, kernelsType)) &&
                   (find(hostCaches, false, stagingType) || find(hostReaches, false, stagingType));
  return hasMemory ? okStatus() : unavailableError("no memory for buffers: " + model);
}

StatusOr<VulkanBuffer> VulkanDriver::createBuffer(Memory use, VkDeviceSize bytes) {
  if (bytes > maxBufferBytes)
    return resourceExhaustedError("a buffer of " + std::to_string(bytes) +
                                  " bytes; the device has them up to " +
                                  std::to_string(maxBufferBytes));
  VulkanBuffer buffer(*this);
  VkBufferCreateInfo info = bufferInfo(bytes);
  PLIM_RETURN_IF_ERROR(
      check(calls.createBuffer(device, &info, nullptr, &buffer.handle), "vkCreateBuffer"));
  VkMemoryRequirements requirements = {};
  calls.getBufferMemoryRequirements(device, buffer.handle, &requirements);
  VkMemoryAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = requirements.size;
  allocation.memoryTypeIndex = use == Memory::Kernels ? kernelsType : stagingType;
  PLIM_RETURN_IF_ERROR(check(calls.allocateMemory(device, &allocation, nullptr, &buffer.memory),
                             "vkAllocateMemory"));
  PLIM_RETURN_IF_ERROR(
      check(calls.bindBufferMemory(device, buffer.handle, buffer.memory, 0), "vkBindBufferMemory"));
  if (isUnified || use == Memory::Staging) {
    void *mapped = nullptr;
    PLIM_RETURN_IF_ERROR(
        check(calls.mapMemory(device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory"));
    buffer.mapped = static_cast<std::byte *>(mapped);
  }
  buffer.bytes = bytes;
  return buffer;
}

Status VulkanDriver::submitAndWait(VkCommandBuffer commands, VkFence fence) {
  VkSubmitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  {
    std::lock_guard lock(queueMutex);
    PLIM_RETURN_IF_ERROR(check(calls.queueSubmit(queue, 1, &info, fence), "vkQueueSubmit"));
  }
  VkResult waited = calls.waitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX);
  if (waited != VK_SUCCESS) {
    // What was submitted may still use what the caller is about to give back.
    lost = true;
    Status status = check(waited, "vkWaitForFences");
    std::lock_guard lock(queueMutex);
    calls.deviceWaitIdle(device);
    return unavailableError(std::string(status.message()));
  }
  return check(calls.resetFences(device, 1, &fence), "vkResetFences");
}

VulkanBuffer::~VulkanBuffer() {
  if (!driver)
    return;
  driver->calls.destroyBuffer(driver->device, handle, nullptr);
  driver->calls.freeMemory(driver->device, memory, nullptr); // unmaps it
}

void VulkanBuffer::swap(VulkanBuffer &other) noexcept {
  std::swap(driver, other.driver);
  std::swap(handle, other.handle);
  std::swap(memory, other.memory);
  std::swap(bytes, other.bytes);
  std::swap(mapped, other.mapped);
}

} // namespace plim::devices::internal
