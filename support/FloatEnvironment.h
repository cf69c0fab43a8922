// FloatEnvironment: the floating-point mode that generated code is made and run under, whatever the
// host set.
//
// A host may flush denormals, change the rounding or unmask traps on its own threads, and its tasks
// may run on others' threads. Without this class a result would depend on which thread ran a piece.
// A constant that is computed at load, and handed on by a cache, would depend on the thread that
// loaded. Processor-specific: FloatEnvironment_x86.cpp, FloatEnvironment_generic.cpp.
#pragma once

#include <cfenv>
#include <cstdint>

namespace plim {

/// Saves the calling thread's environment and sets the default one (round to nearest, denormals
/// kept, all exceptions masked); the destructor, on the same thread, puts the saved one back,
/// sticky flags included.
class FloatEnvironment {
public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

private:
  union {
    uint32_t controlWord;
    std::fenv_t environment;
  };
};

} // namespace plim
