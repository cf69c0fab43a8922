#include "capi/Border.h"

namespace plim::capi {

Status readStrings(const char *const *strings, size_t count, const char *name,
                   std::vector<std::string> &out) {
  PLIM_RETURN_IF_ERROR(checkArray(strings, count, name));
  for (size_t i = 0; i < count; ++i) {
    if (!strings[i])
      return invalidArgumentError(std::string(name) + "[" + std::to_string(i) + "] is null");
    out.emplace_back(strings[i]);
  }
  return okStatus();
}

Status checkStruct(const void *given, size_t known, size_t first, const char *name) {
  // No struct will ever be that large: a size beyond is no size, and what lies there is not ours to read.
  constexpr size_t largest = 4096;
  uint32_t size;
  std::memcpy(&size, given, sizeof(size));
  if (size < first || size > largest)
    return invalidArgumentError(std::string(name) + " has struct_size " + std::to_string(size) +
                                ", expected " + std::to_string(known));
  const auto *bytes = static_cast<const unsigned char *>(given);
  for (size_t i = known; i < size; ++i)
    if (bytes[i] != 0)
      return invalidArgumentError(std::string(name) +
                                  " has fields that this version of the library does not know");
  return okStatus();
}

} // namespace plim::capi
