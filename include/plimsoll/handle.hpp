// Handles: owners of the objects of the C interface. What the other headers are made of, not for hosts.
#pragma once

#include "plimsoll/status.hpp"

#include <string>
#include <utility>
#include <vector>

namespace plimsoll {

namespace detail {

/// An owner of an object of the C interface.
template <typename T, void (*RetainV)(T *), void (*ReleaseV)(T *)> class Handle {
public:
  Handle() = default;
  /// Takes over one owner.
  explicit Handle(T *object) : object(object) {}
  Handle(const Handle &other) : object(other.object) { RetainV(object); }
  Handle(Handle &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Handle() { ReleaseV(object); }

  explicit operator bool() const { return object != nullptr; }
  /// For functions of the C interface: borrowed, and given up.
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

template <typename T> T sized() {
  T options{};
  options.struct_size = sizeof options;
  return options;
}

/// `user` of a callback that is a function object.
template <typename FunctionT> void destroy(void *user) { delete static_cast<FunctionT *>(user); }

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

inline const char *orNull(const std::string &string) {
  return string.empty() ? nullptr : string.c_str();
}

} // namespace detail

} // namespace plimsoll
