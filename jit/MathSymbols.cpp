#include "jit/MathSymbols.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#if defined(__x86_64__)
// Conversions of half precision that LLVM calls where the processor has none.
extern "C" {
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
}
#endif

namespace plim::jit {

namespace {

/// Scalar functions; each exists for double and, with an f behind, for float.
constexpr std::array<std::string_view, 36> scalarFunctions = {
    "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",  "ceil",
    "cos",   "cosh",  "erf",  "erfc",  "exp",  "exp10", "exp2",  "expm1", "fabs",
    "floor", "fma",   "fmax", "fmin",  "fmod", "ldexp", "log",   "log10", "log1p",
    "log2",  "pow",   "rint", "round", "sin",  "sinh",  "sqrt",  "tan",   "tanh"};
#if defined(__x86_64__)
// Conversions to bf16 where the processor has none: GCC 12, of Debian 12, does not have them.

/// To the nearest, ties to even; NaN becomes a quiet one with the same sign.
__bf16 truncateToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bits = std::isnan(value) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<__bf16>(static_cast<uint16_t>(bits >> 16));
}

/// Rounded once: what is lost on the way through f32 is kept in its last bit.
__bf16 truncateToBf16(double value) {
  float narrow = static_cast<float>(value);
  if (std::isfinite(narrow) && static_cast<double>(narrow) != value) {
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    // One step towards zero where it was rounded away from it, then an odd last bit.
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(value))
      --bits;
    narrow = std::bit_cast<float>(bits | 1);
  }
  return truncateToBf16(narrow);
}
#endif

constexpr std::array<std::string_view, 4> otherFunctions = {"roundeven", "trunc", "nearbyint",
                                                            "sincos"};

} // namespace

bool isScalarMath(std::string_view name) {
  auto has = [&](std::string_view candidate) {
    return std::find(scalarFunctions.begin(), scalarFunctions.end(), candidate) !=
               scalarFunctions.end() ||
           std::find(otherFunctions.begin(), otherFunctions.end(), candidate) !=
               otherFunctions.end();
  };
  return has(name) || (name.ends_with('f') && has(name.substr(0, name.size() - 1)));
}

void *mathSymbol(std::string_view name) {
  std::string terminated(name);
  if (name.starts_with("_ZGV")) {
    static void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, terminated.c_str()) : nullptr;
  }
  if (name == "memcpy")
    return reinterpret_cast<void *>(&std::memcpy);
  if (name == "memmove")
    return reinterpret_cast<void *>(&std::memmove);
  if (name == "memset")
    return reinterpret_cast<void *>(&std::memset);
#if defined(__x86_64__)
  if (name == "__extendhfsf2" || name == "__gnu_h2f_ieee")
    return reinterpret_cast<void *>(&__extendhfsf2);
  if (name == "__truncsfhf2" || name == "__gnu_f2h_ieee")
    return reinterpret_cast<void *>(&__truncsfhf2);
  if (name == "__truncdfhf2")
    return reinterpret_cast<void *>(&__truncdfhf2);
  if (name == "__truncsfbf2")
    return reinterpret_cast<void *>(static_cast<__bf16 (*)(float)>(&truncateToBf16));
  if (name == "__truncdfbf2")
    return reinterpret_cast<void *>(static_cast<__bf16 (*)(double)>(&truncateToBf16));
#endif
  if (!isScalarMath(name))
    return nullptr;
  static void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, terminated.c_str()) : nullptr;
}

} // namespace plim::jit
