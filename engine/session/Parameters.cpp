#include "engine/session/Parameters.h"

#include "engine/io/Npy.h"
#include "engine/io/Safetensors.h"

namespace plim {

StatusOr<Parameters> loadParameters(const std::string &path, const Logger &log) {
  PLIM_ASSIGN_OR_RETURN(io::SafetensorsFile file, io::SafetensorsFile::open(path));
  Parameters parameters;
  for (const auto &[name, entry] : file.entries()) {
    PLIM_ASSIGN_OR_RETURN(parameters[name], file.tensor(name, log));
  }
  return parameters;
}

StatusOr<runtime::Buffer> loadParameter(const std::string &path, const Logger &log) {
  return io::mapNpy(path, log);
}

} // namespace plim
