#include "devices/internal/VulkanProgram.h"

#include "devices/internal/FramePool.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace plim::devices::internal {
namespace {

struct Kernel {
  VkDescriptorSetLayout setLayout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
};

constexpr VkDeviceSize roundUp(VkDeviceSize bytes, VkDeviceSize unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Blocks of memory in which the pieces of a launch lie one after the other; kept from launch to launch, as large as
/// the largest needed them. More than one block only where the device has no buffer that is large enough.
class Arena {
public:
  Arena(VulkanDriver &driver, VulkanDriver::Memory use) : driver(driver), use(use) {}

  struct Place {
    size_t block = 0;
    VkDeviceSize offset = 0;
  };

  void clear() { needed.clear(); }

  Place add(VkDeviceSize bytes) {
    if (needed.empty() ||
        bytes > driver.maxBufferBytes - std::min(needed.back(), driver.maxBufferBytes))
      needed.push_back(0);
    Place place = {needed.size() - 1, needed.back()};
    needed.back() = roundUp(place.offset + bytes, alignment);
    return place;
  }

  /// Gives all that was added since clear() its memory.
  Status commit() {
    if (blocks.size() < needed.size())
      blocks.resize(needed.size());
    for (size_t i = 0; i < needed.size(); ++i) {
      if (blocks[i].bytes >= needed[i])
        continue;
      blocks[i] = {}; // before the next one is taken
      PLIM_ASSIGN_OR_RETURN(blocks[i], driver.createBuffer(use, capacity(needed[i])));
    }
    return okStatus();
  }

  const VulkanBuffer &block(const Place &place) const { return blocks[place.block]; }

private:
  // Vulkan guarantees that offsets of storage buffers need no more.
  static constexpr VkDeviceSize alignment = 256;

  /// An eighth of reserve at most, so that sizes which grow slowly do not need a new block each time.
  VkDeviceSize capacity(VkDeviceSize bytes) const {
    VkDeviceSize rounded = roundUp(bytes, std::max<VkDeviceSize>(65536, std::bit_floor(bytes) / 8));
    return std::max(bytes, std::min(rounded, driver.maxBufferBytes));
  }

  VulkanDriver &driver;
  VulkanDriver::Memory use;
  std::vector<VkDeviceSize> needed; // bytes of each block
  std::vector<VulkanBuffer> blocks;
};

/// Where a buffer of the launch is: an argument or a temporary.
struct Slot {
  bool isUsed = false; // by a kernel that runs
  bool copiesIn = false;
  bool copiesOut = false;
  const VulkanBuffer *buffer = nullptr;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;
  Arena::Place place, staging;
  std::shared_ptr<const VulkanBuffer> constant; // that it is in
  /// Memory of the device that it is copied from and to, as kernels take no buffer that begins there.
  const VulkanBuffer *apart = nullptr;
  VkDeviceSize apartOffset = 0;
};

class VulkanProgram;

class Frame {
public:
  explicit Frame(VulkanProgram &program);
  ~Frame();
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  Status create();
  Status run(const GpuLaunch &launch);

private:
  Status createDescriptors();
  Status runIn(const GpuLaunch &launch);
  Status placeBuffers(const GpuLaunch &launch);
  Status placeBuffer(Slot &slot, const void *data, VkDeviceSize bytes, const GpuArgument *argument);
  StatusOr<bool> findInDevice(Slot &slot, const void *data, VkDeviceSize bytes);
  StatusOr<std::shared_ptr<const VulkanBuffer>> copyConstant(const void *data, size_t bytes);
  void copyIn(const GpuLaunch &launch);
  void copyOut(const GpuLaunch &launch);
  std::byte *hostMemory(const Slot &slot) const;
  void writeDescriptors(const GpuLaunch &launch);
  Status begin();
  Status record(const GpuLaunch &launch);
  void recordKernels(const GpuLaunch &launch);
  void recordCopies(const GpuLaunch &launch, bool isIn);
  void recordBarrier(VkPipelineStageFlags fromStages, VkAccessFlags from,
                     VkPipelineStageFlags toStages, VkAccessFlags to);
  /// Nothing of the host's is copied through a second buffer.
  bool isUnified() const { return driver.isUnified; }

  VulkanProgram &program;
  VulkanDriver &driver;
  const VulkanCalls &vk;
  VkCommandPool commandPool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  VkDescriptorPool descriptorPool = VK_NULL_HANDLE;
  std::vector<VkDescriptorSet> sets; // of each kernel
  Arena blocks, staging;
  std::vector<Slot> slots;                   // arguments, then temporaries
  std::vector<VkDescriptorBufferInfo> infos; // of all kernels' buffers
  std::vector<VkWriteDescriptorSet> writes;  // of the kernels that run
};

class VulkanProgram final : public GpuProgram {
public:
  VulkanProgram(std::shared_ptr<VulkanShared> shared, GpuCode code)
      : shared(std::move(shared)), program(std::move(code)), kernels(program.kernels.size()) {
    this->shared->idle.frames.add(&frames);
  }
  ~VulkanProgram() override {
    shared->idle.frames.remove(&frames);
    frames.drop();
    shared->idle.constants.tryAgain();
    const VulkanCalls &vk = driver().calls;
    for (const Kernel &kernel : kernels) {
      vk.destroyPipeline(driver().device, kernel.pipeline, nullptr);
      vk.destroyPipelineLayout(driver().device, kernel.layout, nullptr);
      vk.destroyDescriptorSetLayout(driver().device, kernel.setLayout, nullptr);
    }
  }

  Status load();

  const GpuCode &code() const override { return program; }

  Status run(const GpuLaunch &launch) override {
    PLIM_RETURN_IF_ERROR(driver().checkAlive());
    return shared->idle.withMemory([&]() -> Status {
      PLIM_ASSIGN_OR_RETURN(auto frame, takeFrame());
      return frame->run(launch);
    });
  }

  VulkanDriver &driver() const { return *shared->driver; }

  std::shared_ptr<VulkanShared> shared;
  const GpuCode program;
  std::vector<Kernel> kernels;

private:
  StatusOr<FramePool<Frame>::Lease> takeFrame() {
    return frames.take([&]() -> StatusOr<std::unique_ptr<Frame>> {
      auto frame = std::make_unique<Frame>(*this);
      PLIM_RETURN_IF_ERROR(frame->create());
      return frame;
    });
  }
  Status checkLimits(const GpuKernel &kernel) const;
  Status createLayouts(const GpuKernel &source, Kernel &kernel);
  Status createPipelines(uint32_t module);

  FramePool<Frame> frames;
};

uint32_t wordBytes(const GpuKernel &kernel) {
  uint32_t bytes = 0;
  for (const GpuWord &word : kernel.words)
    bytes += word.bits / 8;
  return bytes;
}

Frame::Frame(VulkanProgram &program)
    : program(program), driver(program.driver()), vk(driver.calls),
      blocks(driver, VulkanDriver::Memory::Kernels), staging(driver, VulkanDriver::Memory::Staging),
      slots(program.program.arguments.size() + program.program.temporaries.size()) {}

Frame::~Frame() {
  vk.destroyDescriptorPool(driver.device, descriptorPool, nullptr);
  vk.destroyFence(driver.device, fence, nullptr);
  vk.destroyCommandPool(driver.device, commandPool, nullptr); // and its commands
}

Status Frame::create() {
  VkCommandPoolCreateInfo poolInfo = {};
  poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  poolInfo.queueFamilyIndex = driver.queueFamily;
  PLIM_RETURN_IF_ERROR(
      driver.check(vk.createCommandPool(driver.device, &poolInfo, nullptr, &commandPool),
                   "vkCreateCommandPool"));
  VkCommandBufferAllocateInfo commandInfo = {};
  commandInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commandInfo.commandPool = commandPool;
  commandInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commandInfo.commandBufferCount = 1;
  PLIM_RETURN_IF_ERROR(
      driver.check(vk.allocateCommandBuffers(driver.device, &commandInfo, &commands),
                   "vkAllocateCommandBuffers"));
  VkFenceCreateInfo fenceInfo = {};
  fenceInfo.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  PLIM_RETURN_IF_ERROR(
      driver.check(vk.createFence(driver.device, &fenceInfo, nullptr, &fence), "vkCreateFence"));
  return createDescriptors();
}

Status Frame::createDescriptors() {
  size_t buffers = 0;
  std::vector<VkDescriptorSetLayout> layouts;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    layouts.push_back(program.kernels[i].setLayout);
    buffers += program.program.kernels[i].buffers.size();
  }
  sets.resize(layouts.size());
  infos.resize(buffers);
  writes.reserve(layouts.size());
  if (buffers == 0)
    return okStatus();
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, static_cast<uint32_t>(buffers)};
  VkDescriptorPoolCreateInfo poolInfo = {};
  poolInfo.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  poolInfo.maxSets = static_cast<uint32_t>(sets.size());
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  PLIM_RETURN_IF_ERROR(
      driver.check(vk.createDescriptorPool(driver.device, &poolInfo, nullptr, &descriptorPool),
                   "vkCreateDescriptorPool"));
  VkDescriptorSetAllocateInfo setInfo = {};
  setInfo.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  setInfo.descriptorPool = descriptorPool;
  setInfo.descriptorSetCount = static_cast<uint32_t>(layouts.size());
  setInfo.pSetLayouts = layouts.data();
  return driver.check(vk.allocateDescriptorSets(driver.device, &setInfo, sets.data()),
                      "vkAllocateDescriptorSets");
}

