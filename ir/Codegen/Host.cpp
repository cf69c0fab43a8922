#include "ir/Codegen/Host.h"

#include "targets/dlti/Dlti.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Of the last cache. A virtual machine with two cores may be told of all caches of its host, 508 MiB, of which it has its share:
/// what a core reaches of those that there are is hardly more than so much. Half of it is where writing past it begins to pay even
/// if the result is read again at once, measured where that was told.
constexpr int64_t mostBytesOfACore = int64_t(32) << 20;

} // namespace

int64_t Host::lanes(Type type) const {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? std::max<int64_t>(1, vectorBits / element.getIntOrFloatBitWidth())
                                : 1;
}

Host plim::ir::hostOf(Operation *op) {
  Host host;
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  if (!module || !module->hasAttr(targets::dlti::targetAttrName))
    return host;
  auto target = plim::targets::dlti::targetOf(module);
  if (!target)
    return host;
  const targets::DeviceDescription &device = target->devices.front();
  host.isAArch64 = llvm::Triple(device.triple).isAArch64();
  // A machine of which nothing is said is one of a test.
  if (device.vectorBits > 0 || !device.triple.empty())
    host.vectorBits = device.vectorBits;
  host.vectorRegisters = host.isAArch64 || device.hasFeature("avx512vl") ? 32 : 16;
  host.hasMasks = device.hasFeature("avx512bw") && device.hasFeature("avx512vl");
  host.hasVectorFunctions = device.vectorBits >= 512 && device.hasFeature("avx512f");
  host.cores = std::max<int64_t>(1, device.cores);
  for (const targets::CacheDescription &cache : device.caches) {
    if (cache.level == 2)
      host.secondLevelBytes = cache.bytes;
    host.lastLevelBytes =
        std::max(host.lastLevelBytes,
                 std::min(cache.bytes, mostBytesOfACore * std::max<int64_t>(1, cache.sharedBy)));
  }
  host.sumsIntegerProducts =
      host.isAArch64 || device.hasFeature("avx512vnni") || device.hasFeature("avxvnni");
  host.multipliesAndAdds = host.isAArch64 || device.hasFeature("fma");
  return host;
}
