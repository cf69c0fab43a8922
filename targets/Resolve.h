// From a name to a target: what engines and the command line call.
//
// Joins the registry with the probes. Threads: as its parts; two calls at once are fine. The only
// lasting effects are those of the probes.
#pragma once

#include "targets/Registry.h"

#include <span>

namespace plim::targets {

/// The built-in tags, and two names for this machine: "host" with its accelerators, and "host-cpu"
/// without, which does not load their drivers. Accelerators that fail are left out, each with one
/// status in `warnings`, which may be null and must outlive the registry.
StatusOr<Registry> makeRegistry(std::vector<Status> *warnings);

/// The target of that name, or, if the name ends in ".json", in that file; a file may inherit from
/// a tag. Then the overrides (`overrideField`) in order. `warnings`, which may be null, receives
/// what went wrong without being fatal; the caller logs it. NotFound for an unknown name or file,
/// InvalidArgument for a malformed file or override.
StatusOr<TargetDescription> resolveTarget(std::string_view nameOrPath,
                                          std::span<const std::string> overrides,
                                          std::vector<Status> *warnings = nullptr);

} // namespace plim::targets
