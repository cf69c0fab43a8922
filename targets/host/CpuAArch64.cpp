#include "targets/host/Cpu.h"

#include <sys/prctl.h>

namespace plim::targets::host {

std::string baselineCpu() { return "generic"; }

std::string chooseTuneCpu(const FeatureMap &features) {
  if (hasFeature(features, "sve2"))
    return "neoverse-v2";
  return hasFeature(features, "sve") ? "neoverse-v1" : "generic";
}

// The length of scalable registers is the one of this thread, which others inherit. Code would be wrong in a thread that set
// another (PR_SVE_SET_VL), but nothing does that to a thread of someone else.
int64_t chooseVectorBits(const FeatureMap &features) {
  int64_t bits = 0;
#ifdef PR_SVE_GET_VL
  if (const int length = prctl(PR_SVE_GET_VL); hasFeature(features, "sve") && length >= 0)
    bits = int64_t(length & PR_SVE_VL_LEN_MASK) * 8;
#endif
  return bits == 256 || bits == 512 || bits == 1024 || bits == 2048 ? bits : 128;
}

void requestOptionalState(FeatureMap &) {}

} // namespace plim::targets::host
