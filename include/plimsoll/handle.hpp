// Handles: owners of the objects of the C interface. What the other headers are made of. Hosts need
// only what every handle has: copies and moves, `if (handle)`, get() and release().
//
// Threads: two handles of one object may be used by two threads as the C header of the object says.
// One handle is a plain pointer: it must not be assigned while another thread uses it.
#pragma once

#include "plimsoll/status.hpp"

#include <string>
#include <utility>
#include <vector>

namespace plimsoll {

namespace detail {

/// An owner of an object of the C interface, or empty. Moved from, it is empty.
template <typename T, void (*RetainV)(T *), void (*ReleaseV)(T *)> class Handle {
public:
  Handle() = default;
  /// Takes over one owner: what a function of the C interface wrote to an `out_` parameter.
  explicit Handle(T *object) : object(object) {}
  Handle(const Handle &other) : object(other.object) { RetainV(object); }
  Handle(Handle &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Handle() { ReleaseV(object); }

  explicit operator bool() const { return object != nullptr; }
  /// For functions of the C interface. get() lends the object, null if there is none. release()
  /// gives up this owner, which the caller has then, and leaves the handle empty.
  T *get() const { return object; }
  T *release() { return std::exchange(object, nullptr); }

private:
  T *object = nullptr;
};

/// What `create(T **out)` of the C interface makes, in its C++ type.
template <typename HandleT, typename T, typename CreateT> Result<HandleT> make(CreateT create) {
  T *object = nullptr;
  if (Status status(create(&object)); !status.ok())
    return status;
  return HandleT(object);
}

/// A struct of the C interface, all zero but its size.
template <typename T> T sized() {
  T options{};
  options.struct_size = sizeof options;
  return options;
}

/// The plim_user_release of a callback whose `user` is a function object made with new.
template <typename FunctionT> void destroy(void *user) { delete static_cast<FunctionT *>(user); }

/// Strings as an array of C strings. Borrows them.
class CStrings {
public:
  explicit CStrings(const std::vector<std::string> &strings) {
    for (const std::string &string : strings)
      pointers.push_back(string.c_str());
  }
  const char *const *data() const { return pointers.data(); }
  size_t size() const { return pointers.size(); }

private:
  std::vector<const char *> pointers;
};

/// For options of which NULL is the default: null for an empty string, which otherwise is borrowed.
inline const char *orNull(const std::string &string) {
  return string.empty() ? nullptr : string.c_str();
}

} // namespace detail

} // namespace plimsoll
