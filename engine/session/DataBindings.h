// What the data of an artifact is bound to when it is linked. Parameters are bound to buffers of
// the host's, constants to pools or to copies between guards. Data that is arranged without code is
// bound to its source.
//
// Nothing here is kept. Any thread.
#pragma once

#include "engine/session/Arrange.h"
#include "engine/session/State.h"
#include "jit/Artifact.h"
#include "jit/Session.h"
#include "support/Status.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace plim::session {

/// What the module's parameters are bound to. Parameters that nothing reads are left out. Where
/// code reads one that is not aligned it is bound to a copy, which then also replaces it in
/// `parameters`. InvalidArgument for a name that the module does not have, or a value that does not
/// fit; FailedPrecondition for a parameter that is missing. An unknown name is told of first:
/// mostly it is the misspelt name of one that is missing.
StatusOr<std::vector<jit::DataBinding>> bindParameters(const jit::Artifact &artifact,
                                                       Parameters &parameters);

/// Constants that live in pools, by the symbol, and where each will be.
using PinnedConstants = std::vector<std::pair<const jit::DataSymbol *, std::byte *>>;

/// Gives them the ends of the pools, which become as much smaller. `taken` receives those ends.
/// FailedPrecondition without a pool, ResourceExhausted for one that is too small.
StatusOr<PinnedConstants> reserveConstants(const jit::Artifact &artifact, Pools &pools,
                                           std::vector<HostMemory> &taken);

/// Binds constants and parameters, but for those in pools, to copies between guards, which `data`
/// comes to own. Nothing can write to them. ResourceExhausted.
Status guardData(const jit::Artifact &artifact, std::vector<jit::DataBinding> &bindings,
                 GuardedData &data);

/// What there is to arrange in the memory of a module. Borrows the artifact and what is bound.
std::vector<ArrangedData> arrangedData(const jit::Artifact &artifact,
                                       const std::vector<jit::DataBinding> &bindings,
                                       const jit::LinkedModule &module);

/// Arranges in parts, after each of which the pages of files that it read go: at no time is all of
/// a file in memory that was arranged.
void arrangeInParts(std::span<const ArrangedData> data, const Parameters &parameters,
                    const jit::ParallelFor &parallelFor);

} // namespace plim::session
