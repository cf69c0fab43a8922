#include "targets/host/Cpu.h"
#include "targets/host/Host.h"

namespace plim::targets::host {

std::string baselineCpu() { return "generic"; }

std::string chooseTuneCpu(const FeatureMap &) { return "generic"; }

int64_t chooseVectorBits(const FeatureMap &) { return 128; }

void dropUnsupportedState(FeatureMap &) {}

} // namespace plim::targets::host

bool plim::targets::requestTiles() { return false; }
