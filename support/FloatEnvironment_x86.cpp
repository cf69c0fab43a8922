#include "support/FloatEnvironment.h"

#include <xmmintrin.h>

namespace plim {

// MXCSR alone: generated code uses no x87 instructions, and saving the x87 state costs far more.
static constexpr uint32_t defaultMxcsr = 0x1f80;

FloatEnvironment::FloatEnvironment() : controlWord(_mm_getcsr()) { _mm_setcsr(defaultMxcsr); }

FloatEnvironment::~FloatEnvironment() { _mm_setcsr(controlWord); }

} // namespace plim
