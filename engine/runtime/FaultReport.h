// FaultReport: which buffer a fault has to do with, in words.
//
// Pure but for a look at the guarded memory; any thread.
#pragma once

#include "engine/runtime/FaultGuard.h"
#include "engine/runtime/GuardedMemory.h"

#include <cstddef>
#include <functional>
#include <string>

namespace plim::runtime {

/// "writes to binding #1, which is only read there", "accesses the byte 4 behind the end of binding #0":
/// the one whose memory is nearest to the fault among `count` buffers that begin at `bufferAt`; or a
/// buffer that is none of them. Where a buffer has no guards only its begin is known. `role` names one:
/// "binding".
std::string describeFault(const Fault &fault, const GuardedMemory &memory, const std::string &role,
                          size_t count, const std::function<const void *(size_t)> &bufferAt);

/// "writes byte 4 before the begin of binding #1, which has 20 bytes", for `what` = "binding #1".
std::string describeDamage(const GuardedMemory::Damage &damage, const std::string &what);

} // namespace plim::runtime
