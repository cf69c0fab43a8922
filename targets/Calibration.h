// What only measuring tells of a machine, kept for the user between runs.
//
// `plimsoll targets --calibrate` measures and writes; targets/Resolve reads it for the names that mean
// this machine. A small JSON file:
//
//   {"machine": "Some Processor", "max_stack_alloca_bytes": 32768}
//
// Stateless; any thread. Two writers at once: one of them wins, whole.
#pragma once

#include "targets/TargetDescription.h"

#include <optional>

namespace plim::targets {

struct Calibration {
  /// DeviceDescription::description of the host it was measured on.
  std::string machine;
  /// Up to here a buffer on the stack is not slower than one in the workspace.
  int64_t maxStackAllocaBytes = 0;
};

/// $XDG_CONFIG_HOME/plimsoll/calibration.json, or the same in ~/.config; empty when neither variable
/// is set.
std::string calibrationPath();

/// Nothing if there is no such file. InvalidArgument, with the path, for a malformed one; DataLoss if
/// it cannot be read.
StatusOr<std::optional<Calibration>> readCalibration(const std::string &path);

/// Makes the folders that are missing. Unavailable, with the path, if that or the writing fails.
Status writeCalibration(const std::string &path, const Calibration &calibration);

/// Sets what was measured, if it was on this machine; nothing goes beyond the budget of the stack.
void applyCalibration(const Calibration &calibration, DeviceDescription &host);

} // namespace plim::targets
