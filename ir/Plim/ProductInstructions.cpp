#include "ir/Plim/ProductInstructions.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/DLTI/DLTI.h"

using namespace mlir;
using plim::targets::DeviceDescription;

static std::optional<DeviceDescription> hostOf(ModuleOp module) {
  if (!module || !module->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return std::nullopt;
  FailureOr<plim::targets::TargetDescription> target = plim::targets::dlti::fromDlti(module);
  return failed(target) ? std::nullopt : std::optional(target->devices.front());
}

unsigned plim::ir::widthOfDotPairs(ModuleOp module) {
  std::optional<DeviceDescription> host = hostOf(module);
  if (!host)
    return 0;
  for (auto [feature, width] : {std::pair("avx512bw", 512U), {"avx2", 256U}, {"sse2", 128U}})
    if (host->hasFeature(feature) && (host->vectorBits == 0 || int64_t(width) <= host->vectorBits))
      return width;
  return 0;
}

bool plim::ir::hasTileProducts(ModuleOp module, Type element) {
  std::optional<DeviceDescription> host = hostOf(module);
  if (!host || !host->hasFeature("amx-tile"))
    return false;
  return (element.isBF16() && host->hasFeature("amx-bf16")) ||
         (element.isInteger(8) && host->hasFeature("amx-int8"));
}
