// VulkanDriver: an opened device of Vulkan with one queue, and memory of it.
//
// Owns the loader's instance, the calls, limits and features. What runs on it is in VulkanProgram.h.
// Threads: any, for all methods; an instance of VulkanBuffer belongs to one at a time.
#pragma once

#include "support/Status.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace plim::devices::internal {

// The calls that take an instance, and those that take a device: member, what follows "vk" in its name.
#define PLIM_VULKAN_INSTANCE_CALLS(CALL)                                                           \
  CALL(createDevice, CreateDevice)                                                                 \
  CALL(destroyInstance, DestroyInstance)                                                           \
  CALL(enumeratePhysicalDevices, EnumeratePhysicalDevices)                                         \
  CALL(getDeviceProcAddr, GetDeviceProcAddr)                                                       \
  CALL(getPhysicalDeviceFeatures2, GetPhysicalDeviceFeatures2)                                     \
  CALL(getPhysicalDeviceMemoryProperties, GetPhysicalDeviceMemoryProperties)                       \
  CALL(getPhysicalDeviceProperties2, GetPhysicalDeviceProperties2)                                 \
  CALL(getPhysicalDeviceQueueFamilyProperties, GetPhysicalDeviceQueueFamilyProperties)
#define PLIM_VULKAN_DEVICE_CALLS(CALL)                                                             \
  CALL(allocateCommandBuffers, AllocateCommandBuffers)                                             \
  CALL(allocateDescriptorSets, AllocateDescriptorSets)                                             \
  CALL(allocateMemory, AllocateMemory)                                                             \
  CALL(beginCommandBuffer, BeginCommandBuffer)                                                     \
  CALL(bindBufferMemory, BindBufferMemory)                                                         \
  CALL(cmdBindDescriptorSets, CmdBindDescriptorSets)                                               \
  CALL(cmdBindPipeline, CmdBindPipeline)                                                           \
  CALL(cmdCopyBuffer, CmdCopyBuffer)                                                               \
  CALL(cmdDispatch, CmdDispatch)                                                                   \
  CALL(cmdPipelineBarrier, CmdPipelineBarrier)                                                     \
  CALL(cmdPushConstants, CmdPushConstants)                                                         \
  CALL(createBuffer, CreateBuffer)                                                                 \
  CALL(createCommandPool, CreateCommandPool)                                                       \
  CALL(createComputePipelines, CreateComputePipelines)                                             \
  CALL(createDescriptorPool, CreateDescriptorPool)                                                 \
  CALL(createDescriptorSetLayout, CreateDescriptorSetLayout)                                       \
  CALL(createFence, CreateFence)                                                                   \
  CALL(createPipelineLayout, CreatePipelineLayout)                                                 \
  CALL(createShaderModule, CreateShaderModule)                                                     \
  CALL(destroyBuffer, DestroyBuffer)                                                               \
  CALL(destroyCommandPool, DestroyCommandPool)                                                     \
  CALL(destroyDescriptorPool, DestroyDescriptorPool)                                               \
  CALL(destroyDescriptorSetLayout, DestroyDescriptorSetLayout)                                     \
  CALL(destroyDevice, DestroyDevice)                                                               \
  CALL(destroyFence, DestroyFence)                                                                 \
  CALL(destroyPipeline, DestroyPipeline)                                                           \
  CALL(destroyPipelineLayout, DestroyPipelineLayout)                                               \
  CALL(destroyShaderModule, DestroyShaderModule)                                                   \
  CALL(deviceWaitIdle, DeviceWaitIdle)                                                             \
  CALL(endCommandBuffer, EndCommandBuffer)                                                         \
  CALL(freeMemory, FreeMemory)                                                                     \
  CALL(getBufferMemoryRequirements, GetBufferMemoryRequirements)                                   \
  CALL(getDeviceQueue, GetDeviceQueue)                                                             \
  CALL(mapMemory, MapMemory)                                                                       \
  CALL(queueSubmit, QueueSubmit)                                                                   \
  CALL(resetCommandPool, ResetCommandPool)                                                         \
  CALL(resetFences, ResetFences)                                                                   \
  CALL(updateDescriptorSets, UpdateDescriptorSets)                                                 \
  CALL(waitForFences, WaitForFences)

