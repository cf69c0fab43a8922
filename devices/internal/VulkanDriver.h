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

// The calls that take an instance, and those that take a device, by what follows "vk" in their names.
#define PLIM_VULKAN_INSTANCE_CALLS(CALL)                                                           \
  CALL(CreateDevice)                                                                               \
  CALL(DestroyInstance)                                                                            \
  CALL(EnumeratePhysicalDevices)                                                                   \
  CALL(GetDeviceProcAddr)                                                                          \
  CALL(GetPhysicalDeviceFeatures2)                                                                 \
  CALL(GetPhysicalDeviceMemoryProperties)                                                          \
  CALL(GetPhysicalDeviceProperties2)                                                               \
  CALL(GetPhysicalDeviceQueueFamilyProperties)
#define PLIM_VULKAN_DEVICE_CALLS(CALL)                                                             \
  CALL(AllocateCommandBuffers)                                                                     \
  CALL(AllocateDescriptorSets)                                                                     \
  CALL(AllocateMemory)                                                                             \
  CALL(BeginCommandBuffer)                                                                         \
  CALL(BindBufferMemory)                                                                           \
  CALL(CmdBindDescriptorSets)                                                                      \
  CALL(CmdBindPipeline)                                                                            \
  CALL(CmdCopyBuffer)                                                                              \
  CALL(CmdDispatch)                                                                                \
  CALL(CmdPipelineBarrier)                                                                         \
  CALL(CmdPushConstants)                                                                           \
  CALL(CreateBuffer)                                                                               \
  CALL(CreateCommandPool)                                                                          \
  CALL(CreateComputePipelines)                                                                     \
  CALL(CreateDescriptorPool)                                                                       \
  CALL(CreateDescriptorSetLayout)                                                                  \
  CALL(CreateFence)                                                                                \
  CALL(CreatePipelineLayout)                                                                       \
  CALL(CreateShaderModule)                                                                         \
  CALL(DestroyBuffer)                                                                              \
  CALL(DestroyCommandPool)                                                                         \
  CALL(DestroyDescriptorPool)                                                                      \
  CALL(DestroyDescriptorSetLayout)                                                                 \
  CALL(DestroyDevice)                                                                              \
  CALL(DestroyFence)                                                                               \
  CALL(DestroyPipeline)                                                                            \
  CALL(DestroyPipelineLayout)                                                                      \
  CALL(DestroyShaderModule)                                                                        \
  CALL(DeviceWaitIdle)                                                                             \
  CALL(EndCommandBuffer)                                                                           \
  CALL(FreeMemory)                                                                                 \
  CALL(GetBufferMemoryRequirements)                                                                \
  CALL(GetDeviceQueue)                                                                             \
  CALL(MapMemory)                                                                                  \
  CALL(QueueSubmit)                                                                                \
  CALL(ResetCommandPool)                                                                           \
  CALL(ResetFences)                                                                                \
  CALL(UpdateDescriptorSets)                                                                       \
  CALL(WaitForFences)

struct VulkanCalls {
#define CALL(name) PFN_vk##name name = nullptr;
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
  std::set<std::string, std::less<>> features; // that are on, by name
  VkPhysicalDeviceLimits limits = {};
  VkDeviceSize maxBufferBytes = 0;
  uint32_t queueFamily = 0;
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
