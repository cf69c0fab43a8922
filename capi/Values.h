// Values: scalars and buffers of the host's as the engine has them, and back. Calls pass here: no counts of
// owners are touched, and nothing is made that is not used.
#pragma once

#include "capi/Handle.h"
#include "engine/runtime/Value.h"
#include "jit/Artifact.h"
#include "plimsoll/value.h"

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace plim::capi {

/// InvalidArgument for what is no element type.
StatusOr<runtime::ElementType> elementType(plim_element_type type);
plim_element_type elementType(runtime::ElementType type);

/// Things that do not own what they hold: up to N in place. They are made, and never destroyed.
template <typename T, size_t N> class Borrowed {
public:
  explicit Borrowed(size_t count = 0) { reserve(count); }
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;

  /// Room for so many, before the first of them.
  void reserve(size_t count) {
    if (count > N) {
      large = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T));
      elements = reinterpret_cast<T *>(large.get());
    }
  }

  /// The next one.
  template <typename... Args> void add(Args &&...args) {
    new (elements + size++) T(std::forward<Args>(args)...);
  }
  T &operator[](size_t index) { return elements[index]; }
  std::span<T> get() { return {elements, size}; }

private:
  alignas(T) std::byte small[N * sizeof(T)];
  std::unique_ptr<std::byte[]> large;
  T *elements = reinterpret_cast<T *>(small);
  size_t size = 0;
};

/// The arguments of a call: buffers are not retained.
using Arguments = Borrowed<runtime::Value, 8>;

/// False if one of them is no value. `count` is what `arguments` was made for.
bool readArguments(const plim_value *given, size_t count, Arguments &arguments);
/// InvalidArgument, with the index of the one that is none, its name in `types`, and why. One for each of those.
Status checkValues(const plim_value *given, const std::vector<jit::ValueType> &types);

/// The host becomes the owner of what it holds, which then is nothing.
plim_value toHost(runtime::Value &value);

} // namespace plim::capi
