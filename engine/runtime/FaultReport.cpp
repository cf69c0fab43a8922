#include "engine/runtime/FaultReport.h"

#include <cstdint>
#include <optional>

namespace plim::runtime {
namespace {

using Block = GuardedMemory::Block;

/// Bytes between an address and a block; 0 inside.
uintptr_t distance(uintptr_t address, const Block &block) {
  return address < block.begin ? block.begin - address
         : address < block.end ? 0
                               : address - block.end + 1;
}

/// "binding #1, constant 'c'".
std::string nameOf(const std::string &what, const Block &block) {
  return block.name.empty() ? what : what.empty() ? block.name : what + ", " + block.name;
}

std::string describeOutside(const char *verb, uintptr_t address, const Block &block,
                            const std::string &what) {
  std::string bytes = std::to_string(distance(address, block));
  return verb + (" byte " + bytes) +
         (address < block.begin ? " before the begin" : " behind the end") + " of " + what +
         ", which has " + std::to_string(block.end - block.begin) + " bytes";
}

std::string describe(uintptr_t address, const Block &block, const std::string &what) {
  if (address >= block.begin && address < block.end)
    return "writes to " + what + ", which is only read there";
  return describeOutside("accesses", address, block, what);
}

} // namespace

std::string describeDamage(const GuardedMemory::Damage &damage, const std::string &what) {
  return describeOutside("writes", damage.address, damage.block, nameOf(what, damage.block));
}

std::string describeFault(const Fault &fault, const GuardedMemory &memory, const std::string &role,
                          size_t count, const std::function<const void *(size_t)> &bufferAt) {
  if (fault.isDivision)
    return "divides an integer by zero, or the smallest one by -1";
  auto address = reinterpret_cast<uintptr_t>(fault.address);
  std::optional<Block> nearest;
  uintptr_t least = UINTPTR_MAX;
  size_t position = 0;
  for (size_t i = 0; i < count; ++i) {
    std::optional<Block> block = memory.find(bufferAt(i));
    // Of a constant, or memory of a pool, only the begin is known.
    auto begin = reinterpret_cast<uintptr_t>(bufferAt(i));
    uintptr_t away = block ? distance(address, *block) : address - begin;
    if (begin == 0 || (!block && address < begin) || away >= least)
      continue;
    nearest = block;
    least = away;
    position = i;
  }
  // The fault of another buffer, which lies closer: a temporary of the function itself.
  std::optional<Block> hit = memory.find(fault.address);
  if (hit && (!nearest || hit->begin != nearest->begin))
    return describe(address, *hit, hit->name.empty() ? "a buffer that is no " + role : hit->name);
  std::string what = role + " #" + std::to_string(position);
  if (nearest)
    return describe(address, *nearest, nameOf(what, *nearest));
  if (least != UINTPTR_MAX)
    return "accesses byte " + std::to_string(least) + " of " + what +
           ", which is not there or only read there";
  return "accesses memory that is none of its buffers";
}

} // namespace plim::runtime
