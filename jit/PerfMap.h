// Names for perf: a linker plugin that appends the address, size and name of each linked function to
// /tmp/perf-PID.map, the file in which perf looks for the symbols of generated code.
#pragma once

#include "llvm/ExecutionEngine/Orc/LinkGraphLinkingLayer.h"

#include <memory>

namespace plim::jit {

std::shared_ptr<llvm::orc::LinkGraphLinkingLayer::Plugin> makePerfMapPlugin();

} // namespace plim::jit
