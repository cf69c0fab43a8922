#include "tools/Version.h"

#include "targets/Resolve.h"

#include "llvm/Config/llvm-config.h"

namespace plim::tools {

std::string version() { return PLIM_VERSION; }

std::string versionText() {
  std::string text =
      "plimsoll " PLIM_VERSION "\nLLVM " LLVM_VERSION_STRING ", " PLIM_BUILD_TYPE " build\n";
  StatusOr<targets::TargetDescription> host = targets::resolveTarget("host-cpu", {});
  if (!host.ok())
    return text + "host: " + std::string(host.status().message());
  const targets::DeviceDescription &device = host->devices[0];
  return text + "host: " + device.triple + ", " + device.cpu +
         (device.tuneCpu.empty() ? "" : ", tuned for " + device.tuneCpu) +
         (device.description.empty() ? "" : ", " + device.description);
}

} // namespace plim::tools
