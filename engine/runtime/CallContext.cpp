#include "engine/runtime/CallContext.h"

#include "engine/runtime/ByteSize.h"
#include "engine/runtime/Executor.h"
#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/FaultReport.h"
#include "engine/runtime/StackBounds.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace plim::runtime {
namespace {

constexpr const char *unnamed = "a buffer that is no argument";

constexpr plim_code codeOf(StatusCode code) { return static_cast<plim_code>(code); }

plim_context makeContext(void *slab, const CallMemory &memory) {
  plim_context context{};
  context.magic = PLIM_ABI_MAGIC;
  context.version = PLIM_ABI_VERSION;
  context.flags = memory.flags;
  context.workspace = slab;
  context.workspace_bytes = slab ? memory.slabBytes : 0;
  context.pools = memory.pools;
  context.offsets = memory.offsets;
  context.variables = memory.variables;
  return context;
}

} // namespace

std::string outputMismatch(int64_t index, int64_t rank, const int64_t *given,
                           const int64_t *needed) {
  auto text = [&](const int64_t *sizes) {
    std::string shape;
    for (int64_t i = 0; i < rank; ++i)
      shape += (i == 0 ? "" : "x") + std::to_string(sizes[i]);
    return shape;
  };
  return "result #" + std::to_string(index) + " has the extents " + text(needed) +
         ", the buffer given for it " + text(given);
}

CallFrame::CallFrame(CallContext &call, const plim_context &context) : abi(context), owner(call) {
  abi.call = this;
  // Generated code reads it as a plain integer, atomically.
  abi.call_status = reinterpret_cast<const plim_code *>(&call.firstCode);
}

CallFrame::~CallFrame() {
  if (arena)
    owner.executor().scratchCache().giveBack(arena);
  if (area)
    owner.giveBackArea(area);
}

void *CallFrame::scratchOfCaller(size_t bytes) {
  constexpr size_t alignment = PLIM_BUFFER_ALIGNMENT;
  size_t capacity = owner.memory.scratchBytes;
  if (!area)
    area = owner.takeArea();
  if (!area || bytes > capacity)
    return nullptr;
  bytes = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (bytes > capacity - areaUsed)
    return nullptr;
  return area + std::exchange(areaUsed, areaUsed + bytes);
}

void *CallFrame::scratch(int64_t bytes) {
  void *memory = nullptr;
  if (bytes >= 0 && owner.memory.ownWorkspace) {
    memory = scratchOfCaller(static_cast<size_t>(bytes));
  } else if (bytes >= 0) {
    if (!arena)
      arena = owner.executor().scratchCache().take();
    if (arena)
      memory = arena->allocate(static_cast<size_t>(bytes));
  }
  if (!memory) {
    StatusCode code = bytes < 0 ? StatusCode::InvalidArgument : StatusCode::ResourceExhausted;
    owner.latch(codeOf(code), "no scratch memory of " + std::to_string(bytes) + " bytes");
    abi.status = codeOf(code);
  }
  return memory;
}

CallContext::CallContext(Executor &executor, MemoryPool &pool, MemoryPool &slabs,
                         const CallMemory &memory)
    : exec(executor), pool(pool), slabs(slabs), memory(memory),
      slab(memory.ownWorkspace     ? memory.workspace
           : memory.slabBytes != 0 ? slabs.allocate(memory.slabBytes)
                                   : nullptr),
      owned{&owned, &owned}, hostFrame(*this, makeContext(slab, memory)) {
  if (slab || memory.slabBytes == 0)
    return;
  if (memory.offsets)
    std::fill_n(memory.offsets, memory.offsetCount, -1);
  else
    latch(codeOf(StatusCode::ResourceExhausted),
          "no memory for a workspace of " + std::to_string(memory.slabBytes) + " bytes");
}

CallContext::~CallContext() {
  releaseAll();
  if (!memory.ownWorkspace)
    slabs.release(slab);
}

std::byte *CallContext::takeArea() {
  LockGuard lock(mutex);
  if (std::byte *area = freeAreas) {
    std::memcpy(&freeAreas, area, sizeof freeAreas);
    return area;
  }
  if (areasBegun == memory.scratchCount)
    return nullptr;
  return memory.workspace + memory.slabBytes + areasBegun++ * memory.scratchBytes;
}

void CallContext::giveBackArea(std::byte *area) {
  LockGuard lock(mutex);
  std::memcpy(area, &freeAreas, sizeof freeAreas);
  freeAreas = area;
}

void CallContext::runHere(plim_function_entry entry, const plim_view *arguments,
                          const plim_view *results) {
  FloatEnvironment environment;
  plim_code code;
  try {
    if (!memory.checked) [[likely]]
      code = entry(context(), arguments, results);
    else
      code = runChecked(entry, arguments, results);
  } catch (...) {
    code = codeOf(StatusCode::Unknown);
    latch(code, "an exception left the function");
  }
  if (code != 0)
    latch(code, "the function failed without a message");
}