Status Frame::run(const GpuLaunch &launch) {
  Status status = runIn(launch);
  for (Slot &slot : slots)
    slot.constant = nullptr;
  return status;
}

Status Frame::runIn(const GpuLaunch &launch) {
  PLIM_RETURN_IF_ERROR(placeBuffers(launch));
  copyIn(launch);
  writeDescriptors(launch);
  PLIM_RETURN_IF_ERROR(record(launch));
  PLIM_RETURN_IF_ERROR(driver.submitAndWait(commands, fence));
  copyOut(launch);
  return okStatus();
}

Status Frame::placeBuffers(const GpuLaunch &launch) {
  std::ranges::fill(slots, Slot());
  for (size_t i = 0; i < launch.kernels.size(); ++i) {
    if (launch.kernels[i].workgroups == 0)
      continue;
    const GpuKernel &kernel = program.program.kernels[i];
    if (launch.kernels[i].iterations > driver.maxIterations)
      return outOfRangeError("kernel '" + kernel.entry + "' goes through loops " +
                             std::to_string(launch.kernels[i].iterations) + " times; '" +
                             driver.model + "' ends them after " +
                             std::to_string(driver.maxIterations));
    for (uint32_t buffer : kernel.buffers)
      slots[buffer].isUsed = true;
  }

  blocks.clear();
  staging.clear();
  size_t arguments = launch.arguments.size();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].isUsed)
      continue;
    Status placed =
        i < arguments
            ? placeBuffer(slots[i], launch.arguments[i].data, launch.arguments[i].bytes,
                          &program.program.arguments[i])
            : placeBuffer(slots[i], nullptr, launch.temporaryBytes[i - arguments], nullptr);
    PLIM_RETURN_IF_ERROR(placed);
  }
  PLIM_RETURN_IF_ERROR(blocks.commit());
  PLIM_RETURN_IF_ERROR(staging.commit());
  for (Slot &slot : slots)
    if (slot.isUsed && !slot.buffer) {
      slot.buffer = &blocks.block(slot.place);
      slot.offset = slot.place.offset;
    }
  return okStatus();
}

