// Devices: accelerators that the host application brings (device.h).
//
//   plimsoll::DeviceOptions npu = {.name = "npu"};
//   npu.compile = [](plim_device_job *job, const std::string &name, std::string_view text) { ... };
//   npu.load = [](plim_device_job *job, const std::string &name, auto code, auto &made) { ... };
//   options.devices.push_back(*plimsoll::Device::create(npu));
//
// Function objects take the place of `user`; the library destroys them when it needs them no more.
// They are called from any thread, several at once, and one that throws ends the process.
#pragma once

#include "plimsoll/device.h"
#include "plimsoll/host_functions.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace plimsoll {

/// What a device gives for its code: a function, and how it may be called. Destroyed with the
/// module.
struct DeviceFunction {
  HostFunction function = {}; // must be set if load returns PLIM_OK
  plim_host_function_kind kind = PLIM_HOST_THREAD_SAFE;
};

/// plim_device_options. A callback that fails returns a code, for which it may give the reason with
/// plim_device_job_fail(). What it is given is borrowed until it returns.
struct DeviceOptions {
  std::string name = {};
  std::string version = {};
  std::function<plim_code(plim_device_job *job, const std::string &name, std::string_view text)>
      compile = {};
  std::function<plim_code(plim_device_job *job, const std::string &name,
                          std::span<const std::byte> code, DeviceFunction &function)>
      load = {};
  const plim_allocator *memory = nullptr; // read by create(), which copies it; null: none
};

/// A plim_device. It never changes.
class Device : public detail::Handle<plim_device, plim_device_retain, plim_device_release> {
public:
  using Handle::Handle;
  /// Takes the options over: the callbacks live until nobody has the device any more, engines and
  /// modules included. On failure they are destroyed.
  static Result<Device> create(DeviceOptions options) {
    auto kept = std::make_unique<DeviceOptions>(std::move(options));
    auto given = detail::sized<plim_device_options>();
    given.name = kept->name.c_str();
    given.version = kept->version.c_str();
    if (kept->compile)
      given.compile = [](plim_device_job *job, void *user, const char *name, const char *text,
                         size_t size) noexcept {
        return static_cast<DeviceOptions *>(user)->compile(job, name, {text, size});
      };
    if (kept->load)
      given.load = [](plim_device_job *job, void *user, const char *name, const void *code,
                      size_t size, plim_host_function_options *out) noexcept {
        auto made = std::make_unique<DeviceFunction>();
        plim_code returned = static_cast<DeviceOptions *>(user)->load(
            job, name, {static_cast<const std::byte *>(code), size}, *made);
        if (returned != PLIM_OK || !made->function)
          return returned;
        out->kind = made->kind;
        out->function = [](plim_host_call *call, void *user, const plim_host_value *arguments,
                           const plim_host_value *results) noexcept {
          return static_cast<DeviceFunction *>(user)->function(call, arguments, results);
        };
        out->user = made.release();
        out->release_user = detail::destroy<DeviceFunction>;
        return returned;
      };
    given.user = kept.get();
    given.release_user = detail::destroy<DeviceOptions>;
    given.memory = kept->memory;
    auto device = detail::make<Device, plim_device>(
        [&](plim_device **out) { return plim_device_create(&given, out); });
    if (device)
      static_cast<void>(kept.release());
    return device;
  }
};

} // namespace plimsoll
