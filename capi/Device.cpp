#include "plimsoll/device.h"

#include "capi/Allocator.h"
#include "capi/Border.h"
#include "capi/Objects.h"
#include "capi/RegisteredFunction.h"
#include "engine/abi/plim_abi.h"

using namespace plim;
using namespace plim::capi;

static_assert(PLIM_DEVICE_STACK == PLIM_DEVICE_LAUNCH_STACK);

struct plim_device_job {
  std::string *code; // null in load
  plim_code failed = PLIM_OK;
  std::string reason = {};

  void fail(plim_code code, const char *message) {
    if (failed != PLIM_OK)
      return;
    failed = code == PLIM_OK ? PLIM_UNKNOWN : code;
    if (message)
      reason = message;
  }

  /// How it has ended, by what the callback returned if it has not failed before.
  Status status(plim_code returned, const char *callback) const {
    plim_code code = failed == PLIM_OK ? returned : failed;
    if (code == PLIM_OK)
      return okStatus();
    bool isKnown = code > PLIM_OK && code <= PLIM_DATA_LOSS;
    return Status(isKnown ? static_cast<StatusCode>(code) : StatusCode::Unknown,
                  reason.empty() ? std::string(callback) + " gave no reason" : reason);
  }
};

namespace {

/// What is called in the device's place.
class HostDevice {
public:
  explicit HostDevice(const plim_device_options &options)
      : compileText(options.compile), loadCode(options.load),
        user(options.user, options.release_user) {}

  StatusOr<std::string> compile(std::string_view name, std::string_view text) const {
    std::string code;
    plim_device_job job{&code};
    plim_code returned =
        compileText(&job, user.user, std::string(name).c_str(), text.data(), text.size());
    PLIM_RETURN_IF_ERROR(job.status(returned, "compile"));
    return code;
  }

  StatusOr<HostFunction> load(std::string_view name, std::string_view code) const {
    plim_device_job job{nullptr};
    plim_host_function_options function = {};
    function.struct_size = sizeof function;
    plim_code returned =
        loadCode(&job, user.user, std::string(name).c_str(), code.data(), code.size(), &function);
    PLIM_RETURN_IF_ERROR(job.status(returned, "load"));
    // Load has returned: what it gave is ours, whatever it is.
    auto registered = std::make_shared<RegisteredFunction>(function);
    registered->user.take();
    return toHostFunction(function, registered, "load");
  }

  const plim_device_compile compileText;
  const plim_device_load loadCode;
  UserData user;
};

} // namespace

extern "C" {

plim_status *plim_device_create(const plim_device_options *options, plim_device **out_device) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_device, "out_device"));
    PLIM_RETURN_IF_ERROR(checkPointer(options, "options"));
    plim_device_options given;
    PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
    PLIM_RETURN_IF_ERROR(checkFlags(given.flags, 0, "options"));
    PLIM_RETURN_IF_ERROR(checkPointer(given.name, "name"));
    if (!given.load && !given.compile)
      return invalidArgumentError(std::string("device '") + given.name +
                                  "' has neither compile nor load");
    auto host = std::make_shared<HostDevice>(given);
    auto device = std::make_shared<Device>();
    device->name = given.name;
    device->version = given.version ? given.version : "";
    if (given.compile)
      device->compile = [host](std::string_view name, std::string_view text) {
        return host->compile(name, text);
      };
    if (given.load)
      device->load = [host](std::string_view name, std::string_view code) {
        return host->load(name, code);
      };
    std::shared_ptr<HostAllocator> allocator;
    if (given.memory)
      PLIM_RETURN_IF_ERROR(readAllocator(given.memory, allocator, device->memory));
    *out_device = makeHandle<plim_device>(nullptr, std::move(device));
    host->user.take();
    if (allocator)
      allocator->user.take();
    return okStatus();
  });
}

plim_code plim_device_job_write(plim_device_job *job, const void *data, size_t size) {
  if (!job || !job->code)
    return plim_device_job_fail(job, PLIM_INVALID_ARGUMENT, "code is written in compile");
  if (!data && size != 0)
    return plim_device_job_fail(job, PLIM_INVALID_ARGUMENT, "the code is null");
  try {
    job->code->append(static_cast<const char *>(data), size);
  } catch (const std::exception &) {
    return plim_device_job_fail(job, PLIM_RESOURCE_EXHAUSTED, "no memory for the code");
  }
  return PLIM_OK;
}

plim_code plim_device_job_fail(plim_device_job *job, plim_code code, const char *message) {
  try {
    if (job)
      job->fail(code, message);
  } catch (const std::exception &) {
    // Without memory for the reason the code has to do.
  }
  return code;
}

void plim_device_retain(plim_device *device) { retain(device); }
void plim_device_release(plim_device *device) { release(device); }

} // extern "C"
