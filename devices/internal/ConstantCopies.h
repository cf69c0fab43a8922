// ConstantCopies: memory of the host that nobody writes, and what a device has of it.
//
// The first launch that wants a constant makes its copy; others that want the same one wait for it,
// the rest does not. Ranges may overlap, and the same one may be added several times. Copies that
// no launch uses give way to what needs memory more; they are made again once some has come back.
//
// Standard library only. Threads: any, for all methods.
#pragma once

#include "support/Status.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

namespace plim::devices::internal {

/// CopyT owns memory of the device; its destructor gives that back.
template <typename CopyT> class ConstantCopies {
public:
  struct Found {
    std::shared_ptr<const CopyT> copy; // null: there is none; a launch holds it to its end
    size_t offset = 0;                 // in the copy
  };

  /// `bytes` is not 0. They stay as they are until remove().
  void add(const void *data, size_t bytes) {
    std::unique_lock lock(mutex);
    auto [place, isNew] = constants.try_emplace(rangeOf(data, bytes));
    ++place->second.owners;
    if (!isNew)
      return;
    place->second.constant = std::make_shared<Constant>(data, bytes);
    updateReach(place);
  }

  /// Once for each add(). After the last nothing reads them any more.
  void remove(const void *data, size_t bytes) {
    std::shared_ptr<Constant> gone;
    {
      std::unique_lock lock(mutex);
      auto place = constants.find(rangeOf(data, bytes));
      if (place == constants.end() || --place->second.owners > 0)
        return;
      gone = std::move(place->second.constant);
      updateReach(constants.erase(place));
    }
    std::lock_guard lock(gone->mutex); // waits for who makes the copy
    gone->isGone = true;
    if (std::exchange(gone->copy, nullptr))
      tryAgain();
  }

  /// Where the device has these bytes, if they lie in a constant. `make` gets all of that, and
  /// returns a StatusOr<std::shared_ptr<const CopyT>>; no copy for ResourceExhausted, every other
  /// failure is this one's.
  template <typename MakeT> StatusOr<Found> find(const void *data, size_t bytes, MakeT make) {
    std::shared_ptr<Constant> constant = locate(data, bytes);
    if (!constant)
      return Found();
    std::lock_guard lock(constant->mutex);
    const uint64_t now = changes;
    if (!constant->copy && !constant->isGone && constant->lackedMemoryAt != now) {
      StatusOr<std::shared_ptr<const CopyT>> made = make(constant->data, constant->bytes);
      if (made.ok())
        constant->copy = std::move(*made);
      else if (made.status().code() == StatusCode::ResourceExhausted)
        constant->lackedMemoryAt = now;
      else
        return made.status();
    }
    auto begin = reinterpret_cast<uintptr_t>(constant->data);
    return Found{constant->copy, reinterpret_cast<uintptr_t>(data) - begin};
  }

  /// Destroys the copies that no launch uses. False if there are none.
  bool drop() {
    const uint64_t next =
        changes + 1; // then those that lacked memory try again, and not what goes now
    bool hasDropped = false;
    std::shared_lock lock(mutex);
    for (auto &[range, entry] : constants) {
      Constant &constant = *entry.constant;
      std::unique_lock ofConstant(constant.mutex, std::try_to_lock);
      if (!ofConstant || !constant.copy || constant.copy.use_count() > 1)
        continue;
      constant.copy = nullptr;
      constant.lackedMemoryAt = next;
      hasDropped = true;
    }
    if (hasDropped)
      ++changes;
    return hasDropped;
  }

  /// The device may have memory again for copies that it had none for.
  void tryAgain() { ++changes; }

private:
  struct Constant {
    Constant(const void *data, size_t bytes) : data(data), bytes(bytes) {}

    const void *const data;
    const size_t bytes;
    std::mutex mutex; // of what follows
    std::shared_ptr<const CopyT> copy;
    std::optional<uint64_t> lackedMemoryAt; // `changes` at that time
    bool isGone = false;
  };

  using Range = std::pair<uintptr_t, uintptr_t>; // begin and end
  struct Entry {
    std::shared_ptr<Constant> constant;
    size_t owners = 0;
    uintptr_t reach = 0; // the furthest end among this range and those before it
  };
  using Constants = std::map<Range, Entry>;

  static Range rangeOf(const void *data, size_t bytes) {
    auto begin = reinterpret_cast<uintptr_t>(data);
    return {begin, begin + bytes};
  }

  /// Here `place` is new, or what was before it is gone.
  void updateReach(typename Constants::iterator place) {
    uintptr_t reach = place == constants.begin() ? 0 : std::prev(place)->second.reach;
    for (; place != constants.end(); ++place) {
      reach = std::max(reach, place->first.second);
      if (std::exchange(place->second.reach, reach) == reach)
        return;
    }
  }

  /// One that has all of these bytes.
  std::shared_ptr<Constant> locate(const void *data, size_t bytes) const {
    auto [begin, end] = rangeOf(data, bytes);
    std::shared_lock lock(mutex);
    auto place = constants.upper_bound({begin, UINTPTR_MAX});
    while (place != constants.begin() && (--place)->second.reach >= end)
      if (place->first.second >= end)
        return place->second.constant;
    return nullptr;
  }

  mutable std::shared_mutex mutex;
  Constants constants;
  std::atomic<uint64_t> changes = 0; // of the memory that there may be
};

} // namespace plim::devices::internal
