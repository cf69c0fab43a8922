#include "targets/host/Cpu.h"

namespace plim::targets::host {

std::string baselineCpu() { return "generic"; }

std::string chooseTuneCpu(const FeatureMap &) { return "generic"; }

int64_t chooseVectorBits(const FeatureMap &) { return 128; }

void requestOptionalState(FeatureMap &) {}

} // namespace plim::targets::host