/// `argument` is null for a temporary.
Status Frame::placeBuffer(Slot &slot, const void *data, VkDeviceSize bytes,
                          const GpuArgument *argument) {
  // A binding is never empty.
  slot.bytes = std::max<VkDeviceSize>(bytes, 16);
  if (slot.bytes > driver.limits.maxStorageBufferRange)
    return outOfRangeError("a buffer of " + std::to_string(bytes) +
                           " bytes; kernels of the device reach " +
                           std::to_string(driver.limits.maxStorageBufferRange));
  if (argument && bytes > 0) {
    slot.copiesIn = argument->isRead;
    slot.copiesOut = argument->isWritten;
    PLIM_ASSIGN_OR_RETURN(bool isInDevice, findInDevice(slot, data, bytes));
    if (isInDevice && slot.apartOffset % driver.limits.minStorageBufferOffsetAlignment == 0) {
      slot.buffer = std::exchange(slot.apart, nullptr);
      slot.offset = slot.apartOffset;
      slot.bytes = bytes;
      slot.copiesIn = slot.copiesOut = false;
      return okStatus();
    }
  }
  slot.place = blocks.add(slot.bytes);
  if (!isUnified() && !slot.apart && (slot.copiesIn || slot.copiesOut))
    slot.staging = staging.add(slot.bytes);
  return okStatus();
}

