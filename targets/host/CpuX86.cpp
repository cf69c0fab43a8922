#include "targets/host/Cpu.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace plim::targets::host {
namespace {

// From the kernel's ABI, Documentation/arch/x86/xstate.rst; glibc 2.36 has no header for them.
constexpr int archReqXcompPerm = 0x1023;
constexpr int xfeatureTileData = 18;

bool requestTilePermission() {
  return syscall(SYS_arch_prctl, archReqXcompPerm, xfeatureTileData) == 0;
}

} // namespace

std::string baselineCpu() { return "x86-64"; }

std::string chooseTuneCpu(const FeatureMap &features) {
  auto has = [&](const char *name) { return hasFeature(features, name); };
  // Only AMD and its licensees have SSE4a, and their schedulers resemble each other. Not so with AVX-512: by the models of
  // znver4 and znver5 LLVM 22 loads so far ahead that accumulators of 26 of the 32 registers are moved about and spilled in
  // each iteration, and products take up to twice as long. By Intel's they do not.
  if (has("sse4a") && has("avx2") && !has("avx512f"))
    return has("vaes") ? "znver3" : "znver2";
  if (has("amx-tile"))
    return "sapphirerapids";
  if (has("avx512f"))
    return has("avx512vnni") ? "icelake-server" : "skylake-avx512";
  return has("avx2") ? "haswell" : "x86-64";
}

int64_t chooseVectorBits(const FeatureMap &features) {
  if (hasFeature(features, "avx512f"))
    return 512;
  return hasFeature(features, "avx") ? 256 : 128;
}

void requestOptionalState(FeatureMap &features) {
  // The kernel refuses where a thread's alternate signal stack could not hold the tiles, and tile
  // instructions then trap.
  if (!hasFeature(features, "amx-tile") || requestTilePermission())
    return;
  for (auto &[name, enabled] : features)
    if (name.starts_with("amx-"))
      enabled = false;
}

} // namespace plim::targets::host
