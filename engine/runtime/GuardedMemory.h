// GuardedMemory: memory of which a misuse is a fault, for engines in checked mode.
//
// Each block has pages of its own, between guards that nothing may touch. It ends where the upper one
// begins, as nearly as its alignment allows:
//
//   | guard, 16 pages | slack | block | slack | guard, 16 pages |
//                             ^ begin ^ end
//
// The slack, less than a page in front and less than the alignment behind, holds a pattern: what was written
// there is found afterwards (takeDamage). What was read there is not.
//
// A block is write-protected while accesses to it are going on of which none writes. Its holder's notes
// (MemoryPool's header) lie elsewhere.
//
// Every block is a mapping of the system's: this is for finding faults, not for speed. Thread safety: any member from any thread. It must outlive its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace plim::runtime {

class GuardedMemory {
public:
  /// What is known of a block: its payload, whether writing to it is a fault now, and what it is called.
  struct Block {
    uintptr_t begin = 0, end = 0;
    bool isProtected = false;
    std::string name = {};
  };
  /// A write outside of a block.
  struct Damage {
    Block block;
    uintptr_t address;
  };

  GuardedMemory();
  /// All blocks must have been released.
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  /// `bytes` bytes of zeros, aligned to `alignment`, a power of two up to a page; of zero bytes the end
  /// alone. `name` says what it is, "constant 'c'"; empty for what has no name. Null without memory.
  void *allocate(size_t bytes, size_t alignment, std::string name = {});
  /// Takes a block of allocate() back; null is ignored. No access to it may be going on.
  void release(void *block);

  static constexpr size_t recordBytes = 64;
  /// Room for the holder's notes on a block, recordBytes aligned to that.
  void *recordOf(const void *block);

  /// The block whose pages, or guard on either side, have this address.
  std::optional<Block> find(const void *address) const;

  /// The byte nearest to the block at this address that was written in its slack since the last time; nothing
  /// for other memory. A byte of the pattern itself is not seen.
  std::optional<Damage> takeDamage(const void *address);

  /// Takes what malloc gave and frees it later, so that those who look at it by mistake do not find
  /// something else: the last `retiredCount` pieces are kept.
  void retire(void *memory);
  static constexpr size_t retiredCount = size_t{1} << 12;

  /// An access to the block at `block` begins, or ends: while there are any, and none writes, its
  /// pages cannot be written. Addresses of other memory are ignored.
  void beginAccess(const void *block, bool writes);
  void endAccess(const void *block, bool writes);

private:
  struct Mapping {
    uintptr_t pages, pagesEnd; // of the payload
    Block block = {};
    int readers = 0, writers = 0;
    alignas(recordBytes) std::byte record[recordBytes];
  };
  using Mappings = std::map<uintptr_t, Mapping>; // by pagesEnd

  void count(const void *block, int readers, int writers);
  /// Null if there is none. With the lock held.
  const Mapping *at(uintptr_t address) const;

  const size_t page, guard;
  mutable std::mutex mutex; // a sleeping one: the system is called under it
  Mappings mappings;
  std::deque<void *> retired; // guarded by `mutex`; the oldest first
};

} // namespace plim::runtime
