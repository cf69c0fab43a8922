// Statuses and results: how failures come back in C++ (status.h).
//
//   plimsoll::Result<plimsoll::Engine> engine = plimsoll::Engine::create();
//   if (!engine)
//     return engine.status();        // or engine.value(), which throws
//   engine->load(...)
//
// Code that is compiled without exceptions has neither Error, nor value(), nor orThrow().
//
// Threads: as of any value; copies of one status may be read by several.
#pragma once

#include "plimsoll/status.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll {

/// Ok, or why something failed. A copy is the same status; one that was moved from may be either.
class [[nodiscard]] Status {
public:
  Status() = default;
  /// Takes the status over; null is ok.
  explicit Status(plim_status *status) {
    if (status)
      handle.reset(status, plim_status_release);
  }
  /// One of the wrapper's own. `code` is not PLIM_OK.
  Status(plim_code code, std::string message) : ownCode(code), ownMessage(std::move(message)) {}

  bool ok() const { return code() == PLIM_OK; }
  plim_code code() const { return handle ? plim_status_code(handle.get()) : ownCode; }
  /// Ends in a NUL, which does not count. Lives as long as the status, as does file().
  std::string_view message() const {
    return handle ? std::string_view(plim_status_message(handle.get())) : ownMessage;
  }
  /// Empty, and 0, where the message speaks of no place.
  std::string_view file() const {
    const char *name = plim_status_file(handle.get());
    return name ? name : "";
  }
  uint32_t line() const { return plim_status_line(handle.get()); }
  uint32_t column() const { return plim_status_column(handle.get()); }
  /// All that the compiler said; the texts live as long as the status.
  std::vector<plim_diagnostic> diagnostics() const {
    std::vector<plim_diagnostic> all(plim_status_diagnostic_count(handle.get()));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].struct_size = sizeof(plim_diagnostic);
      plim_status_release(plim_status_diagnostic(handle.get(), i, &all[i]));
    }
    return all;
  }

#if defined(__cpp_exceptions)
  /// Throws an Error unless it is ok.
  void orThrow() const;
#endif

private:
  std::shared_ptr<plim_status> handle;
  plim_code ownCode = PLIM_OK;
  std::string ownMessage;
};

#if defined(__cpp_exceptions)
/// A status that is not ok, for who would rather catch: thrown by Status::orThrow() and
/// Result::value() alone.
class Error : public std::exception {
public:
  /// `status` is not ok.
  explicit Error(Status status) : held(std::move(status)) {}
  const Status &status() const { return held; }
  plim_code code() const { return held.code(); }
  const char *what() const noexcept override { return held.message().data(); }

private:
  Status held;
};

inline void Status::orThrow() const {
  if (!ok())
    throw Error(*this);
}
#endif

/// A value, or the status that says why there is none. `*` and `->` of one that failed are faults,
/// which nothing checks; value() throws an Error. A Result of a handle owns it as the handle does.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  /// `status` is not ok.
  Result(Status status) : failure(std::move(status)) {}

  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }
  /// Ok if there is a value.
  const Status &status() const { return failure; }
  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  /// Of a temporary: by value, so that loops over it have something to loop over.
  T operator*() && { return *std::move(held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

#if defined(__cpp_exceptions)
  /// The value, or the status as an Error that is thrown.
  T &value() & {
    failure.orThrow();
    return *held;
  }
  const T &value() const & {
    failure.orThrow();
    return *held;
  }
  T value() && {
    failure.orThrow();
    return *std::move(held);
  }
#endif

private:
  std::optional<T> held;
  Status failure;
};

} // namespace plimsoll