/// Sets where the argument is apart from the frame's blocks, if it is in memory of the device or in a constant that the
/// device has.
StatusOr<bool> Frame::findInDevice(Slot &slot, const void *data, VkDeviceSize bytes) {
  VulkanShared &shared = *program.shared;
  if (auto found = shared.allocations.find(reinterpret_cast<uintptr_t>(data))) {
    if (bytes > found->bytes)
      return outOfRangeError("an argument reaches beyond the device's memory that it is in");
    slot.apart = found->value;
    slot.apartOffset = found->offset;
    return true;
  }
  if (!slot.copiesIn || slot.copiesOut)
    return false;
  PLIM_ASSIGN_OR_RETURN(
      auto found, shared.idle.constants.find(data, bytes, [&](const void *all, size_t allBytes) {
        return copyConstant(all, allBytes);
      }));
  if (!found.copy)
    return false;
  slot.apart = found.copy.get();
  slot.apartOffset = found.offset;
  slot.constant = std::move(found.copy);
  return true;
}

/// What comes after this on the queue finds it there.
StatusOr<std::shared_ptr<const VulkanBuffer>> Frame::copyConstant(const void *data, size_t bytes) {
  using enum VulkanDriver::Memory;
  constexpr size_t pieceBytes = 16 << 20; // that go through staging at once
  if (bytes > driver.maxBufferBytes)
    return resourceExhaustedError("no buffer is large enough for a constant");
  auto create = [&](VulkanDriver::Memory use, size_t size) {
    return program.shared->idle.withoutIdleFrames([&] { return driver.createBuffer(use, size); });
  };
  PLIM_ASSIGN_OR_RETURN(VulkanBuffer created, create(Kernels, bytes));
  auto copy = std::make_shared<const VulkanBuffer>(std::move(created));
  if (copy->mapped) {
    std::memcpy(copy->mapped, data, bytes);
    return copy;
  }
  PLIM_ASSIGN_OR_RETURN(VulkanBuffer piece, create(Staging, std::min(bytes, pieceBytes)));
  for (size_t done = 0; done < bytes; done += pieceBytes) {
    const VkBufferCopy region = {0, done, std::min(bytes - done, pieceBytes)};
    std::memcpy(piece.mapped, static_cast<const std::byte *>(data) + done, region.size);
    PLIM_RETURN_IF_ERROR(begin());
    vk.cmdCopyBuffer(commands, piece.handle, copy->handle, 1, &region);
    PLIM_RETURN_IF_ERROR(driver.check(vk.endCommandBuffer(commands), "vkEndCommandBuffer"));
    PLIM_RETURN_IF_ERROR(driver.submitAndWait(commands, fence));
  }
  return copy;
}

std::byte *Frame::hostMemory(const Slot &slot) const {
  return isUnified() ? slot.buffer->mapped + slot.offset
                     : staging.block(slot.staging).mapped + slot.staging.offset;
}

void Frame::copyIn(const GpuLaunch &launch) {
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    if (slots[i].copiesIn && !slots[i].apart)
      std::memcpy(hostMemory(slots[i]), launch.arguments[i].data, launch.arguments[i].bytes);
}

void Frame::copyOut(const GpuLaunch &launch) {
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    if (slots[i].copiesOut && !slots[i].apart)
      std::memcpy(launch.arguments[i].data, hostMemory(slots[i]), launch.arguments[i].bytes);
}

void Frame::writeDescriptors(const GpuLaunch &launch) {
  writes.clear();
  VkDescriptorBufferInfo *info = infos.data();
  for (size_t i = 0; i < launch.kernels.size(); ++i) {
    const std::vector<uint32_t> &buffers = program.program.kernels[i].buffers;
    if (launch.kernels[i].workgroups == 0 || buffers.empty())
      continue;
    // One write goes on from binding to binding.
    VkWriteDescriptorSet &write = writes.emplace_back();
    write = {};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = sets[i];
    write.descriptorCount = static_cast<uint32_t>(buffers.size());
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = info;
    for (uint32_t buffer : buffers)
      *info++ = {slots[buffer].buffer->handle, slots[buffer].offset, slots[buffer].bytes};
  }
  vk.updateDescriptorSets(driver.device, static_cast<uint32_t>(writes.size()), writes.data(), 0,
                          nullptr);
}

