// Status and StatusOr: how support/, engine/ and tools/ report failure.
//
// A Status is either ok or a code with a message; a message that speaks of user input carries its
// source location in front, "file:line:column: ". Copies are cheap (an ok status is one null
// pointer); a Status is immutable once built, so any thread may read it.
//
// This header must not know LLVM: ir/ has located diagnostics, jit/ and targets/ have llvm::Error;
// both are converted here exactly once, at the border to engine/session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim {

/// The canonical codes; the numbers are part of the C ABI.
enum class StatusCode : int32_t {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
};

/// "invalid argument" for StatusCode::InvalidArgument, and so on.
std::string_view statusCodeName(StatusCode code);

/// What is said of one place of a source: by the compiler, by checks of compiled code, by a load that lacks something.
struct Diagnostic {
  enum class Severity : int32_t { Error = 0, Warning = 1, Remark = 2, Note = 3 };
  Severity severity = Severity::Error; // a note belongs to what stands before it
  std::string file;                    // empty, and 0: of no place
  uint32_t line = 0, column = 0;       // from 1 on
  uint32_t endLine = 0, endColumn = 0; // behind it; 0: not known
  std::string message;

  bool operator==(const Diagnostic &) const = default;
};

/// The error that `text` tells, "file:line:column: words"; nothing if it begins with no place.
std::optional<Diagnostic> diagnosticOf(std::string_view text);

class [[nodiscard]] Status {
public:
  /// Ok.
  Status() = default;
  Status(StatusCode code, std::string message, std::vector<Diagnostic> diagnostics = {});

  bool ok() const { return state == nullptr; }
  StatusCode code() const { return state ? state->code : StatusCode::Ok; }
  /// Empty when ok; borrowed, lives as long as this status or a copy of it.
  std::string_view message() const { return state ? std::string_view(state->message) : ""; }
  /// All that the compiler said, in its order; lives as long as message().
  std::span<const Diagnostic> diagnostics() const {
    return state ? std::span<const Diagnostic>(state->diagnostics) : std::span<const Diagnostic>();
  }
  /// "invalid argument: message", or "ok".
  std::string toString() const;

  /// This status with `context` and ": " put in front of its message; ok stays ok.
  Status withContext(std::string_view context) const;

private:
  struct State {
    StatusCode code;
    std::string message;
    std::vector<Diagnostic> diagnostics;
  };
  std::shared_ptr<const State> state;
};

inline Status okStatus() { return Status(); }
/// An error at the place that `message` begins with, as compiled code and what belongs to it know theirs:
/// "file:line:column: words". It is the status's one diagnostic; without a place there is none.
Status errorAtPlace(StatusCode code, std::string message);
Status cancelledError(std::string message);
Status invalidArgumentError(std::string message);
Status notFoundError(std::string message);
Status alreadyExistsError(std::string message);
Status resourceExhaustedError(std::string message);
Status failedPreconditionError(std::string message);
Status outOfRangeError(std::string message);
Status unimplementedError(std::string message);
Status internalError(std::string message);
Status unavailableError(std::string message);
Status dataLossError(std::string message);

/// A value or the status that says why there is none. Reading the value of a failed one is a
/// programming error.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : held(std::move(value)) {}
  /// `status` must not be ok.
  StatusOr(Status status) : failure(std::move(status)) {}

  bool ok() const { return held.has_value(); }
  const Status &status() const { return failure; }
  T &value() & { return *held; }
  const T &value() const & { return *held; }
  T &&value() && { return std::move(*held); }
  T &operator*() & { return *held; }
  const T &operator*() const & { return *held; }
  T &&operator*() && { return std::move(*held); }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

private:
  std::optional<T> held;
  Status failure;
};

} // namespace plim

#define PLIM_CONCAT_INNER(a, b) a##b
#define PLIM_CONCAT(a, b) PLIM_CONCAT_INNER(a, b)

/// Returns the status of `expr` from the enclosing function unless it is ok.
#define PLIM_RETURN_IF_ERROR(expr)                                                                 \
  do {                                                                                             \
    if (::plim::Status plimStatus = (expr); !plimStatus.ok())                                      \
      return plimStatus;                                                                           \
  } while (false)

/// PLIM_ASSIGN_OR_RETURN(auto x, f()): x = *f(), or returns f's status.
#define PLIM_ASSIGN_OR_RETURN(lhs, expr)                                                           \
  PLIM_ASSIGN_OR_RETURN_INNER(PLIM_CONCAT(plimStatusOr, __LINE__), lhs, expr)
#define PLIM_ASSIGN_OR_RETURN_INNER(temporary, lhs, expr)                                          \
  auto temporary = (expr);                                                                         \
  if (!temporary.ok())                                                                             \
    return temporary.status();                                                                     \
  lhs = std::move(*temporary)
