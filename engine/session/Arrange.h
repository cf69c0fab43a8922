// Constants in another order, made behind the link without compiled code.
#pragma once

#include "jit/Artifact.h"
#include "jit/Compiler.h"
#include "jit/Session.h"

#include <span>

namespace plim::session {

/// Writes all data of the artifact that has an arrangement, out of constants of the artifact and parameters that are bound,
/// into the memory of the module, which is zero. Several pieces at once, by `parallelFor`. Only for data that
/// deserialize() would take.
void arrange(const jit::Artifact &artifact, std::span<const jit::DataBinding> bindings,
             const jit::LinkedModule &module, const jit::ParallelFor &parallelFor);

} // namespace plim::session
