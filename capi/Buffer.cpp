#include "plimsoll/buffer.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/Values.h"
#include "engine/runtime/ByteSize.h"

using namespace plim;
using namespace plim::capi;
using runtime::Buffer;
using runtime::ElementType;

static_assert(PLIM_MEMORY_ALIGNMENT == PLIM_BUFFER_ALIGNMENT);

namespace {

StatusOr<std::span<const int64_t>> readShape(uint32_t rank, const int64_t *shape) {
  PLIM_RETURN_IF_ERROR(checkArray(shape, rank, "shape"));
  return std::span<const int64_t>(shape, rank);
}

/// Does the tensor lie in the memory that the host has?
Status checkExtent(const Buffer &buffer, const plim_buffer_memory &memory) {
  if (buffer.elementCount() == 0)
    return okStatus();
  // Neither can overflow: the buffer has looked.
  auto elementBytes = static_cast<uint64_t>(runtime::elementBytes(buffer.type()));
  uint64_t before = 0, behind = elementBytes;
  for (size_t i = 0; i < buffer.shape().size(); ++i) {
    int64_t reach = (buffer.shape()[i] - 1) * buffer.strides()[i];
    if (reach < 0)
      before += static_cast<uint64_t>(-reach) * elementBytes;
    else
      behind += static_cast<uint64_t>(reach) * elementBytes;
  }
  auto refuse = [](uint64_t needed, size_t given, const char *where) {
    return invalidArgumentError("the tensor needs " + std::to_string(needed) + " bytes" + where +
                                ", but the memory has " + std::to_string(given));
  };
  if (behind > memory.bytes)
    return refuse(behind, memory.bytes, "");
  if (before > memory.bytes_before)
    return refuse(before, memory.bytes_before, " before its data");
  return okStatus();
}

/// The buffer behind a live handle.
template <typename ResultT, typename GetT>
ResultT get(const plim_buffer *handle, ResultT otherwise, GetT getter) {
  if (!isLive(handle))
    return otherwise;
  BorrowedBuffer buffer(handle);
  return getter(*buffer);
}

} // namespace

extern "C" {

plim_status *plim_buffer_allocate(const plim_engine *engine, plim_element_type element,
                                  uint32_t rank, const int64_t *shape, plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    PLIM_ASSIGN_OR_RETURN(ElementType type, elementType(element));
    PLIM_ASSIGN_OR_RETURN(std::span<const int64_t> extents, readShape(rank, shape));
    PLIM_ASSIGN_OR_RETURN(Buffer buffer, engine->engine->allocate(type, extents));
    *out_buffer = toHandle(std::move(buffer));
    return okStatus();
  });
}

plim_status *plim_buffer_copy(const plim_engine *engine, plim_element_type element, uint32_t rank,
                              const int64_t *shape, const void *data, size_t bytes,
                              plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(engine));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    PLIM_RETURN_IF_ERROR(checkArray(data, bytes, "data"));
    PLIM_ASSIGN_OR_RETURN(ElementType type, elementType(element));
    PLIM_ASSIGN_OR_RETURN(std::span<const int64_t> extents, readShape(rank, shape));
    // Before memory is taken.
    PLIM_ASSIGN_OR_RETURN(int64_t needed,
                          runtime::byteSizeOf(extents, runtime::elementBytes(type)));
    if (static_cast<size_t>(needed) != bytes)
      return invalidArgumentError(std::to_string(bytes) + " bytes for a tensor of " +
                                  std::to_string(needed));
    PLIM_ASSIGN_OR_RETURN(Buffer buffer, engine->engine->allocate(type, extents));
    if (bytes != 0)
      std::memcpy(buffer.mutableData(), data, bytes);
    *out_buffer = toHandle(std::move(buffer));
    return okStatus();
  });
}

plim_status *plim_buffer_wrap(const plim_buffer_memory *memory, plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(memory, "memory"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    plim_buffer_memory given;
    PLIM_RETURN_IF_ERROR(readStruct(memory, "memory", given));
    PLIM_RETURN_IF_ERROR(checkFlags(given.flags, PLIM_BUFFER_READ_ONLY, "memory"));
    PLIM_ASSIGN_OR_RETURN(ElementType type, elementType(given.element));
    PLIM_ASSIGN_OR_RETURN(std::span<const int64_t> shape, readShape(given.rank, given.shape));
    bool readOnly = given.flags & PLIM_BUFFER_READ_ONLY;
    auto wrap = [&](runtime::BufferReleaseFn release) {
      return given.strides
                 ? Buffer::wrapStrided(given.data, type, shape, {given.strides, given.rank},
                                       readOnly, release, given.user)
                 : Buffer::wrap(given.data, type, shape, readOnly, release, given.user);
    };
    // The memory is the host's until all is known to be right.
    PLIM_ASSIGN_OR_RETURN(Buffer trial, wrap(nullptr));
    PLIM_RETURN_IF_ERROR(checkExtent(trial, given));
    if (given.release) {
      PLIM_ASSIGN_OR_RETURN(trial, wrap(given.release));
    }
    *out_buffer = toHandle(std::move(trial));
    return okStatus();
  });
}

plim_element_type plim_buffer_element_type(const plim_buffer *buffer) {
  return get(buffer, plim_element_type(0), [](const Buffer &b) { return elementType(b.type()); });
}

uint32_t plim_buffer_rank(const plim_buffer *buffer) {
  return get(buffer, uint32_t(0),
             [](const Buffer &b) { return static_cast<uint32_t>(b.shape().size()); });
}

const int64_t *plim_buffer_shape(const plim_buffer *buffer) {
  return get<const int64_t *>(buffer, nullptr, [](const Buffer &b) { return b.shape().data(); });
}

const int64_t *plim_buffer_strides(const plim_buffer *buffer) {
  return get<const int64_t *>(buffer, nullptr, [](const Buffer &b) { return b.strides().data(); });
}

size_t plim_buffer_element_count(const plim_buffer *buffer) {
  return get(buffer, size_t(0),
             [](const Buffer &b) { return static_cast<size_t>(b.elementCount()); });
}

size_t plim_buffer_bytes(const plim_buffer *buffer) {
  return get(buffer, size_t(0), [](const Buffer &b) { return b.bytes(); });
}

bool plim_buffer_is_dense(const plim_buffer *buffer) {
  return get(buffer, false, [](const Buffer &b) { return b.isDense(); });
}

bool plim_buffer_is_read_only(const plim_buffer *buffer) {
  return get(buffer, false, [](const Buffer &b) { return b.readOnly(); });
}

const void *plim_buffer_data(const plim_buffer *buffer) {
  return get<const void *>(buffer, nullptr, [](const Buffer &b) { return b.data(); });
}

void *plim_buffer_mutable_data(plim_buffer *buffer) {
  return get<void *>(buffer, nullptr, [](const Buffer &b) { return b.mutableData(); });
}

void plim_buffer_retain(plim_buffer *buffer) {
  if (!isLive(buffer))
    return;
  BorrowedBuffer owner(buffer);
  static_cast<void>(toHandle(*owner));
}

void plim_buffer_release(plim_buffer *buffer) {
  if (isLive(buffer))
    Buffer::fromPointer(buffer);
}

} // extern "C"
