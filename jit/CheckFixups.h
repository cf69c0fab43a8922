// What JITLink takes on trust of the relocations in an object: one that is damaged, or forged, ended the process.
#pragma once

#include "llvm/ExecutionEngine/Orc/LinkGraphLinkingLayer.h"

#include <memory>

namespace plim::jit {

/// Refuses an object with a relocation that names no symbol: of the first, which is none, JITLink reports an error, and reads what
/// is not there for its text.
llvm::Error checkRelocations(llvm::StringRef object);

/// Refuses graphs in which a relocation is not inside of what it changes. JITLink writes to wherever they say.
std::shared_ptr<llvm::orc::LinkGraphLinkingLayer::Plugin> makeCheckFixupsPlugin();

} // namespace plim::jit
