#include "ir/Plim/ProductInstructions.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/DLTI/DLTI.h"

using namespace mlir;
using plim::targets::DeviceDescription;

using Host = std::shared_ptr<const DeviceDescription>;

/// Null without a target.
static Host hostOf(ModuleOp module) {
  if (!module || !module->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return nullptr;
  auto target = plim::targets::dlti::targetOf(module);
  return target ? Host(target, &target->devices.front()) : nullptr;
}

bool plim::ir::isAArch64(ModuleOp module) {
  // Of x86-64 this is no feature.
  const Host host = hostOf(module);
  return host && host->hasFeature("neon");
}

unsigned plim::ir::widthOfDotGroups(ModuleOp module, Type element) {
  const Host host = hostOf(module);
  if (!host)
    return 0;
  auto widest = [&](std::initializer_list<std::pair<bool, unsigned>> widths) {
    for (auto [isThere, width] : widths)
      if (isThere && (host->vectorBits == 0 || int64_t(width) <= host->vectorBits))
        return width;
    return 0U;
  };
  if (isAArch64(module))
    return widest({{element.isBF16() && host->hasFeature("bf16"), 128},
                   {element.isInteger(8) && host->hasFeature("i8mm"), 128}});
  const bool hasShort = host->hasFeature("avx512vl");
  if (element.isBF16()) {
    const bool isThere = host->hasFeature("avx512bf16");
    return widest({{isThere, 512}, {isThere && hasShort, 256}, {isThere && hasShort, 128}});
  }
  if (element.isInteger(8)) {
    const bool isThere = host->hasFeature("avx512vnni");
    const bool isShort = host->hasFeature("avxvnni") || (isThere && hasShort);
    return widest({{isThere, 512}, {isShort, 256}, {isShort, 128}});
  }
  return widest({{host->hasFeature("avx512bw"), 512},
                 {host->hasFeature("avx2"), 256},
                 {host->hasFeature("sse2"), 128}});
}

bool plim::ir::hasTileProducts(ModuleOp module, Type element) {
  const Host host = hostOf(module);
  if (!host || !host->hasFeature("amx-tile"))
    return false;
  return (element.isBF16() && host->hasFeature("amx-bf16")) ||
         (element.isInteger(8) && host->hasFeature("amx-int8"));
}
