#include "plimsoll/parameters.h"

#include "capi/Border.h"
#include "capi/Objects.h"

#include <iterator>

using namespace plim;
using namespace plim::capi;
using runtime::Buffer;

extern "C" {

plim_status *plim_parameters_create(plim_parameters **out_parameters) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_parameters, "out_parameters"));
    *out_parameters = makeHandle<plim_parameters>(nullptr);
    return okStatus();
  });
}

plim_status *plim_parameters_set(plim_parameters *parameters, const char *name,
                                 plim_buffer *buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(parameters));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkHandle(buffer));
    BorrowedBuffer value(buffer);
    parameters->byName[name] = *value;
    return okStatus();
  });
}

plim_status *plim_parameters_load_safetensors(plim_parameters *parameters, const char *path) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(parameters));
    PLIM_RETURN_IF_ERROR(checkPointer(path, "path"));
    PLIM_ASSIGN_OR_RETURN(Parameters loaded, loadParameters(path));
    for (const auto &[name, buffer] : loaded)
      if (parameters->byName.contains(name))
        return alreadyExistsError(std::string(path) + ": there is a parameter '" + name +
                                  "' already");
    parameters->byName.merge(loaded);
    return okStatus();
  });
}

plim_status *plim_parameters_load_npy(plim_parameters *parameters, const char *name,
                                      const char *path) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(parameters));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(path, "path"));
    if (parameters->byName.contains(name))
      return alreadyExistsError(std::string("there is a parameter '") + name + "' already");
    PLIM_ASSIGN_OR_RETURN(Buffer buffer, loadParameter(path));
    parameters->byName[name] = std::move(buffer);
    return okStatus();
  });
}

size_t plim_parameters_count(const plim_parameters *parameters) {
  return isLive(parameters) ? parameters->byName.size() : 0;
}

const char *plim_parameters_name(const plim_parameters *parameters, size_t index) {
  if (index >= plim_parameters_count(parameters))
    return nullptr;
  return std::next(parameters->byName.begin(), static_cast<ptrdiff_t>(index))->first.c_str();
}

plim_status *plim_parameters_get(const plim_parameters *parameters, const char *name,
                                 plim_buffer **out_buffer) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(parameters));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_buffer, "out_buffer"));
    auto found = parameters->byName.find(name);
    if (found == parameters->byName.end())
      return notFoundError(std::string("no parameter '") + name + "'");
    *out_buffer = toHandle(found->second);
    return okStatus();
  });
}

void plim_parameters_retain(plim_parameters *parameters) { retain(parameters); }
void plim_parameters_release(plim_parameters *parameters) { release(parameters); }

} // extern "C"
