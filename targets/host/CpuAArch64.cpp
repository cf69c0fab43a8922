#include "targets/host/Cpu.h"
#include "targets/host/Host.h"

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
#ifdef PR_SVE_GET_VL
  const int length = prctl(PR_SVE_GET_VL); // bytes, and flags
  if (hasFeature(features, "sve") && length >= 0 && (length & PR_SVE_VL_LEN_MASK) == 32)
    return 256; // DeviceDescription::scalableVectorBits() says why not more
#endif
  return 128;
}

void dropUnsupportedState(FeatureMap &) {}

} // namespace plim::targets::host

bool plim::targets::requestTiles() { return false; }
