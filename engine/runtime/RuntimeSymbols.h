// The runtime symbols: the whole list of what generated code may call by name.
//
// The linker of generated code gets exactly these addresses; nothing is looked up in the process.
// The functions themselves are declared in engine/abi/plim_abi.h and only pass on to CallContext
// and Executor. Any thread.
#pragma once

#include <span>

namespace plim::runtime {

struct RuntimeSymbol {
  const char *name;
  void *address;
};

/// Constant for the life of the process.
std::span<const RuntimeSymbol> runtimeSymbols();

} // namespace plim::runtime
