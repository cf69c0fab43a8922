#include "plimsoll/pools.h"

#include "capi/Border.h"
#include "capi/Objects.h"

using namespace plim;
using namespace plim::capi;

extern "C" {

plim_status *plim_pools_create(plim_pools **out_pools) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkPointer(out_pools, "out_pools"));
    *out_pools = makeHandle<plim_pools>(nullptr);
    return okStatus();
  });
}

plim_status *plim_pools_set(plim_pools *pools, const char *name, void *memory, size_t bytes) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(pools));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(memory, "memory"));
    auto address = reinterpret_cast<uintptr_t>(memory);
    if (address % PLIM_BUFFER_ALIGNMENT != 0)
      return invalidArgumentError(std::string("the memory of pool '") + name +
                                  "' is not aligned to " + std::to_string(PLIM_BUFFER_ALIGNMENT) +
                                  " bytes");
    if (address + bytes < address)
      return invalidArgumentError(std::string("the memory of pool '") + name +
                                  "' reaches beyond the address space");
    pools->byName[name] = {memory, bytes};
    return okStatus();
  });
}

void plim_pools_retain(plim_pools *pools) { retain(pools); }
void plim_pools_release(plim_pools *pools) { release(pools); }

} // extern "C"
