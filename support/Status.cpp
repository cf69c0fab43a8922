#include "support/Status.h"

#include <cassert>
#include <charconv>

namespace plim {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::Cancelled:
    return "cancelled";
  case StatusCode::Unknown:
    return "unknown";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::DeadlineExceeded:
    return "deadline exceeded";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::AlreadyExists:
    return "already exists";
  case StatusCode::PermissionDenied:
    return "permission denied";
  case StatusCode::ResourceExhausted:
    return "resource exhausted";
  case StatusCode::FailedPrecondition:
    return "failed precondition";
  case StatusCode::OutOfRange:
    return "out of range";
  case StatusCode::Unimplemented:
    return "unimplemented";
  case StatusCode::Internal:
    return "internal error";
  case StatusCode::Unavailable:
    return "unavailable";
  case StatusCode::DataLoss:
    return "data loss";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message, std::vector<Diagnostic> diagnostics) {
  assert(code != StatusCode::Ok && "an ok status carries no message");
  state = std::make_shared<const State>(State{code, std::move(message), std::move(diagnostics)});
}

std::string Status::toString() const {
  if (ok())
    return "ok";
  return std::string(statusCodeName(code())) + ": " + std::string(message());
}

Status Status::withContext(std::string_view context) const {
  if (ok())
    return *this;
  return Status(code(), std::string(context) + ": " + std::string(message()), state->diagnostics);
}

std::optional<Diagnostic> diagnosticOf(std::string_view text) {
  auto takeNumber = [](std::string_view &rest) -> uint32_t {
    uint32_t number = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return error == std::errc() ? number : 0;
  };
  // The name of a file may have colons in it, and numbers behind them, but no line's end.
  const size_t line = text.find('\n');
  for (size_t colon = text.find(':', 1); colon < line; colon = text.find(':', colon + 1)) {
    std::string_view rest = text.substr(colon + 1);
    Diagnostic diagnostic;
    diagnostic.line = takeNumber(rest);
    if (diagnostic.line == 0 || !rest.starts_with(':'))
      continue;
    rest.remove_prefix(1);
    diagnostic.column = takeNumber(rest);
    if (diagnostic.column == 0 || !rest.starts_with(": "))
      continue;
    diagnostic.file = text.substr(0, colon);
    diagnostic.message = rest.substr(2);
    return diagnostic;
  }
  return std::nullopt;
}

Status errorAtPlace(StatusCode code, std::string message) {
  std::vector<Diagnostic> diagnostics;
  if (std::optional<Diagnostic> diagnostic = diagnosticOf(message))
    diagnostics.push_back(std::move(*diagnostic));
  return Status(code, std::move(message), std::move(diagnostics));
}

Status cancelledError(std::string message) {
  return Status(StatusCode::Cancelled, std::move(message));
}
Status invalidArgumentError(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}
Status notFoundError(std::string message) {
  return Status(StatusCode::NotFound, std::move(message));
}
Status alreadyExistsError(std::string message) {
  return Status(StatusCode::AlreadyExists, std::move(message));
}
Status resourceExhaustedError(std::string message) {
  return Status(StatusCode::ResourceExhausted, std::move(message));
}
Status failedPreconditionError(std::string message) {
  return Status(StatusCode::FailedPrecondition, std::move(message));
}
Status outOfRangeError(std::string message) {
  return Status(StatusCode::OutOfRange, std::move(message));
}
Status unimplementedError(std::string message) {
  return Status(StatusCode::Unimplemented, std::move(message));
}
Status internalError(std::string message) {
  return Status(StatusCode::Internal, std::move(message));
}
Status unavailableError(std::string message) {
  return Status(StatusCode::Unavailable, std::move(message));
}
Status dataLossError(std::string message) {
  return Status(StatusCode::DataLoss, std::move(message));
}

} // namespace plim
