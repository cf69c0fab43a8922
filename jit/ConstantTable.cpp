#include "jit/ConstantTable.h"

namespace plim::jit {

std::optional<DataBlock> ConstantTable::find(std::string_view contents, ContentHash hash) {
  std::lock_guard lock(mutex);
  return findLocked(contents, hash);
}

std::optional<DataBlock> ConstantTable::findLocked(std::string_view contents, ContentHash hash) {
  for (auto [it, end] = entries.equal_range(hash); it != end; ++it)
    if (std::shared_ptr<const void> owner = it->second.owner.lock())
      if (it->second.bytes == contents)
        return DataBlock{{std::move(owner), it->second.bytes}, hash};
  return std::nullopt;
}

DataBlock ConstantTable::share(DataBlock block) {
  // Two that come at the same time must not both stay: the lock is held while they are compared.
  std::lock_guard lock(mutex);
  if (std::optional<DataBlock> found = findLocked(block.contents.bytes, block.hash))
    return std::move(*found);
  std::erase_if(entries, [](const auto &entry) { return entry.second.owner.expired(); });
  entries.emplace(block.hash, Entry{block.contents.owner, block.contents.bytes});
  return block;
}

} // namespace plim::jit