plim_code CallContext::runChecked(plim_function_entry entry, const plim_view *arguments,
                                  const plim_view *results) {
  plim_code code = 0;
  std::optional<Fault> fault =
      FaultGuard::run([&] { code = entry(context(), arguments, results); });
  auto argument = [&](size_t i) { return memory.checked->arguments[i].data; };
  if (!fault) {
    for (size_t i = 0; i < memory.checked->arguments.size(); ++i)
      checkSlack(argument(i), "argument #" + std::to_string(i));
    for (const void *variable : memory.checked->variables)
      checkSlack(variable, "");
    LockGuard lock(mutex);
    for (BlockLink *link = owned.next; link != &owned; link = link->next)
      checkSlack(pool.blockOf(link), unnamed);
    return code != 0 ? code : failed();
  }
  latch(codeOf(StatusCode::OutOfRange),
        std::string(memory.checked->function) + " " +
            describeFault(*fault, *memory.checked->memory, "argument",
                          memory.checked->arguments.size(), argument));
  return failed();
}

void CallContext::checkSlack(const void *block, const std::string &what) {
  if (auto damage = memory.checked->memory->takeDamage(block))
    latch(codeOf(StatusCode::OutOfRange),
          std::string(memory.checked->function) + " " + describeDamage(*damage, what));
}

Status CallContext::run(plim_function_entry entry, const plim_view *arguments,
                        const plim_view *results, const StackDemand &stack) {
  demand = stack;
  if (failed()) {
    // No slab: nothing runs.
  } else if (StackBounds::left() >= static_cast<size_t>(stack.bytes)) [[likely]] {
    runHere(entry, arguments, results);
  } else {
    auto job = [&] { runHere(entry, arguments, results); };
    if (Status status = exec.callThreads().run(stack.bytes, job); !status.ok())
      latch(codeOf(status.code()), status.message());
  }
  exec.noteMemory();
  Status result = status();
  if (!result.ok())
    releaseAll();
  return result;
}

bool CallContext::hasStackForRecursion() const {
  int64_t turn = std::max<int64_t>(demand.bytes - PLIM_RECURSION_STACK, 0);
  return StackBounds::left() >= static_cast<size_t>(turn);
}

void CallContext::latch(plim_code code, std::string_view text) {
  plim_code none = 0;
  if (!firstCode.compare_exchange_strong(none, code, std::memory_order_acq_rel))
    return;
  try {
    message = text;
  } catch (...) {
    // No memory for the message: the code alone still tells.
  }
  messageReady.store(true, std::memory_order_release);
}

Status CallContext::status() const {
  plim_code code = failed();
  if (code == 0)
    return okStatus();
  while (!messageReady.load(std::memory_order_acquire))
    std::this_thread::yield();
  return errorAtPlace(static_cast<StatusCode>(code), message);
}

void *CallContext::allocate(int64_t rank, const int64_t *sizes, int64_t elementBytes) {
  StatusOr<int64_t> bytes = byteSizeOf({sizes, static_cast<size_t>(rank)}, elementBytes);
  if (!bytes.ok()) {
    latch(codeOf(bytes.status().code()), bytes.status().message());
    return nullptr;
  }
  void *block = pool.allocate(static_cast<size_t>(*bytes));
  if (!block) {
    latch(codeOf(StatusCode::ResourceExhausted),
          "no memory for a buffer of " + std::to_string(*bytes) + " bytes");
    return nullptr;
  }
  BlockLink *link = pool.linkOf(block);
  LockGuard lock(mutex);
  link->next = owned.next;
  link->prev = &owned;
  owned.next->prev = link;
  owned.next = link;
  return block;
}

void *CallContext::allocateResult(int64_t index, int64_t rank, const int64_t *sizes,
                                  int64_t elementBytes) {
  if (!memory.outputs || !memory.outputs[index].data)
    return allocate(rank, sizes, elementBytes);
  const plim_view &output = memory.outputs[index];
  if (std::equal(sizes, sizes + rank, output.sizes))
    return output.data;
  latch(codeOf(StatusCode::InvalidArgument), outputMismatch(index, rank, output.sizes, sizes));
  return nullptr;
}

void CallContext::release(void *block) {
  if (!block)
    return;
  BlockLink *link = pool.linkOf(block);
  {
    LockGuard lock(mutex);
    unlink(link);
  }
  if (memory.checked) [[unlikely]]
    checkSlack(block, unnamed);
  pool.release(block);
}

bool CallContext::detach(void *block) {
  LockGuard lock(mutex);
  for (BlockLink *link = owned.next; link != &owned; link = link->next) {
    if (pool.blockOf(link) == block) {
      unlink(link);
      return true;
    }
  }
  return false;
}

void CallContext::unlink(BlockLink *link) {
  link->prev->next = link->next;
  link->next->prev = link->prev;
}

void CallContext::releaseAll() {
  BlockLink *next;
  {
    LockGuard lock(mutex);
    next = owned.next;
    owned = {&owned, &owned};
  }
  while (next != &owned)
    pool.release(pool.blockOf(std::exchange(next, next->next)));
}

} // namespace plim::runtime
