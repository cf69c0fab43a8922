// Buffer: a reference-counted handle to one tensor in host memory.
//
// A buffer knows element type, extents, strides, where element 0 lies, whether it may be written, and how
// its memory is given back: to the pool it came from, or by a callback of the host. All of that is
// fixed at creation; only the elements change. All but wrapped memory is
// dense and row-major. Handle, extents and strides live in one block of the pool, so that making and dropping a result allocates nothing once the pool is warm.
//
// The C interface hands out what is behind a handle as an opaque pointer: it begins with a word that tells
// whether the pointer is what it should be.
//
// Must not know calls or signatures. Thread safety: the count is atomic, so copies of a handle may
// be used and dropped on any threads; one handle object must not be assigned while another thread
// uses it. Concurrent access to the elements is the host's to order.
#pragma once

#include "engine/runtime/ElementType.h"
#include "engine/runtime/MemoryPool.h"
#include "support/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace plim::runtime {

/// Called once, when the last handle to wrapped memory goes, on the thread that dropped it.
using BufferReleaseFn = void (*)(void *user, void *data);

class Buffer {
public:
  /// No buffer; only assignment, destruction and the test below are allowed.
  Buffer() = default;
  Buffer(const Buffer &other) : state(other.state) { retain(); }
  Buffer(Buffer &&other) noexcept : state(std::exchange(other.state, nullptr)) {}
  Buffer &operator=(Buffer other) noexcept {
    std::swap(state, other.state);
    return *this;
  }
  ~Buffer() { drop(); }
  explicit operator bool() const { return state != nullptr; }

  /// A writable buffer with uninitialised elements in memory of `pool`, which it may outlive.
  /// InvalidArgument for a negative or overflowing shape, ResourceExhausted without memory.
  static StatusOr<Buffer> allocate(const std::shared_ptr<MemoryPool> &pool, ElementType type,
                                   std::span<const int64_t> shape);

  /// The same around a block of `pool` that is allocated already: a result of a call. The block
  /// must hold at least the bytes of the shape. On success the buffer owns it; on failure (as
  /// above) it stays with the caller.
  static StatusOr<Buffer> adopt(const std::shared_ptr<MemoryPool> &pool, void *block,
                                ElementType type, std::span<const int64_t> shape);

  /// Wraps the host's memory without a copy. `data` must be aligned for its elements and hold the
  /// whole shape until `release(user, data)`, which may be null, is called. On failure, which is
  /// InvalidArgument or ResourceExhausted, `release` is not called.
  static StatusOr<Buffer> wrap(void *data, ElementType type, std::span<const int64_t> shape,
                               bool readOnly, BufferReleaseFn release, void *user);

  /// The same for memory of any alignment: of parameters, which a module copies that reads them as they are.
  static StatusOr<Buffer> wrapUnaligned(void *data, ElementType type,
                                        std::span<const int64_t> shape, bool readOnly,
                                        BufferReleaseFn release, void *user);

  /// As wrap() for memory in which neighbours of dimension i lie `strides[i]` elements apart. Strides
  /// may be zero or negative, and elements may overlap: what a write to one of those does to the
  /// others is the host's to know. `data` is where element 0 lies, wherever that is in the memory.
  /// Checked is that there is one stride per extent and that no byte offset overflows.
  static StatusOr<Buffer> wrapStrided(void *data, ElementType type, std::span<const int64_t> shape,
                                      std::span<const int64_t> strides, bool readOnly,
                                      BufferReleaseFn release, void *user);

  /// A writable buffer in memory of `pool` with a copy of `bytes`, whose size must be exactly that
  /// of the shape (else InvalidArgument).
  static StatusOr<Buffer> fromCopy(const std::shared_ptr<MemoryPool> &pool, ElementType type,
                                   std::span<const int64_t> shape,
                                   std::span<const std::byte> bytes);

  ElementType type() const { return state->type; }
  /// Extents, outermost first; empty for rank 0. Lives as long as the buffer.
  std::span<const int64_t> shape() const { return {state->extents(), state->rank}; }
  /// Elements between neighbours, one for each extent.
  std::span<const int64_t> strides() const { return {state->strides(), state->rank}; }
  /// Do the elements lie densely, in row-major order?
  bool isDense() const { return state->dense; }
  int64_t elementCount() const { return state->elements; }
  /// Of all elements; the size of the memory if the buffer is dense.
  size_t bytes() const { return state->bytes; }
  bool readOnly() const { return state->readOnly; }
  /// Is this how its memory is given back? Tells memory of one kind from other memory that is wrapped.
  bool isReleasedBy(BufferReleaseFn release) const { return state->release == release; }

  /// Element 0. Not null, except that an empty tensor of the host's may be null.
  const void *data() const { return state->data; }
  /// The same for writing; null for a read-only buffer.
  void *mutableData() const { return state->readOnly ? nullptr : state->data; }

  /// What this handle refers to as one pointer, which counts as a handle from then on.
  void *toPointer() && { return std::exchange(state, nullptr); }
  /// The inverse.
  static Buffer fromPointer(void *pointer) { return Buffer(static_cast<State *>(pointer)); }
  /// What such a pointer points at begins with this word, as long as there is a handle.
  static constexpr uint32_t magic = 0x46554250; // "PBUF"
  /// And with this one when there was, in memory that has not been used again.
  static constexpr uint32_t releasedMagic = 0x44414544; // "DEAD"

private:
  // Followed in memory by `rank` extents and as many strides.
  struct State {
    std::atomic<uint32_t> word{magic}; // atomic: what misuse reads may be written at that time
    std::atomic<int64_t> references{1};
    ElementType type;
    bool readOnly = false;
    bool dense = true;
    size_t rank;
    int64_t elements;
    size_t bytes;
    void *data;
    MemoryPool::Storage *storage; // null: the host's memory, and a state from malloc
    BufferReleaseFn release = nullptr;
    void *user = nullptr;

    int64_t *extents() { return reinterpret_cast<int64_t *>(this + 1); }
    int64_t *strides() { return extents() + rank; }
  };

  explicit Buffer(State *state) : state(state) {}
  static StatusOr<Buffer> create(const std::shared_ptr<MemoryPool> &pool, void *data,
                                 ElementType type, std::span<const int64_t> shape);
  void retain() const {
    if (state)
      state->references.fetch_add(1, std::memory_order_relaxed);
  }
  void drop() {
    // Release on every drop and acquire on the last: whoever frees sees all earlier use.
    if (state && state->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(state);
  }
  static void destroy(State *state);

  State *state = nullptr;
};

} // namespace plim::runtime
