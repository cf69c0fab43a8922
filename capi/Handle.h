// Object: what is behind a handle of the C interface: a word that says what it is, and a count of
// owners.
//
//   struct plim_stop : plim::capi::Object<plim_stop> { ... };
//   makeHandle<plim_stop>(nullptr, ...), retain(handle), release(handle), checkHandle(handle)
//
// Every function looks at the word before it looks at anything else, so that a null handle, one of
// another kind and mostly one that was released are errors. In a checked engine the memory of a
// handle that was released goes to a quarantine first, and such a handle is found for sure while it
// is there.
//
// Buffers are not objects: their handles are those of runtime::Buffer, which begin with such a word
// too.
//
// Thread safety: any member of any of this, from any thread.
#pragma once

#include "engine/runtime/Buffer.h"
#include "plimsoll/base.h"
#include "support/Log.h"
#include "support/Status.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace plim::capi {

/// The first word of an object. No two may be equal, nor equal runtime::Buffer::magic.
enum class Word : uint32_t {
  Status = 0x54415453, // "STAT"
  Target = 0x47524154,
  Engine = 0x49474e45,
  Module = 0x55444f4d,
  Function = 0x434e5546,
  Parameters = 0x4d524150,
  State = 0x52544156,
  Event = 0x4e455645,
  Stop = 0x504f5453,
  HostFunctions = 0x54534f48,
  Device = 0x49564544,
  Report = 0x4f504552,
  Bytes = 0x45545942,
  Released = runtime::Buffer::releasedMagic,
  /// Released, and kept by a quarantine.
  Quarantined = 0x52415551,
};

/// The last handles of one checked engine that were released.
class Quarantine {
public:
  static constexpr size_t capacity = 4096;

  explicit Quarantine(Logger log) : log(std::move(log)) {}
  ~Quarantine();
  Quarantine(const Quarantine &) = delete;
  Quarantine &operator=(const Quarantine &) = delete;

  /// Takes the memory of an object that was destroyed, of at least sizeof(Tombstone) bytes from
  /// operator new, and frees it later.
  void keep(void *memory);
  /// Says that a handle in it was released once more, or retained.
  void report(const char *verb, const char *name) const;

private:
  const Logger log;
  std::mutex mutex;
  std::deque<void *> kept; // guarded by `mutex`
};

/// What lies where an object was, while a quarantine has its memory.
struct Tombstone {
  std::atomic<Word> word{Word::Quarantined};
  Quarantine *owner = nullptr;
};

/// How often this process has come out of a fork(), on the child's side, since the library was
/// loaded.
extern std::atomic<uint32_t> forkGeneration;

/// The beginning of every object. T derives from it and has `kind`, its word, and `name`, for
/// messages.
template <typename T> struct Object {
  std::atomic<Word> word{T::kind};
  std::atomic<uint32_t> owners{1};
  /// Of the process that made it.
  const uint32_t generation = forkGeneration.load(std::memory_order_relaxed);
  /// Of the engine that it belongs to, if that is checked.
  std::shared_ptr<Quarantine> quarantine;
};

/// An object with one owner, the caller, made of `args`. `quarantine` is that of its engine, null
/// unless that is checked. Throws std::bad_alloc.
template <typename T, typename... Args>
T *makeHandle(std::shared_ptr<Quarantine> quarantine, Args &&...args) {
  auto *object = new T{{}, std::forward<Args>(args)...};
  object->quarantine = std::move(quarantine);
  return object;
}

/// What is wrong with a handle of which the word is not `expected`.
Status badHandle(const char *name, uint32_t word);

/// Kinds of handles that stand on threads, and on locks that a thread may have held when the
/// process was forked.
template <typename T>
concept NeedsThreads =
    T::kind == Word::Engine || T::kind == Word::Module || T::kind == Word::Function ||
    T::kind == Word::State || T::kind == Word::Event;

/// Is it of the parent of this process?
template <typename T> bool isOfParent(const T *handle) {
  if constexpr (NeedsThreads<T>)
    return handle->generation != forkGeneration.load(std::memory_order_relaxed);
  return false;
}

/// What is wrong with a handle of the parent.
Status handleOfParent(const char *name);

/// InvalidArgument unless it is a live handle of its type, FailedPrecondition for one of the parent
/// that needs threads.
template <typename T> Status checkHandle(const T *handle) {
  if (!handle) [[unlikely]]
    return invalidArgumentError(std::string(T::name) + " is null");
  Word word = handle->word.load(std::memory_order_relaxed);
  if (word != T::kind) [[unlikely]]
    return badHandle(T::name, static_cast<uint32_t>(word));
  if (isOfParent(handle)) [[unlikely]]
    return handleOfParent(T::name);
  return okStatus();
}

/// Is it a live handle of its type?
template <typename T> bool isLive(const T *handle) {
  return handle && handle->word.load(std::memory_order_relaxed) == T::kind;
}

/// A double release, or a retain, of what is in quarantine. What is in none may be anything.
template <typename T> void reportMisuse(const T *handle, const char *verb) {
  if (handle && handle->word.load(std::memory_order_relaxed) == Word::Quarantined)
    reinterpret_cast<const Tombstone *>(handle)->owner->report(verb, T::name);
}

/// One more owner. Nothing happens to what is no live handle, null among it; a checked engine logs
/// it.
template <typename T> void retain(T *handle) {
  if (isLive(handle))
    handle->owners.fetch_add(1, std::memory_order_relaxed);
  else
    reportMisuse(handle, "retained");
}

/// One owner less; the last one destroys the object, on this thread. Nothing happens to what is no
/// live handle, as with retain(), nor to a handle of the parent of a forked process.
template <typename T> void release(T *handle) {
  if (!isLive(handle))
    return reportMisuse(handle, "released");
  if (isOfParent(handle))
    return; // whose threads cannot be waited for here
  if (handle->owners.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  handle->word.store(Word::Released, std::memory_order_relaxed);
  std::shared_ptr<Quarantine> quarantine = std::move(handle->quarantine);
  if (!quarantine) {
    delete handle;
    return;
  }
  static_assert(sizeof(T) >= sizeof(Tombstone) && alignof(T) >= alignof(Tombstone));
  handle->~T();
  new (handle) Tombstone{.owner = quarantine.get()};
  quarantine->keep(handle);
}

/// The buffer behind a handle is given as a pointer that counts as an owner.
inline plim_buffer *toHandle(runtime::Buffer buffer) {
  return static_cast<plim_buffer *>(std::move(buffer).toPointer());
}
/// InvalidArgument unless it is the handle of a live buffer.
Status checkHandle(const plim_buffer *handle);
inline bool isLive(const plim_buffer *handle) {
  return handle && reinterpret_cast<const std::atomic<uint32_t> *>(handle)->load(
                       std::memory_order_relaxed) == runtime::Buffer::magic;
}

/// A buffer that is not its own owner: of a handle that is borrowed.
class BorrowedBuffer {
public:
  /// `handle` is live.
  explicit BorrowedBuffer(const plim_buffer *handle)
      : buffer(runtime::Buffer::fromPointer(const_cast<plim_buffer *>(handle))) {}
  ~BorrowedBuffer() { static_cast<void>(std::move(buffer).toPointer()); }
  BorrowedBuffer(const BorrowedBuffer &) = delete;
  BorrowedBuffer &operator=(const BorrowedBuffer &) = delete;

  const runtime::Buffer &operator*() const { return buffer; }
  const runtime::Buffer *operator->() const { return &buffer; }

private:
  runtime::Buffer buffer;
};

} // namespace plim::capi
