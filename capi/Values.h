// Values: scalars and buffers of the host's as the engine has them, and back. Calls pass here: no
// counts of owners are touched, and nothing is made that is not used.
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
/// The inverse, of any.
plim_element_type elementType(runtime::ElementType type);

/// Things that do not own what they hold, up to N of them in place; more take memory, and
/// std::bad_alloc is thrown without. They are made, and never destroyed, so that no count of owners
/// changes. Of one thread.
template <typename T, size_t N> class Borrowed {
public:
  explicit Borrowed(size_t count = 0) { reserve(count); }
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;

  /// Room for `count` of them in all, before the first one is added.
  void reserve(size_t count) {
    if (count > N) {
      large = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T));
      elements = reinterpret_cast<T *>(large.get());
    }
  }

  /// Makes the next one. There must be room.
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

/// Adds `count` values to `arguments`, which was made for as many. False if one of them is no
/// value; checkValues() then says why.
bool readArguments(const plim_value *given, size_t count, Arguments &arguments);
/// Looks at one value for each of `types`. InvalidArgument for the first that is no value, with its
/// index, its name in `types`, and why.
Status checkValues(const plim_value *given, const std::vector<jit::ValueType> &types);

/// The host becomes an owner of the buffer that `value` holds, which then is empty; a scalar is
/// copied.
plim_value toHost(runtime::Value &value);

} // namespace plim::capi
