// Border: what every function of the C interface does with what the host hands in, and with what
// goes wrong.
//
//   return enter([&] {
//     PLIM_RETURN_IF_ERROR(checkHandle(engine));
//     PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
//     ...
//     return okStatus();
//   });
//
// Must not know what any function does. Threads: any.
#pragma once

#include "plimsoll/base.h"
#include "plimsoll/engine.h"
#include "plimsoll/module.h"
#include "plimsoll/value.h"
#include "support/Status.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace plim::capi {

/// A status for the host to own; null for ok. Without memory one that is static.
plim_status *toHandle(Status status) noexcept;
/// The same, made of parts.
plim_status *makeHandle(StatusCode code, const char *message) noexcept;
/// The static one.
plim_status *noMemoryHandle() noexcept;

/// Runs the body of a function, a Status(). Nothing is thrown out of it: std::bad_alloc becomes
/// RESOURCE_EXHAUSTED, every other exception INTERNAL.
template <typename BodyT> plim_status *enter(BodyT body) noexcept {
  try {
    Status status = body();
    if (status.ok()) [[likely]]
      return nullptr;
    return toHandle(std::move(status));
  } catch (const std::bad_alloc &) {
    return noMemoryHandle();
  } catch (const std::exception &exception) {
    return makeHandle(StatusCode::Internal, exception.what());
  } catch (...) {
    return makeHandle(StatusCode::Internal, "an exception of no known type");
  }
}

/// InvalidArgument unless `pointer` is there.
inline Status checkPointer(const void *pointer, const char *name) {
  return pointer ? okStatus() : invalidArgumentError(std::string(name) + " is null");
}

/// The same for `count` things at `pointer`.
inline Status checkArray(const void *pointer, size_t count, const char *name) {
  return pointer || count == 0 ? okStatus()
                               : invalidArgumentError(std::string(name) + " is null, but has " +
                                                      std::to_string(count) + " elements");
}

/// Copies `count` strings of the host's. InvalidArgument for a null one, or null where there should
/// be some.
Status readStrings(const char *const *strings, size_t count, const char *name,
                   std::vector<std::string> &out);

/// Checks the size that the host gives a struct of `known` bytes: not less than the `first` bytes
/// that the first version had, and with zeros where this library knows nothing. InvalidArgument
/// otherwise.
Status checkStruct(const void *given, size_t known, size_t first, const char *name);

/// How large each struct was when it was first published. Fields added later do not change it: one
/// that gets such has to stand here (tests/capi/abi.py sees to it).
template <typename T> struct FirstSize {
  static constexpr size_t value = sizeof(T);
};

template <> struct FirstSize<plim_engine_options> {
  static constexpr size_t value = offsetof(plim_engine_options, cores);
};
template <> struct FirstSize<plim_compile_workers> {
  static constexpr size_t value = offsetof(plim_compile_workers, flags);
};
template <> struct FirstSize<plim_load_options> {
  static constexpr size_t value = offsetof(plim_load_options, specialization);
};
template <> struct FirstSize<plim_load_statistics> {
  static constexpr size_t value = offsetof(plim_load_statistics, objects);
};
template <> struct FirstSize<plim_value_type> {
  static constexpr size_t value = offsetof(plim_value_type, name);
};

/// Those fields of the host's struct that both sides know; all others are zero. A null one is all
/// zeros.
template <typename T> Status readStruct(const T *given, const char *name, T &out) {
  if (given && given->struct_size == sizeof(T)) [[likely]] {
    out = *given;
    return okStatus();
  }
  out = T{};
  if (!given)
    return okStatus();
  PLIM_RETURN_IF_ERROR(checkStruct(given, sizeof(T), FirstSize<T>::value, name));
  std::memcpy(&out, given, given->struct_size < sizeof(T) ? given->struct_size : sizeof(T));
  return okStatus();
}

/// Can writeStruct() fill in this struct of the host's? InvalidArgument for null, and for a
/// struct_size that is not set or too small.
template <typename T> Status checkOutStruct(const T *out, const char *name) {
  PLIM_RETURN_IF_ERROR(checkPointer(out, name));
  if (out->struct_size < FirstSize<T>::value)
    return invalidArgumentError(std::string(name) + " has struct_size " +
                                std::to_string(out->struct_size) + ", expected at least " +
                                std::to_string(FirstSize<T>::value));
  return okStatus();
}
/// The inverse of readStruct(): fills in those fields of the host's struct that both sides know.
/// Its struct_size stays.
template <typename T> void writeStruct(T *out, T value) {
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, value.struct_size < sizeof(T) ? value.struct_size : sizeof(T));
}

/// InvalidArgument if flags are set that this library does not know.
inline Status checkFlags(uint32_t flags, uint32_t known, const char *name) {
  if (flags & ~known)
    return invalidArgumentError(std::string("unknown flags in ") + name);
  return okStatus();
}

/// `user` of a callback: given back to the host when the last copy of the pointer to it is gone,
/// unless the function that took it has failed.
class UserData {
public:
  UserData(void *user, plim_user_release release) : user(user), release(release) {}
  ~UserData() {
    if (release && isTaken)
      release(user);
  }
  UserData(const UserData &) = delete;
  UserData &operator=(const UserData &) = delete;

  /// The function has not failed. By a thread that keeps a copy.
  void take() { isTaken = true; }

  void *const user;

private:
  const plim_user_release release;
  bool isTaken = false; // seen by whoever drops the last copy
};

} // namespace plim::capi
