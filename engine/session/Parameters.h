// Parameters: constants that a module only names, and that get their values when it is loaded.
//
// Values are buffers: memory of the host's, or of a file that is mapped. Nothing is copied, so neither may
// be written while a module lives that has them; a file must not be truncated either, while to replace
// or remove it does not matter.
#pragma once

#include "engine/runtime/Buffer.h"
#include "support/Log.h"
#include "support/Status.h"

#include <map>
#include <string>

namespace plim {

/// By name. A buffer is shared by all modules it is given to, and with its other owners.
using Parameters = std::map<std::string, runtime::Buffer>;

/// All tensors of a `.safetensors` file, by their names. The file stays mapped, read-only, until the last
/// of them is gone. A tensor that the file does not align to its elements is copied, and `log` says so.
/// NotFound, PermissionDenied, InvalidArgument for a malformed file, Unimplemented for an element type
/// that the engine does not have; messages begin with the path and name the tensor.
StatusOr<Parameters> loadParameters(const std::string &path, const Logger &log = {});

/// The array of a `.npy` file, for one parameter; the same otherwise. Arrays in Fortran order are copied.
StatusOr<runtime::Buffer> loadParameter(const std::string &path, const Logger &log = {});

} // namespace plim
