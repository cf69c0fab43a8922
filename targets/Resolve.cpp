#include "targets/Resolve.h"

#include "targets/Calibration.h"
#include "targets/VisibleDevices.h"
#include "targets/cuda/Cuda.h"
#include "targets/host/Host.h"
#include "targets/internal/File.h"
#include "targets/vulkan/Vulkan.h"

namespace plim::targets {
namespace {

void keepWarning(std::vector<Status> *warnings, const Status &status, std::string_view context) {
  if (!status.ok() && warnings)
    warnings->push_back(status.withContext(context));
}

StatusOr<TargetDescription> queryCpu(std::vector<Status> *warnings) {
  PLIM_ASSIGN_OR_RETURN(TargetDescription target, queryHost());
  StatusOr<std::optional<Calibration>> calibration = readCalibration(calibrationPath());
  keepWarning(warnings, calibration.status(), "the calibration is left out");
  if (calibration.ok() && *calibration)
    applyCalibration(**calibration, target.devices[0]);
  return target;
}

StatusOr<TargetDescription> queryAll(std::vector<Status> *warnings) {
  PLIM_ASSIGN_OR_RETURN(TargetDescription target, queryCpu(warnings));
  keepWarning(warnings, queryCuda(target), "CUDA devices are left out");
  keepWarning(warnings, queryVulkan(target), "Vulkan devices are left out");
  keepWarning(warnings, keepVisibleDevices(target), "PLIMSOLL_VISIBLE_DEVICES");
  return target;
}

StatusOr<TargetDescription> lookup(const Registry &registry, std::string_view nameOrPath) {
  if (!nameOrPath.ends_with(".json"))
    return registry.lookup(nameOrPath);
  PLIM_ASSIGN_OR_RETURN(std::string json, internal::readFile(std::string(nameOrPath)));
  return registry.resolve(json, nameOrPath);
}

} // namespace

StatusOr<Registry> makeRegistry(std::vector<Status> *warnings) {
  Registry registry;
  PLIM_RETURN_IF_ERROR(registry.addProbe("host", "this machine and its accelerators",
                                         [warnings] { return queryAll(warnings); }));
  PLIM_RETURN_IF_ERROR(registry.addProbe("host-cpu", "this machine without its accelerators",
                                         [warnings] { return queryCpu(warnings); }));
  PLIM_RETURN_IF_ERROR(registry.addBuiltinTags());
  return registry;
}

StatusOr<TargetDescription> resolveTarget(std::string_view nameOrPath,
                                          std::span<const std::string> overrides,
                                          std::vector<Status> *warnings) {
  PLIM_ASSIGN_OR_RETURN(Registry registry, makeRegistry(warnings));
  PLIM_ASSIGN_OR_RETURN(TargetDescription target, lookup(registry, nameOrPath));
  for (const std::string &override : overrides)
    PLIM_RETURN_IF_ERROR(overrideField(target, override));
  return target;
}

} // namespace plim::targets
