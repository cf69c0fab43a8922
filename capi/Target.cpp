#include "plimsoll/target.h"

#include "capi/Border.h"
#include "capi/Objects.h"
#include "targets/Resolve.h"

using namespace plim;
using namespace plim::capi;

extern "C" {

plim_status *plim_target_create(const char *name, const char *const *overrides,
                                size_t override_count, plim_target **out_target) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_target, "out_target"));
    std::vector<std::string> assignments;
    PLIM_RETURN_IF_ERROR(readStrings(overrides, override_count, "overrides", assignments));
    std::vector<Status> warnings;
    PLIM_ASSIGN_OR_RETURN(targets::TargetDescription description,
                          targets::resolveTarget(name ? name : "host-cpu", assignments, &warnings));
    *out_target = makeHandle<plim_target>(nullptr, std::move(description), std::move(warnings));
    return okStatus();
  });
}

plim_status *plim_target_create_from_json(const char *json, size_t size, plim_target **out_target) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_target, "out_target"));
    PLIM_RETURN_IF_ERROR(checkArray(json, size, "json"));
    PLIM_ASSIGN_OR_RETURN(targets::TargetDescription description,
                          targets::fromJson(std::string_view(json, size)));
    *out_target = makeHandle<plim_target>(nullptr, std::move(description), std::vector<Status>());
    return okStatus();
  });
}

plim_status *plim_target_describe(const plim_target *target, plim_report **out_report) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(target));
    PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
    *out_report = makeHandle<plim_report>(nullptr, targets::toJson(target->description));
    return okStatus();
  });
}

plim_status *plim_target_list(plim_report **out_report) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
    PLIM_ASSIGN_OR_RETURN(targets::Registry registry, targets::makeRegistry(nullptr));
    *out_report = makeHandle<plim_report>(nullptr, targets::toJson(registry.tags()));
    return okStatus();
  });
}

void plim_target_retain(plim_target *target) { retain(target); }
void plim_target_release(plim_target *target) { release(target); }

} // extern "C"
