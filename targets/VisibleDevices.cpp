#include "targets/VisibleDevices.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace plim::targets {
namespace {

std::vector<std::string> namesIn(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    while (name.starts_with(' '))
      name.remove_prefix(1);
    while (name.ends_with(' '))
      name.remove_suffix(1);
    if (!name.empty())
      names.emplace_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

const char *visibleList() { return std::getenv("PLIMSOLL_VISIBLE_DEVICES"); }

} // namespace

bool isHidden(std::string_view device) {
  const char *list = visibleList();
  if (!list)
    return false;
  const std::vector<std::string> names = namesIn(list);
  return std::ranges::find(names, device) == names.end();
}

Status keepVisibleDevices(TargetDescription &target) {
  const char *list = visibleList();
  return list ? keepVisibleDevices(list, target) : okStatus();
}

Status keepVisibleDevices(std::string_view list, TargetDescription &target) {
  const std::vector<std::string> names = namesIn(list);
  auto isNamed = [&](const std::string &name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::string unknown;
  for (const std::string &name : names)
    if (!target.findDevice(name))
      unknown += (unknown.empty() ? "'" : ", '") + name + "'";
  const std::string host = target.devices[0].name;
  std::vector<std::string> hidden;
  for (const DeviceDescription &device : target.devices)
    if (device.name != host && !isNamed(device.name))
      hidden.push_back(device.name);
  std::erase_if(target.devices, [&](const DeviceDescription &device) {
    return std::ranges::find(hidden, device.name) != hidden.end();
  });
  std::erase_if(target.memories, [&](MemoryDescription &memory) {
    if (std::ranges::any_of(hidden, [&](const std::string &device) {
          return memory.name.starts_with(device + ".");
        }))
      return true;
    const bool wasReached = !memory.accessibleBy.empty();
    std::erase_if(memory.accessibleBy,
                  [&](const std::string &device) { return !target.findDevice(device); });
    return wasReached && memory.accessibleBy.empty();
  });
  return unknown.empty() ? okStatus() : notFoundError("this machine has no " + unknown);
}

} // namespace plim::targets
