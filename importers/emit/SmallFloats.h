// Floats of 8 and 4 bits. Two of them, f8E4M3FN and f8E5M2, modules have too; the others are bytes there, and what
// computes with them goes by f32.
//
// After https://onnx.ai/onnx/technical/float8.html and float4.html.
#pragma once

#include "importers/emit/Builder.h"

#include <cstdint>

namespace plim::importers {

/// How a float that is none of a type's becomes one.
struct Rounding {
  enum class Way { Up, Down, Nearest };
  bool saturates = true; // what is too large becomes the largest; else infinite, or no number
  Way way =
      Way::Up; // of f8E8M0: to the next power of two. Others round to the nearest, ties to even
};

/// The element that has these bits, of f8E4M3FN or f8E5M2.
double fromFloat8(ElementType type, uint8_t bits);

/// `a` as a float of 8 or 4 bits.
Scalar toSmallFloat(Builder &e, const Scalar &a, ElementType type, const Rounding &rounding = {});
/// As f32, exactly.
Scalar fromSmallFloat(Builder &e, const Scalar &a);

} // namespace plim::importers
