// AddressRanges: which block of a device's memory an address lies in.
//
// Standard library only. Threads: any, for all methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace plim::devices::internal {

/// Values by ranges of addresses that have nothing in common. T is copied; nothing is owned.
template <typename T> class AddressRanges {
public:
  struct Found {
    T value;
    size_t offset = 0; // of the address in the range
    size_t bytes = 0;  // from the address to the range's end
  };

  /// `bytes` is not 0, and the range has nothing in common with those that are there.
  void insert(uintptr_t base, size_t bytes, T value) {
    std::unique_lock lock(mutex);
    ranges.emplace(base, Range{bytes, value});
  }

  /// Takes out the range that begins here.
  std::optional<T> erase(uintptr_t base) {
    std::unique_lock lock(mutex);
    auto found = ranges.find(base);
    if (found == ranges.end())
      return std::nullopt;
    T value = found->second.value;
    ranges.erase(found);
    return value;
  }

  /// The range that the address lies in; nothing if it lies in none. O(log n).
  std::optional<Found> find(uintptr_t address) const {
    std::shared_lock lock(mutex);
    auto next = ranges.upper_bound(address);
    if (next == ranges.begin())
      return std::nullopt;
    const auto &[base, range] = *--next;
    size_t offset = address - base;
    if (offset >= range.bytes)
      return std::nullopt;
    return Found{range.value, offset, range.bytes - offset};
  }

private:
  struct Range {
    size_t bytes;
    T value;
  };
  mutable std::shared_mutex mutex;
  std::map<uintptr_t, Range> ranges;
};

} // namespace plim::devices::internal
