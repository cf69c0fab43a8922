// Names for perf: a linker plugin that appends the address, size and name of each linked function
// to /tmp/perf-PID.map, the file in which perf looks for the symbols of generated code.
#pragma once

#include "llvm/ExecutionEngine/Orc/LinkGraphLinkingLayer.h"

#include <memory>

namespace plim::jit {

/// For one session; opens the file for appending. Lines are written behind the fixups of each link,
/// by whichever thread links, one graph at a time, and stay when code is removed. If the file
/// cannot be opened it does nothing.
std::shared_ptr<llvm::orc::LinkGraphLinkingLayer::Plugin> makePerfMapPlugin();

} // namespace plim::jit
