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

namespace {

/// Rounds to nearest, ties to even. Own code: compilers' libraries before GCC 13 have no such function.
__bf16 bfloatFromFloat(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x00400000 // a quiet NaN
                                                      : bits + 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<__bf16>(static_cast<uint16_t>(rounded >> 16));
}

/// Once only: an inexact float in between has its last bit set, which is neither a tie nor lost.
__bf16 bfloatFromDouble(double value) {
  auto narrow = static_cast<float>(value);
  auto bits = std::bit_cast<uint32_t>(narrow);
  auto exact = static_cast<double>(narrow);
  if (exact != value && value == value && (bits & 1) == 0)
    bits = std::abs(exact) > std::abs(value) ? bits - 1 : bits | 1;
  return bfloatFromFloat(std::bit_cast<float>(bits));
}

} // namespace
#endif

namespace plim::jit {

namespace {

/// Scalar functions; each exists for double and, with an f behind, for float.
constexpr std::array<std::string_view, 36> scalarFunctions = {
    "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",  "ceil",
    "cos",   "cosh",  "erf",  "erfc",  "exp",  "exp10", "exp2",  "expm1", "fabs",
    "floor", "fma",   "fmax", "fmin",  "fmod", "ldexp", "log",   "log10", "log1p",
    "log2",  "pow",   "rint", "round", "sin",  "sinh",  "sqrt",  "tan",   "tanh"};
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
    return reinterpret_cast<void *>(&bfloatFromFloat);
  if (name == "__truncdfbf2")
    return reinterpret_cast<void *>(&bfloatFromDouble);
#endif
  if (!isScalarMath(name))
    return nullptr;
  static void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, terminated.c_str()) : nullptr;
}

} // namespace plim::jit
