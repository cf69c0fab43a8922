// ConstantTable: equal contents are in memory once.
//
// A session has one for the constants of its modules, a compilation one for those of its lowerings.
// It keeps nothing alive: a block goes with the last handle to it.
//
// Threads: any, at once.
#pragma once

#include "jit/DataBlock.h"

#include <map>
#include <mutex>
#include <optional>

namespace plim::jit {

class ConstantTable {
public:
  /// A block with these contents that is alive and was shared before.
  std::optional<DataBlock> find(std::string_view contents, ContentHash hash);

  /// The block of the table with the contents of `block`, which is `block` itself if there is none.
  /// Reads both from end to end if there is one.
  DataBlock share(DataBlock block);

private:
  struct Entry {
    std::weak_ptr<const void> owner;
    std::string_view bytes;
  };
  std::optional<DataBlock> findLocked(std::string_view contents, ContentHash hash);
  std::mutex mutex;
  std::multimap<ContentHash, Entry>
      entries; // guarded by mutex; the dead ones go with the next share
};

} // namespace plim::jit
