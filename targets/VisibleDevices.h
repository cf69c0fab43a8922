// VisibleDevices: which accelerators of this machine a process may see.
#pragma once

#include "support/Status.h"
#include "targets/TargetDescription.h"

#include <string_view>

namespace plim::targets {

/// Removes all devices but the first from `target` that are not in `list`, names with commas between them such as
/// "cuda1,vulkan0", and the memories that are theirs by
/// name, or that nobody reaches without them. Those that stay keep their names. An empty list
/// leaves none. NotFound, behind the same work, for names that no device has.
Status keepVisibleDevices(std::string_view list, TargetDescription &target);

/// Does the environment variable PLIMSOLL_VISIBLE_DEVICES, such a list, leave the device out? Without it all are visible.
bool isHidden(std::string_view device);

/// What that variable leaves of `target`.
Status keepVisibleDevices(TargetDescription &target);

} // namespace plim::targets
