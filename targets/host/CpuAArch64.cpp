#include "targets/host/Cpu.h"

namespace plim::targets::host {

std::string baselineCpu() { return "generic"; }

std::string chooseTuneCpu(const FeatureMap &features) {
  if (hasFeature(features, "sve2"))
    return "neoverse-v2";
  return hasFeature(features, "sve") ? "neoverse-v1" : "generic";
}

// Scalable vectors are wider on some machines, but code for them need not know their width.
int64_t chooseVectorBits(const FeatureMap &) { return 128; }

void requestOptionalState(FeatureMap &) {}

} // namespace plim::targets::host