struct VulkanCalls {
#define CALL(member, name) PFN_vk##name member = nullptr;
  PLIM_VULKAN_INSTANCE_CALLS(CALL)
  PLIM_VULKAN_DEVICE_CALLS(CALL)
#undef CALL
};

struct VulkanOptions {
  /// Copies through a second buffer also where the host reaches what kernels use.
  bool alwaysStage = false;
};

class VulkanBuffer;

class VulkanDriver {
public:
  enum class Memory {
    Kernels, // what they read and write fastest; the host reaches it if isUnified
    Staging, // of the host, which copies come from and go to
  };

  /// The device at this position among those of Vulkan 1.1. Unavailable where there is none.
  static StatusOr<std::unique_ptr<VulkanDriver>> open(int ordinal, const std::string &library,
                                                      const VulkanOptions &options);
  ~VulkanDriver();
  VulkanDriver(const VulkanDriver &) = delete;
  VulkanDriver &operator=(const VulkanDriver &) = delete;

  /// What a call answered: Unavailable, from then on, if the device is lost, ResourceExhausted without memory, and
  /// otherwise Internal.
  Status check(VkResult result, const char *call);
  bool isLost() const { return lost.load(std::memory_order_relaxed); }
  /// Unavailable if it is lost.
  Status checkAlive() const;

  /// Mapped if the host reaches it. The driver outlives it.
  StatusOr<VulkanBuffer> createBuffer(Memory memory, VkDeviceSize bytes);

  /// Runs the commands and waits until they have ended, also when it fails. `fence` is not signalled, and is not
  /// afterwards unless the device is lost.
  Status submitAndWait(VkCommandBuffer commands, VkFence fence);

  // As it is after open().
  VulkanCalls calls;
  VkDevice device = VK_NULL_HANDLE;
  std::string model;
  std::set<std::string, std::less<>> features; // that are on, and what it says of floats, by name
  VkPhysicalDeviceLimits limits = {};
  VkDeviceSize maxBufferBytes = 0;
  uint32_t queueFamily = 0;
  /// After so many the driver ends an invocation's loops, and says nothing.
  int64_t maxIterations = INT64_MAX;
  /// The host reads and writes what kernels use, in its caches.
  bool isUnified = false;

private:
  VulkanDriver() = default;
  StatusOr<uint32_t> createInstance(PFN_vkGetInstanceProcAddr getProc);
  StatusOr<VkPhysicalDevice> findDevice(int ordinal);
  void readProperties(VkPhysicalDevice physical, uint32_t version);
  Status findQueue(VkPhysicalDevice physical);
  Status createDevice(VkPhysicalDevice physical, uint32_t version);
  Status loadDeviceCalls();
  Status chooseMemory(VkPhysicalDevice physical, const VulkanOptions &options);

  VkInstance instance = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t kernelsType = 0, stagingType = 0; // of memory
  std::mutex queueMutex;
  std::atomic<bool> lost = false;
};

/// A buffer with memory of its own. Empty by default.
class VulkanBuffer {
public:
  VulkanBuffer() = default;
  explicit VulkanBuffer(VulkanDriver &driver) : driver(&driver) {}
  VulkanBuffer(VulkanBuffer &&other) noexcept { swap(other); }
  VulkanBuffer &operator=(VulkanBuffer &&other) noexcept {
    VulkanBuffer(std::move(other)).swap(*this);
    return *this;
  }
  ~VulkanBuffer();

  VkBuffer handle = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize bytes = 0;
  std::byte *mapped = nullptr;

private:
  void swap(VulkanBuffer &other) noexcept;

  VulkanDriver *driver = nullptr;
};

} // namespace plim::devices::internal
