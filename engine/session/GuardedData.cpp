#include "engine/session/GuardedData.h"

#include <cstring>

namespace plim {

GuardedData::~GuardedData() {
  for (void *block : read) {
    memory.endAccess(block, /*writes=*/false);
    memory.release(block);
  }
  for (void *block : written)
    memory.release(block);
}

void *GuardedData::add(const void *contents, size_t bytes, size_t alignment, bool isWritten,
                       std::string name) {
  void *block = memory.allocate(bytes, alignment, std::move(name));
  if (!block)
    return nullptr;
  if (contents && bytes != 0)
    std::memcpy(block, contents, bytes);
  if (!isWritten)
    memory.beginAccess(block, /*writes=*/false);
  (isWritten ? written : read).push_back(block);
  return block;
}

} // namespace plim
