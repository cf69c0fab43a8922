#include "capi/Pools.h"

#include "capi/Border.h"

namespace plim::capi {

namespace {

Status checkMemory(const plim_pool &pool) {
  const std::string what = std::string("the memory of pool '") + pool.name + "' ";
  const auto address = reinterpret_cast<uintptr_t>(pool.memory);
  if (!pool.memory)
    return invalidArgumentError(what + "is null");
  if (address % PLIM_BUFFER_ALIGNMENT != 0)
    return invalidArgumentError(what + "is not aligned to " +
                                std::to_string(PLIM_BUFFER_ALIGNMENT) + " bytes");
  if (address + pool.bytes < address)
    return invalidArgumentError(what + "reaches beyond the address space");
  return okStatus();
}

} // namespace

Status readPools(const plim_pool *pools, size_t count, Pools &out) {
  PLIM_RETURN_IF_ERROR(checkArray(pools, count, "pools"));
  for (size_t i = 0; i < count; ++i) {
    PLIM_RETURN_IF_ERROR(checkPointer(pools[i].name, "the name of a pool"));
    PLIM_RETURN_IF_ERROR(checkMemory(pools[i]));
    if (!out.try_emplace(pools[i].name, HostMemory{pools[i].memory, pools[i].bytes}).second)
      return invalidArgumentError(std::string("pool '") + pools[i].name + "' is given twice");
  }
  return okStatus();
}

} // namespace plim::capi
