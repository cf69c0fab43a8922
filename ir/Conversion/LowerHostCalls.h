// LowerHostCalls: `plim.call` becomes a call of the runtime, with a view of each argument and result in the frame. A part of
// plim-lower-runtime.
#pragma once

#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Plim.h"

namespace plim::ir {

/// `op` calls `external`, a function of the host application or of one of its devices. Where it fails the function around the
/// call is left.
void lowerHostCall(CallOp op, ExternalOp external, RuntimeCalls &runtime, CallFrames &frames);

} // namespace plim::ir
