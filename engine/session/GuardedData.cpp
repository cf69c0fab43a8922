#include "engine/session/GuardedData.h"

#include <cstring>

namespace plim {

GuardedData::~GuardedData() {
  for (void *block : blocks) {
    memory.endAccess(block, /*writes=*/false);
    memory.release(block);
  }
}

void *GuardedData::add(const void *contents, size_t bytes, size_t alignment, std::string name) {
  void *block = memory.allocate(bytes, alignment, std::move(name));
  if (!block)
    return nullptr;
  if (contents && bytes != 0)
    std::memcpy(block, contents, bytes);
  memory.beginAccess(block, /*writes=*/false);
  blocks.push_back(block);
  return block;
}

} // namespace plim
