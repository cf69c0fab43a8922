#include "engine/runtime/Buffer.h"

#include "engine/runtime/ByteSize.h"
#include "support/CheckedMath.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace plim::runtime {
namespace {

/// Overflow-checked: is there a byte offset for every element?
bool offsetsFit(std::span<const int64_t> shape, std::span<const int64_t> strides,
                int64_t elementBytes) {
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::optional<int64_t> elements = checkedMul(shape[i] - 1, strides[i]);
    std::optional<int64_t> bytes = elements ? checkedMul(*elements, elementBytes) : std::nullopt;
    int64_t &end = strides[i] < 0 ? low : high;
    std::optional<int64_t> farther = bytes ? checkedAdd(end, *bytes) : std::nullopt;
    if (!farther)
      return false;
    end = *farther;
  }
  return true;
}

} // namespace

StatusOr<Buffer> Buffer::create(const std::shared_ptr<MemoryPool> &pool, void *data,
                                ElementType type, std::span<const int64_t> shape) {
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, byteSizeOf(shape, elementBytes(type)));
  size_t stateBytes = sizeof(State) + 2 * shape.size_bytes();
  // Guards are for elements.
  bool isPooled = pool && !MemoryPool::guardedOf(pool->storage());
  void *memory = isPooled ? pool->allocate(stateBytes) : std::malloc(stateBytes);
  if (!memory)
    return resourceExhaustedError("no memory for a buffer handle");
  auto *state = new (memory) State;
  state->type = type;
  state->rank = shape.size();
  state->elements = bytes / elementBytes(type);
  state->bytes = static_cast<size_t>(bytes);
  state->data = data;
  state->storage = pool ? &pool->storage() : nullptr;
  if (!shape.empty())
    std::memcpy(state->extents(), shape.data(), shape.size_bytes());
  // An extent of zero leaves nothing to be apart; the strides outside of it are as for one.
  uint64_t stride = 1; // may wrap if there are no elements
  for (size_t i = shape.size(); i-- > 0;) {
    state->strides()[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[i] > 0 ? shape[i] : 1);
  }
  return Buffer(state);
}

StatusOr<Buffer> Buffer::adopt(const std::shared_ptr<MemoryPool> &pool, void *block,
                               ElementType type, std::span<const int64_t> shape) {
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, byteSizeOf(shape, elementBytes(type)));
  if (static_cast<size_t>(bytes) > pool->capacityOf(block))
    return invalidArgumentError("a shape of " + std::to_string(bytes) +
                                " bytes does not fit in a block of " +
                                std::to_string(pool->capacityOf(block)));
  return create(pool, block, type, shape);
}

StatusOr<Buffer> Buffer::allocate(const std::shared_ptr<MemoryPool> &pool, ElementType type,
                                  std::span<const int64_t> shape) {
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, byteSizeOf(shape, elementBytes(type)));
  void *block = pool->allocate(static_cast<size_t>(bytes));
  if (!block)
    return resourceExhaustedError("no memory for a buffer of " + std::to_string(bytes) + " bytes");
  StatusOr<Buffer> buffer = create(pool, block, type, shape);
  if (!buffer.ok())
    pool->release(block);
  return buffer;
}

StatusOr<Buffer> Buffer::wrap(void *data, ElementType type, std::span<const int64_t> shape,
                              bool readOnly, BufferReleaseFn release, void *user) {
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(elementAlignment(type)) != 0)
    return invalidArgumentError("data is not aligned for elements of " +
                                std::string(elementTypeName(type)));
  return wrapUnaligned(data, type, shape, readOnly, release, user);
}

StatusOr<Buffer> Buffer::wrapUnaligned(void *data, ElementType type, std::span<const int64_t> shape,
                                       bool readOnly, BufferReleaseFn release, void *user) {
  PLIM_ASSIGN_OR_RETURN(int64_t bytes, byteSizeOf(shape, elementBytes(type)));
  if (!data && bytes > 0)
    return invalidArgumentError("null data for " + std::to_string(bytes) + " bytes");
  StatusOr<Buffer> buffer = create(nullptr, data, type, shape);
  if (buffer.ok()) {
    buffer->state->readOnly = readOnly;
    buffer->state->release = release;
    buffer->state->user = user;
  }
  return buffer;
}

StatusOr<Buffer> Buffer::wrapStrided(void *data, ElementType type, std::span<const int64_t> shape,
                                     std::span<const int64_t> strides, bool readOnly,
                                     BufferReleaseFn release, void *user) {
  if (strides.size() != shape.size())
    return invalidArgumentError(std::to_string(strides.size()) + " strides for " +
                                std::to_string(shape.size()) + " extents");
  PLIM_ASSIGN_OR_RETURN(Buffer buffer, wrap(data, type, shape, readOnly, nullptr, nullptr));
  if (buffer.elementCount() > 0 && !offsetsFit(shape, strides, elementBytes(type)))
    return invalidArgumentError("the strides of a buffer reach beyond the address space");
  State &state = *buffer.state;
  // A stride is of no account where there is but one element, or none at all.
  for (size_t i = 0; i < shape.size(); ++i) {
    state.dense &= shape[i] == 1 || state.elements == 0 || strides[i] == state.strides()[i];
    state.strides()[i] = strides[i];
  }
  state.release = release;
  state.user = user;
  return buffer;
}

StatusOr<Buffer> Buffer::fromCopy(const std::shared_ptr<MemoryPool> &pool, ElementType type,
                                  std::span<const int64_t> shape,
                                  std::span<const std::byte> bytes) {
  PLIM_ASSIGN_OR_RETURN(int64_t expected, byteSizeOf(shape, elementBytes(type)));
  if (static_cast<size_t>(expected) != bytes.size())
    return invalidArgumentError(std::to_string(bytes.size()) + " bytes for a buffer of " +
                                std::to_string(expected));
  PLIM_ASSIGN_OR_RETURN(Buffer buffer, allocate(pool, type, shape));
  if (!bytes.empty())
    std::memcpy(buffer.mutableData(), bytes.data(), bytes.size());
  return buffer;
}

void Buffer::destroy(State *state) {
  MemoryPool::Storage *storage = state->storage;
  void *data = state->data;
  if (!storage && state->release)
    state->release(state->user, data);
  state->word.store(releasedMagic, std::memory_order_relaxed);
  if (!storage) {
    std::free(state);
    return;
  }
  if (GuardedMemory *guarded = MemoryPool::guardedOf(*storage))
    guarded->retire(state);
  else
    MemoryPool::releaseTo(*storage, state);
  // The last block: the storage may go with it.
  MemoryPool::releaseTo(*storage, data);
}

} // namespace plim::runtime
