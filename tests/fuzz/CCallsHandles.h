// The handles that the fuzzer of the C interface owns, of all kinds.
//
// Threads: one.
#pragma once

#include "plimsoll/plimsoll.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace plim::fuzz {

/// What can be done with a handle of any kind.
struct Kind {
  void (*retain)(void *handle);
  void (*release)(void *handle);
};
template <typename T, void (*retain)(T *), void (*release)(T *)>
constexpr Kind kindOfFunctions = {[](void *handle) { retain(static_cast<T *>(handle)); },
                                  [](void *handle) { release(static_cast<T *>(handle)); }};
template <typename T> constexpr const Kind *kindOf = nullptr;
#define PLIM_KIND(object)                                                                          \
  template <>                                                                                      \
  constexpr const Kind *kindOf<plim_##object> =                                                    \
      &kindOfFunctions<plim_##object, &plim_##object##_retain, &plim_##object##_release>;
PLIM_KIND(target)
PLIM_KIND(engine)
PLIM_KIND(module)
PLIM_KIND(function)
PLIM_KIND(buffer)
PLIM_KIND(parameters)
PLIM_KIND(state)
PLIM_KIND(event)
PLIM_KIND(stop)
PLIM_KIND(host_functions)
PLIM_KIND(device)
PLIM_KIND(report)
PLIM_KIND(bytes)
#undef PLIM_KIND

class Handles {
public:
  Handles() = default;
  ~Handles() {
    while (!all.empty())
      release(all.size() - 1);
  }
  Handles(const Handles &) = delete;
  Handles &operator=(const Handles &) = delete;

  size_t size() const { return all.size(); }

  /// Takes over one owner.
  template <typename T> void add(T *handle) { all.push_back({kindOf<T>, handle}); }
  /// Makes one.
  void retain(size_t index) {
    Handle handle = all[index];
    handle.kind->retain(handle.pointer);
    all.push_back(handle);
  }
  template <typename T> void retain(T *handle) {
    kindOf<T>->retain(handle);
    add(handle);
  }
  void release(size_t index) {
    Handle handle = all[index];
    all.erase(all.begin() + static_cast<ptrdiff_t>(index));
    handle.kind->release(handle.pointer);
  }
  /// Handles that are said to be something else stay what they are.
  void mistake(size_t index, const Kind *as) {
    if (as == all[index].kind)
      return;
    as->retain(all[index].pointer);
    as->release(all[index].pointer);
  }

  template <typename T> bool isLive(const T *handle) const {
    return std::ranges::find(all, Handle{kindOf<T>, const_cast<T *>(handle)}) != all.end();
  }
  /// Null if the handle is of another kind.
  template <typename T> T *get(size_t index) const {
    return all[index].kind == kindOf<T> ? static_cast<T *>(all[index].pointer) : nullptr;
  }
  /// One of its kind, as a rule; one of another kind or null sometimes.
  template <typename T> T *pick(uint8_t choice) const {
    bool isAnyKind = choice >= 232 && choice < 248;
    auto fits = [&](const Handle &handle) { return isAnyKind || handle.kind == kindOf<T>; };
    auto count = static_cast<size_t>(std::ranges::count_if(all, fits));
    if (count == 0 || choice >= 248)
      return nullptr;
    size_t skip = choice % count;
    return static_cast<T *>(std::ranges::find_if(all, [&](const Handle &handle) {
                              return fits(handle) && skip-- == 0;
                            })->pointer);
  }

private:
  struct Handle {
    const Kind *kind;
    void *pointer;
    bool operator==(const Handle &) const = default;
  };
  std::vector<Handle> all;
};

} // namespace plim::fuzz
