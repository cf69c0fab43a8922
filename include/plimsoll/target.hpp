// Targets: what the compiler may assume about a machine (target.h).
//
//   plimsoll::Result<plimsoll::Target> target = plimsoll::Target::create("x86-64-v3");
//   options.target = &*target;
#pragma once

#include "plimsoll/report.hpp"
#include "plimsoll/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

/// A plim_target. It never changes.
class Target : public detail::Handle<plim_target, plim_target_retain, plim_target_release> {
public:
  using Handle::Handle;
  /// The target of that name, tag or path, with `path=value` overrides on top of it, the last one
  /// strongest.
  static Result<Target> create(const std::string &name = "host-cpu",
                               const std::vector<std::string> &overrides = {}) {
    detail::CStrings strings(overrides);
    return detail::make<Target, plim_target>([&](plim_target **out) {
      return plim_target_create(name.c_str(), strings.data(), strings.size(), out);
    });
  }
  /// What describe() wrote, here or on another machine. The text is not kept.
  static Result<Target> fromJson(std::string_view json) {
    return detail::make<Target, plim_target>([&](plim_target **out) {
      return plim_target_create_from_json(json.data(), json.size(), out);
    });
  }
  /// All that is known of it, as JSON.
  Result<Report> describe() const {
    return detail::make<Report, plim_report>(
        [&](plim_report **out) { return plim_target_describe(get(), out); });
  }
  /// The names that create() knows, as JSON.
  static Result<Report> list() { return detail::make<Report, plim_report>(plim_target_list); }
};

} // namespace plimsoll
