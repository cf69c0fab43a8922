#include "targets/host/Cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace plim::targets::host {
namespace {

namespace fs = std::filesystem;

/// The first two words of a file; empty where there are none.
std::pair<std::string, std::string> readWords(const fs::path &path) {
  std::pair<std::string, std::string> words;
  std::ifstream(path) >> words.first >> words.second;
  return words;
}

/// 0 for anything but a positive number: "max", "-1", an absent file.
int64_t positive(const std::string &word) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  bool whole = error == std::errc() && end == word.data() + word.size();
  return whole ? std::max<int64_t>(0, value) : 0;
}

template <typename T> void tighten(T &limit, T candidate) {
  if (candidate > 0 && (limit == 0 || candidate < limit))
    limit = candidate;
}

void tightenCpus(CgroupLimits &limits, const std::string &quota, const std::string &period) {
  if (positive(quota) && positive(period))
    tighten(limits.cpus, static_cast<double>(positive(quota)) / positive(period));
}

void tightenMemory(CgroupLimits &limits, const std::string &bytes) {
  // Version 1 writes "no limit" as the largest number of whole pages.
  constexpr int64_t unlimited = int64_t{1} << 60;
  if (int64_t value = positive(bytes); value < unlimited)
    tighten(limits.memoryBytes, value);
}

/// Calls `visit` with the folder of `group` under `mount` and with those above it. Inside a
/// container the group's path may not exist below the mount; the folders that do then still count.
template <typename Visit>
void visitAncestors(const fs::path &mount, const std::string &group, Visit &&visit) {
  fs::path inside = (fs::path("/") / group).lexically_normal().relative_path();
  for (; !inside.empty(); inside = inside.parent_path())
    visit(mount / inside);
  visit(mount);
}

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    std::string_view one = controllers.substr(0, controllers.find(','));
    if (one == wanted)
      return true;
    controllers.remove_prefix(std::min(controllers.size(), one.size() + 1));
  }
  return false;
}

} // namespace

CgroupLimits readCgroupLimits(const fs::path &root) {
  CgroupLimits limits;
  fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  // "hierarchy:controllers:/path", with no controllers in version 2.
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      visitAncestors(mount, group, [&](const fs::path &folder) {
        auto [quota, period] = readWords(folder / "cpu.max");
        tightenCpus(limits, quota, period);
        tightenMemory(limits, readWords(folder / "memory.max").first);
      });
    }
    if (lists(controllers, "cpu")) {
      visitAncestors(mount / "cpu", group, [&](const fs::path &folder) {
        tightenCpus(limits, readWords(folder / "cpu.cfs_quota_us").first,
                    readWords(folder / "cpu.cfs_period_us").first);
      });
    }
    if (lists(controllers, "memory")) {
      visitAncestors(mount / "memory", group, [&](const fs::path &folder) {
        tightenMemory(limits, readWords(folder / "memory.limit_in_bytes").first);
      });
    }
  }
  return limits;
}

} // namespace plim::targets::host
