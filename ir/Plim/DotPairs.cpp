#include "ir/Plim/DotPairs.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/DLTI/DLTI.h"

using namespace mlir;

unsigned plim::ir::widthOfDotPairs(ModuleOp module) {
  if (!module || !module->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return 0;
  FailureOr<plim::targets::TargetDescription> target = plim::targets::dlti::fromDlti(module);
  if (failed(target))
    return 0;
  const plim::targets::DeviceDescription &host = target->devices.front();
  for (auto [feature, width] : {std::pair("avx512bw", 512U), {"avx2", 256U}, {"sse2", 128U}})
    if (host.hasFeature(feature) && (host.vectorBits == 0 || int64_t(width) <= host.vectorBits))
      return width;
  return 0;
}
