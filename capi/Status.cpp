#include "plimsoll/status.h"

#include "capi/Border.h"
#include "capi/Handle.h"

#include <memory>
#include <string>

struct plim_status {
  std::atomic<plim::capi::Word> word{plim::capi::Word::Status};
  plim::Status status;
  std::unique_ptr<const std::string> file; // null: it speaks of no place
  uint32_t line = 0, column = 0;
};

namespace plim::capi {
namespace {

/// That of the first error.
void findPlace(plim_status &status) {
  for (const Diagnostic &diagnostic : status.status.diagnostics()) {
    if (diagnostic.severity != Diagnostic::Severity::Error)
      continue;
    if (!diagnostic.file.empty()) {
      status.file = std::make_unique<const std::string>(diagnostic.file);
      status.line = diagnostic.line;
      status.column = diagnostic.column;
    }
    return;
  }
}

bool isLive(const plim_status *status) {
  return status && status->word.load(std::memory_order_relaxed) == Word::Status;
}

// What there is when there is no memory for a status: without one of its own.
constinit plim_status noMemory;

} // namespace

plim_status *toHandle(Status status) noexcept {
  if (status.ok())
    return nullptr;
  try {
    auto handle = std::make_unique<plim_status>();
    handle->status = std::move(status);
    findPlace(*handle);
    return handle.release();
  } catch (const std::bad_alloc &) {
    return &noMemory;
  }
}

plim_status *makeHandle(StatusCode code, const char *message) noexcept {
  try {
    return toHandle(Status(code, message));
  } catch (const std::bad_alloc &) {
    return &noMemory;
  }
}

plim_status *noMemoryHandle() noexcept { return &noMemory; }

} // namespace plim::capi

using namespace plim;
using namespace plim::capi;

extern "C" {

const char *plim_code_name(plim_code code) {
  return statusCodeName(static_cast<StatusCode>(code)).data();
}

plim_code plim_status_code(const plim_status *status) {
  if (status == &noMemory)
    return PLIM_RESOURCE_EXHAUSTED;
  return isLive(status) ? static_cast<plim_code>(status->status.code()) : PLIM_OK;
}

const char *plim_status_message(const plim_status *status) {
  if (status == &noMemory)
    return "no memory";
  return isLive(status) ? status->status.message().data() : "";
}

const char *plim_status_file(const plim_status *status) {
  return isLive(status) && status->file ? status->file->c_str() : nullptr;
}

uint32_t plim_status_line(const plim_status *status) { return isLive(status) ? status->line : 0; }

uint32_t plim_status_column(const plim_status *status) {
  return isLive(status) ? status->column : 0;
}

size_t plim_status_diagnostic_count(const plim_status *status) {
  return isLive(status) ? status->status.diagnostics().size() : 0;
}

plim_status *plim_status_diagnostic(const plim_status *status, size_t index,
                                    plim_diagnostic *out_diagnostic) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkOutStruct(out_diagnostic, "out_diagnostic"));
    if (index >= plim_status_diagnostic_count(status))
      return outOfRangeError("there is no diagnostic " + std::to_string(index));
    const Diagnostic &diagnostic = status->status.diagnostics()[index];
    writeStruct(out_diagnostic,
                plim_diagnostic{.struct_size = 0,
                                .severity = static_cast<plim_severity>(diagnostic.severity),
                                .message = diagnostic.message.c_str(),
                                .file = diagnostic.file.empty() ? nullptr : diagnostic.file.c_str(),
                                .line = diagnostic.line,
                                .column = diagnostic.column,
                                .end_line = diagnostic.endLine,
                                .end_column = diagnostic.endColumn});
    return okStatus();
  });
}

void plim_status_release(plim_status *status) {
  if (!isLive(status) || status == &noMemory)
    return;
  status->word.store(Word::Released, std::memory_order_relaxed);
  delete status;
}

} // extern "C"

// The numbers of both sides are the same.
#define PLIM_SAME_CODE(ours, theirs) static_assert(static_cast<int32_t>(StatusCode::ours) == theirs)
PLIM_SAME_CODE(Ok, PLIM_OK);
PLIM_SAME_CODE(Cancelled, PLIM_CANCELLED);
PLIM_SAME_CODE(Unknown, PLIM_UNKNOWN);
PLIM_SAME_CODE(InvalidArgument, PLIM_INVALID_ARGUMENT);
PLIM_SAME_CODE(DeadlineExceeded, PLIM_DEADLINE_EXCEEDED);
PLIM_SAME_CODE(NotFound, PLIM_NOT_FOUND);
PLIM_SAME_CODE(AlreadyExists, PLIM_ALREADY_EXISTS);
PLIM_SAME_CODE(PermissionDenied, PLIM_PERMISSION_DENIED);
PLIM_SAME_CODE(ResourceExhausted, PLIM_RESOURCE_EXHAUSTED);
PLIM_SAME_CODE(FailedPrecondition, PLIM_FAILED_PRECONDITION);
PLIM_SAME_CODE(OutOfRange, PLIM_OUT_OF_RANGE);
PLIM_SAME_CODE(Unimplemented, PLIM_UNIMPLEMENTED);
PLIM_SAME_CODE(Internal, PLIM_INTERNAL);
PLIM_SAME_CODE(Unavailable, PLIM_UNAVAILABLE);
PLIM_SAME_CODE(DataLoss, PLIM_DATA_LOSS);