void Frame::recordBarrier(VkPipelineStageFlags fromStages, VkAccessFlags from,
                          VkPipelineStageFlags toStages, VkAccessFlags to) {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = from;
  barrier.dstAccessMask = to;
  vk.cmdPipelineBarrier(commands, fromStages, toStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

constexpr VkPipelineStageFlags inKernels = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags inCopies = VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kernelsAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;

Status Frame::begin() {
  PLIM_RETURN_IF_ERROR(
      driver.check(vk.resetCommandPool(driver.device, commandPool, 0), "vkResetCommandPool"));
  VkCommandBufferBeginInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  return driver.check(vk.beginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

Status Frame::record(const GpuLaunch &launch) {
  PLIM_RETURN_IF_ERROR(begin());
  // What the host wrote is there from the submission on; what earlier launches wrote must be asked for.
  recordBarrier(inKernels | inCopies, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                inKernels | inCopies,
                kernelsAccess | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  recordCopies(launch, /*isIn=*/true);
  recordKernels(launch);
  recordCopies(launch, /*isIn=*/false);
  recordBarrier(inKernels | inCopies, VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  return driver.check(vk.endCommandBuffer(commands), "vkEndCommandBuffer");
}

void Frame::recordKernels(const GpuLaunch &launch) {
  bool isFirst = true;
  for (size_t i = 0; i < launch.kernels.size(); ++i) {
    const GpuLaunch::Kernel &run = launch.kernels[i];
    const Kernel &kernel = program.kernels[i];
    if (run.workgroups == 0)
      continue;
    if (!std::exchange(isFirst, false))
      recordBarrier(inKernels, VK_ACCESS_SHADER_WRITE_BIT, inKernels, kernelsAccess);
    vk.cmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
    if (sets[i])
      vk.cmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1,
                               &sets[i], 0, nullptr);
    if (!run.words.empty())
      vk.cmdPushConstants(commands, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(run.words.size()), run.words.data());
    vk.cmdDispatch(commands, std::min(run.workgroups, driver.limits.maxComputeWorkGroupCount[0]), 1,
                   1);
  }
}

/// With barriers between them and the kernels.
void Frame::recordCopies(const GpuLaunch &launch, bool isIn) {
  auto isCopied = [&](const Slot &slot) {
    return (isIn ? slot.copiesIn : slot.copiesOut) && (slot.apart || !isUnified());
  };
  if (std::ranges::none_of(slots, isCopied))
    return;
  if (!isIn)
    recordBarrier(inKernels, VK_ACCESS_SHADER_WRITE_BIT, inCopies,
                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const Slot &slot = slots[i];
    if (!isCopied(slot))
      continue;
    VkBuffer other = slot.apart ? slot.apart->handle : staging.block(slot.staging).handle;
    VkBuffer own = slot.buffer->handle;
    VkDeviceSize otherOffset = slot.apart ? slot.apartOffset : slot.staging.offset;
    VkBufferCopy region = {};
    region.srcOffset = isIn ? otherOffset : slot.offset;
    region.dstOffset = isIn ? slot.offset : otherOffset;
    region.size = launch.arguments[i].bytes;
    vk.cmdCopyBuffer(commands, isIn ? other : own, isIn ? own : other, 1, &region);
  }
  if (isIn)
    recordBarrier(inCopies, VK_ACCESS_TRANSFER_WRITE_BIT, inKernels, kernelsAccess);
}

Status VulkanProgram::load() {
  for (const std::string &feature : program.features)
    if (!driver().features.contains(feature))
      return failedPreconditionError("the device '" + driver().model + "' has no " + feature);
  for (size_t i = 0; i < kernels.size(); ++i) {
    Status created = checkLimits(program.kernels[i]);
    if (created.ok())
      created = createLayouts(program.kernels[i], kernels[i]);
    if (!created.ok())
      return created.withContext("kernel '" + program.kernels[i].entry + "'");
  }
  for (uint32_t module = 0; module < program.modules.size(); ++module)
    PLIM_RETURN_IF_ERROR(createPipelines(module));
  return takeFrame().status(); // the first launch finds it
}

Status VulkanProgram::checkLimits(const GpuKernel &kernel) const {
  const VkPhysicalDeviceLimits &limits = driver().limits;
  auto check = [&](const char *what, uint64_t needed, uint64_t limit) {
    return needed <= limit
               ? okStatus()
               : failedPreconditionError(std::string(what) + ": " + std::to_string(needed) +
                                         ", the device has " + std::to_string(limit));
  };
  uint64_t invocations = 1;
  for (size_t i = 0; i < kernel.workgroupSize.size(); ++i) {
    PLIM_RETURN_IF_ERROR(
        check("size of a workgroup", kernel.workgroupSize[i], limits.maxComputeWorkGroupSize[i]));
    invocations *= kernel.workgroupSize[i]; // each at most the limit: no overflow that matters
    PLIM_RETURN_IF_ERROR(
        check("invocations of a workgroup", invocations, limits.maxComputeWorkGroupInvocations));
  }
  PLIM_RETURN_IF_ERROR(
      check("bytes of push constants", wordBytes(kernel), limits.maxPushConstantsSize));
  return check("storage buffers", kernel.buffers.size(),
               std::min({limits.maxPerStageDescriptorStorageBuffers,
                         limits.maxDescriptorSetStorageBuffers, limits.maxPerStageResources}));
}

Status VulkanProgram::createLayouts(const GpuKernel &source, Kernel &kernel) {
  const VulkanCalls &vk = driver().calls;
  std::vector<VkDescriptorSetLayoutBinding> bindings(source.buffers.size());
  for (uint32_t i = 0; i < bindings.size(); ++i)
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo setInfo = {};
  setInfo.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  setInfo.bindingCount = static_cast<uint32_t>(bindings.size());
  setInfo.pBindings = bindings.data();
  PLIM_RETURN_IF_ERROR(driver().check(
      vk.createDescriptorSetLayout(driver().device, &setInfo, nullptr, &kernel.setLayout),
      "vkCreateDescriptorSetLayout"));

  VkPushConstantRange words = {VK_SHADER_STAGE_COMPUTE_BIT, 0, wordBytes(source)};
  VkPipelineLayoutCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.setLayoutCount = 1;
  info.pSetLayouts = &kernel.setLayout;
  info.pushConstantRangeCount = words.size > 0 ? 1 : 0;
  info.pPushConstantRanges = &words;
  return driver().check(vk.createPipelineLayout(driver().device, &info, nullptr, &kernel.layout),
                        "vkCreatePipelineLayout");
}

/// Those of the kernels that are in this module.
Status VulkanProgram::createPipelines(uint32_t module) {
  const VulkanCalls &vk = driver().calls;
  const std::string &bytes = program.modules[module];
  std::vector<uint32_t> code(bytes.size() / 4);
  std::memcpy(code.data(), bytes.data(), bytes.size());
  constexpr uint32_t magic = 0x07230203, headerWords = 5;
  if (code.size() < headerWords || code[0] != magic)
    return failedPreconditionError("module #" + std::to_string(module) + " is no SPIR-V");
  VkShaderModuleCreateInfo moduleInfo = {};
  moduleInfo.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  moduleInfo.codeSize = bytes.size();
  moduleInfo.pCode = code.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  PLIM_RETURN_IF_ERROR(
      driver().check(vk.createShaderModule(driver().device, &moduleInfo, nullptr, &shader),
                     "vkCreateShaderModule"));
  Status status;
  for (size_t i = 0; i < kernels.size() && status.ok(); ++i) {
    if (program.kernels[i].module != module)
      continue;
    const VkPipelineShaderStageCreateInfo stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .pNext = nullptr,
        .flags = 0,
        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
        .module = shader,
        .pName = program.kernels[i].entry.c_str(),
        .pSpecializationInfo = nullptr};
    const VkComputePipelineCreateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .pNext = nullptr,
                                              .flags = 0,
                                              .stage = stage,
                                              .layout = kernels[i].layout,
                                              .basePipelineHandle = VK_NULL_HANDLE,
                                              .basePipelineIndex = -1};
    status = driver()
                 .check(vk.createComputePipelines(driver().device, VK_NULL_HANDLE, 1, &info,
                                                  nullptr, &kernels[i].pipeline),
                        "vkCreateComputePipelines")
                 .withContext("kernel '" + program.kernels[i].entry + "'");
  }
  vk.destroyShaderModule(driver().device, shader, nullptr);
  return status;
}

} // namespace

StatusOr<std::shared_ptr<GpuProgram>> loadVulkan(std::shared_ptr<VulkanShared> shared,
                                                 GpuCode code) {
  auto program = std::make_shared<VulkanProgram>(std::move(shared), std::move(code));
  PLIM_RETURN_IF_ERROR(program->load());
  return std::shared_ptr<GpuProgram>(std::move(program));
}

} // namespace plim::devices::internal
