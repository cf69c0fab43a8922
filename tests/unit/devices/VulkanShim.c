// A loader of Vulkan that stands before the real one: it counts memory, copies and fences, and fails when told to.
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { Allocate, Submit, Wait, Calls };
static int results[Calls], counts[Calls];
static int memories, copies, fences;

static PFN_vkGetInstanceProcAddr getInstanceProc;
static PFN_vkGetDeviceProcAddr getDeviceProc;
static PFN_vkAllocateMemory allocateMemory;
static PFN_vkFreeMemory freeMemory;
static PFN_vkCmdCopyBuffer copyBuffer;
static PFN_vkQueueSubmit queueSubmit;
static PFN_vkWaitForFences waitForFences;
static PFN_vkCreateFence createFence;
static PFN_vkDestroyFence destroyFence;

/// The next `count` of these calls answer `result`: 0 of memory, 1 submissions, 2 waits.
EXPORT void shimFail(int call, int result, int count) {
  results[call] = result;
  counts[call] = count;
}
/// Blocks of memory that nobody gave back.
EXPORT int shimMemories(void) { return memories; }
EXPORT int shimCopies(void) { return copies; }
/// Fences that nobody destroyed.
EXPORT int shimFences(void) { return fences; }

static VkResult answer(int call) { return counts[call] > 0 ? (--counts[call], results[call]) : 0; }

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *callbacks,
                                               VkDeviceMemory *memory) {
  VkResult result = answer(Allocate);
  if (result == VK_SUCCESS)
    result = allocateMemory(device, info, callbacks, memory);
  memories += result == VK_SUCCESS;
  return result;
}

static VKAPI_ATTR void VKAPI_CALL release(VkDevice device, VkDeviceMemory memory,
                                          const VkAllocationCallbacks *callbacks) {
  memories -= memory != VK_NULL_HANDLE;
  freeMemory(device, memory, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                       uint32_t count, const VkBufferCopy *regions) {
  ++copies;
  copyBuffer(commands, from, to, count, regions);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo *infos, VkFence fence) {
  VkResult result = answer(Submit);
  return result == VK_SUCCESS ? queueSubmit(queue, count, infos, fence) : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, uint32_t count, const VkFence *fences,
                                           VkBool32 all, uint64_t timeout) {
  VkResult result = waitForFences(device, count, fences, all, timeout);
  VkResult told = answer(Wait);
  return told == VK_SUCCESS ? result : told;
}

static VKAPI_ATTR VkResult VKAPI_CALL makeFence(VkDevice device, const VkFenceCreateInfo *info,
                                                const VkAllocationCallbacks *callbacks,
                                                VkFence *fence) {
  VkResult result = createFence(device, info, callbacks, fence);
  fences += result == VK_SUCCESS;
  return result;
}

static VKAPI_ATTR void VKAPI_CALL dropFence(VkDevice device, VkFence fence,
                                            const VkAllocationCallbacks *callbacks) {
  fences -= fence != VK_NULL_HANDLE;
  destroyFence(device, fence, callbacks);
}

#define REPLACE(symbol, real, ours)                                                                \
  if (!strcmp(name, symbol)) {                                                                     \
    real = (__typeof__(real))getDeviceProc(device, name);                                          \
    return (PFN_vkVoidFunction)ours;                                                               \
  }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL deviceProc(VkDevice device, const char *name) {
  REPLACE("vkAllocateMemory", allocateMemory, allocate)
  REPLACE("vkFreeMemory", freeMemory, release)
  REPLACE("vkCmdCopyBuffer", copyBuffer, copy)
  REPLACE("vkQueueSubmit", queueSubmit, submit)
  REPLACE("vkWaitForFences", waitForFences, wait)
  REPLACE("vkCreateFence", createFence, makeFence)
  REPLACE("vkDestroyFence", destroyFence, dropFence)
  return getDeviceProc(device, name);
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                      const char *name) {
  if (!getInstanceProc) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
      getInstanceProc = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
    if (!getInstanceProc)
      return NULL;
  }
  PFN_vkVoidFunction real = getInstanceProc(instance, name);
  if (strcmp(name, "vkGetDeviceProcAddr"))
    return real;
  getDeviceProc = (PFN_vkGetDeviceProcAddr)real;
  return (PFN_vkVoidFunction)deviceProc;
}
