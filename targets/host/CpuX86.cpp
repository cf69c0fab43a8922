#include "targets/host/Cpu.h"
#include "targets/host/Host.h"

#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace plim::targets::host {
namespace {

// From the kernel's ABI, Documentation/arch/x86/xstate.rst; glibc 2.36 has no header for them.
constexpr int archGetXcompSupp = 0x1021, archReqXcompPerm = 0x1023;
constexpr int xfeatureTileData = 18;

} // namespace

std::string baselineCpu() { return "x86-64"; }

std::string chooseTuneCpu(const FeatureMap &features) {
  auto has = [&](const char *name) { return hasFeature(features, name); };
  // One model for all that have AVX-512. By those of skylake-avx512, icelake-server, znver4 and znver5 LLVM 22 loads so far ahead
  // that accumulators, of which products have up to 28 in 32 registers, are moved about and spilled in each iteration: they take
  // up to twice as long, on AMD as on Intel. By this one none is (tests/unit/jit/RegisterTilesTest.cpp).
  if (has("avx512f"))
    return "sapphirerapids";
  // Only AMD and its licensees have SSE4a, and their schedulers resemble each other.
  if (has("sse4a") && has("avx2"))
    return has("vaes") ? "znver3" : "znver2";
  return has("avx2") ? "haswell" : "x86-64";
}

int64_t chooseVectorBits(const FeatureMap &features) {
  if (hasFeature(features, "avx512f"))
    return 512;
  return hasFeature(features, "avx") ? 256 : 128;
}

void dropUnsupportedState(FeatureMap &features) {
  uint64_t supported = 0;
  if (!hasFeature(features, "amx-tile") ||
      (syscall(SYS_arch_prctl, archGetXcompSupp, &supported) == 0 &&
       (supported >> xfeatureTileData & 1) != 0))
    return;
  for (auto &[name, enabled] : features)
    if (name.starts_with("amx-"))
      enabled = false;
}

} // namespace plim::targets::host

bool plim::targets::requestTiles() {
  return syscall(SYS_arch_prctl, host::archReqXcompPerm, host::xfeatureTileData) == 0;
}
