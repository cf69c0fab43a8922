// Constants in another order, made behind the link without compiled code.
#pragma once

#include "jit/Artifact.h"
#include "jit/Compiler.h"

#include <span>

namespace plim::session {

/// Data with an arrangement: what it is made of, where that lies, and where it goes.
struct ArrangedData {
  const jit::DataSymbol *symbol = nullptr, *source = nullptr;
  const void *from = nullptr;
  void *to = nullptr; // zero before
};

/// Writes all of it, several pieces at once by `parallelFor`. Only for symbols that deserialize() would take.
void arrange(std::span<const ArrangedData> data, const jit::ParallelFor &parallelFor);

} // namespace plim::session
