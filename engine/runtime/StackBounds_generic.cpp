#include "engine/runtime/StackBounds.h"

namespace plim::runtime {

thread_local constinit StackBounds StackBounds::ofThread;

// Nothing is known of any stack: calls that need much run on threads of the engine.
void StackBounds::read() { known = true; }

} // namespace plim::runtime
