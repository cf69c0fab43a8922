#include "engine/runtime/ByteSize.h"

#include "support/CheckedMath.h"

#include <string>

namespace plim::runtime {

StatusOr<int64_t> byteSizeOf(std::span<const int64_t> sizes, int64_t elementBytes) {
  if (elementBytes < 0)
    return invalidArgumentError("element size of " + std::to_string(elementBytes) + " bytes");
  int64_t product = elementBytes;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t extent = sizes[i];
    if (extent < 0)
      return invalidArgumentError("extent " + std::to_string(extent) + " of dimension " +
                                  std::to_string(i) + " is negative");
    if (extent == 0) {
      empty = true;
      continue;
    }
    std::optional<int64_t> larger = checkedMul(product, extent);
    if (!larger)
      return invalidArgumentError("size in bytes overflows 64 bits at dimension " +
                                  std::to_string(i));
    product = *larger;
  }
  return empty ? int64_t{0} : product;
}

} // namespace plim::runtime
