#include "targets/Calibration.h"

#include "support/FileSizeSignal.h"
#include "support/Json.h"
#include "targets/internal/File.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace plim::targets {

namespace fs = std::filesystem;

std::string calibrationPath() {
  constexpr const char *name = "/plimsoll/calibration.json";
  if (const char *base = std::getenv("XDG_CONFIG_HOME"); base && *base)
    return std::string(base) + name;
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.config" + name;
  return "";
}

StatusOr<std::optional<Calibration>> readCalibration(const std::string &path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored))
    return std::optional<Calibration>();
  PLIM_ASSIGN_OR_RETURN(std::string text, internal::readFile(path));
  StatusOr<Json> json = Json::parse(text);
  if (!json.ok())
    return json.status().withContext(path);
  auto malformed = [&](const std::string &what) {
    return invalidArgumentError(path + ": " + what);
  };
  const Json::Object *members = json->object();
  if (!members)
    return malformed("must be an object");
  Calibration calibration;
  for (const auto &[key, value] : *members) {
    if (key == "machine" && value.string())
      calibration.machine = *value.string();
    else if (key == "max_stack_alloca_bytes" && value.integer() && *value.integer() >= 0)
      calibration.maxStackAllocaBytes = *value.integer();
    else
      return malformed("unknown or malformed '" + key + "'");
  }
  if (members->size() != 2)
    return malformed("must have 'machine' and 'max_stack_alloca_bytes'");
  return std::optional(std::move(calibration));
}

Status writeCalibration(const std::string &path, const Calibration &calibration) {
  const Json json = Json::Object{{"machine", calibration.machine},
                                 {"max_stack_alloca_bytes", calibration.maxStackAllocaBytes}};
  const WithoutFileSizeSignal shield;
  // A reader sees the old file or the new one.
  std::string draft = path + "." + std::to_string(getpid());
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (!error) {
    std::ofstream file(draft);
    file << json.text() << "\n";
    if (!file.flush())
      error = std::make_error_code(std::errc::io_error);
  }
  if (!error)
    fs::rename(draft, path, error);
  if (!error)
    return okStatus();
  std::error_code ignored;
  fs::remove(draft, ignored);
  return unavailableError("cannot write '" + path + "': " + error.message());
}

void applyCalibration(const Calibration &calibration, DeviceDescription &host) {
  if (calibration.machine == host.description)
    host.maxStackAllocaBytes = std::min(calibration.maxStackAllocaBytes, host.stackBudgetBytes);
}

} // namespace plim::targets
