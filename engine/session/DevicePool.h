// DevicePool: a pool of a module in memory that a device brings.
//
// A call that uses the pool takes a block of it; what calls ran with at once is kept for later
// ones, so that one in steady state does not ask the device. Blocks are of one size, enough for
// every function of the module. Addresses mean something to the device alone: nothing here reads or
// writes what they point at.
//
// Threads: any, for all methods.
#pragma once

#include "engine/runtime/MemoryPool.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace plim {

class DevicePool {
public:
  /// `allocator` is that of the device, whose functions are called from any thread, and not with
  /// the pool's mutex held. `memory` is the name that the target gives the memory. Blocks have
  /// `bytes` bytes; `alignment` is a power of two. Takes no block yet.
  DevicePool(runtime::Allocator allocator, std::string memory, size_t bytes, size_t alignment);
  /// All blocks must be back.
  ~DevicePool();
  DevicePool(const DevicePool &) = delete;
  DevicePool &operator=(const DevicePool &) = delete;

  /// A block while it is in use; goes back to the pool when it is destroyed. The pool must outlive
  /// it.
  class Block {
  public:
    Block() = default;
    Block(DevicePool &pool, void *memory) : pool(&pool), memory(memory) {}
    ~Block() {
      if (memory)
        pool->give(memory);
    }
    Block(Block &&other) noexcept { *this = std::move(other); }
    Block &operator=(Block &&other) noexcept {
      std::swap(pool, other.pool);
      std::swap(memory, other.memory);
      return *this;
    }
    /// Null if the device had no memory for a single one, or the wait was ended.
    void *data() const { return memory; }

  private:
    DevicePool *pool = nullptr;
    void *memory = nullptr;
  };

  /// A block that waits for reuse, or a new one of the device. If the device has no memory, blocks
  /// until another call gives one back, as long as there is one; a stop ends the wait. Look at
  /// Block::data().
  Block take(const std::stop_token &stop);
  /// Of each block.
  size_t bytes() const { return size; }
  /// The name that the target gives the memory.
  const std::string &memory() const { return name; }

private:
  void give(void *block);

  const runtime::Allocator allocator;
  const std::string name;
  const size_t size, alignment;
  std::mutex mutex;
  std::condition_variable_any given;
  // By `mutex`.
  std::vector<void *> free; // has room for all that there are
  size_t count = 0;         // blocks, free and in use, and those that the device is being asked for
};

} // namespace plim
