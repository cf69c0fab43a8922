#include "engine/runtime/GuardedMemory.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace plim::runtime {
namespace {

uintptr_t addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }
void *pointerTo(uintptr_t address) { return reinterpret_cast<void *>(address); }

// More than a few rows of a small matrix; address space alone.
constexpr size_t guardPages = 16;

// Neither a common byte nor, as a float or a pointer, a common value.
constexpr std::byte pattern{0xC5};

void fill(uintptr_t begin, uintptr_t end) {
  std::memset(pointerTo(begin), static_cast<int>(pattern), end - begin);
}

} // namespace

GuardedMemory::GuardedMemory()
    : page(static_cast<size_t>(sysconf(_SC_PAGESIZE))), guard(guardPages * page) {}

GuardedMemory::~GuardedMemory() {
  assert(mappings.empty() && "a block outlives its memory");
  for (void *memory : retired)
    std::free(memory);
}

void GuardedMemory::retire(void *memory) {
  std::lock_guard lock(mutex);
  retired.push_back(memory);
  if (retired.size() <= retiredCount)
    return;
  std::free(retired.front());
  retired.pop_front();
}

void *GuardedMemory::allocate(size_t bytes, size_t alignment, std::string name) {
  assert(alignment <= page);
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  size_t payload = std::max(page, (bytes + page - 1) / page * page);
  size_t whole = payload + 2 * guard;
  void *memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  Mapping mapping = {};
  mapping.block.name = std::move(name);
  mapping.pages = addressOf(memory) + guard;
  mapping.pagesEnd = mapping.pages + payload;
  mapping.block.begin = (mapping.pagesEnd - bytes) / alignment * alignment;
  mapping.block.end = mapping.block.begin + bytes;
  if (mprotect(pointerTo(mapping.pages), payload, PROT_READ | PROT_WRITE) == 0) {
    fill(mapping.pages, mapping.block.begin);
    fill(mapping.block.end, mapping.pagesEnd);
    try {
      std::lock_guard lock(mutex);
      const uintptr_t begin = mapping.block.begin;
      mappings.emplace(mapping.pagesEnd, std::move(mapping));
      return pointerTo(begin);
    } catch (const std::bad_alloc &) {
      // As if the pages had not been had.
    }
  }
  munmap(memory, whole);
  return nullptr;
}

void GuardedMemory::release(void *block) {
  if (!block)
    return;
  uintptr_t begin, end;
  {
    std::lock_guard lock(mutex);
    const Mapping *mapping = at(addressOf(block));
    assert(mapping && mapping->block.begin == addressOf(block));
    assert(mapping->readers == 0 && mapping->writers == 0);
    begin = mapping->pages - guard;
    end = mapping->pagesEnd + guard;
    mappings.erase(mapping->pagesEnd);
  }
  munmap(pointerTo(begin), end - begin);
}

const GuardedMemory::Mapping *GuardedMemory::at(uintptr_t address) const {
  auto it = mappings.upper_bound(address < guard ? 0 : address - guard);
  return it != mappings.end() && it->second.pages - guard <= address ? &it->second : nullptr;
}

void *GuardedMemory::recordOf(const void *block) {
  std::lock_guard lock(mutex);
  const Mapping *mapping = at(addressOf(block));
  return mapping ? const_cast<std::byte *>(mapping->record) : nullptr;
}

std::optional<GuardedMemory::Block> GuardedMemory::find(const void *address) const {
  std::lock_guard lock(mutex);
  const Mapping *mapping = at(addressOf(address));
  return mapping ? std::optional<Block>(mapping->block) : std::nullopt;
}

std::optional<GuardedMemory::Damage> GuardedMemory::takeDamage(const void *address) {
  std::lock_guard lock(mutex);
  const Mapping *mapping = at(addressOf(address));
  if (!mapping)
    return std::nullopt;
  const Block &block = mapping->block;
  auto isDamaged = [](uintptr_t at) { return *static_cast<std::byte *>(pointerTo(at)) != pattern; };
  uintptr_t before = block.begin, behind = block.end;
  while (before > mapping->pages && !isDamaged(before - 1))
    --before;
  while (behind < mapping->pagesEnd && !isDamaged(behind))
    ++behind;
  bool isBefore = before != mapping->pages, isBehind = behind != mapping->pagesEnd;
  if (!isBefore && !isBehind)
    return std::nullopt;
  if (!block.isProtected) {
    fill(mapping->pages, block.begin);
    fill(block.end, mapping->pagesEnd);
  }
  return Damage{block, isBehind ? behind : before - 1};
}

void GuardedMemory::beginAccess(const void *block, bool writes) { count(block, !writes, writes); }
void GuardedMemory::endAccess(const void *block, bool writes) { count(block, -!writes, -writes); }

void GuardedMemory::count(const void *block, int readers, int writers) {
  std::lock_guard lock(mutex);
  const Mapping *found = at(addressOf(block));
  if (!found)
    return;
  Mapping &mapping = mappings.at(found->pagesEnd);
  mapping.readers += readers;
  mapping.writers += writers;
  bool shouldProtect = mapping.readers > 0 && mapping.writers == 0;
  if (shouldProtect == mapping.block.isProtected)
    return;
  // Where this is refused, a fault less is found.
  if (mprotect(pointerTo(mapping.pages), mapping.pagesEnd - mapping.pages,
               shouldProtect ? PROT_READ : PROT_READ | PROT_WRITE) == 0)
    mapping.block.isProtected = shouldProtect;
}

} // namespace plim::runtime
