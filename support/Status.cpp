#include "support/Status.h"

#include <cassert>

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
