// The generator behind `rnd:SEED`: the same elements on every machine and in every version.
//
// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014),
// started with the seed, one number a 64-bit word, one word an element, in row-major order:
//
//   f16, bf16, f32, f64   uniform over the multiples of 2^-p in [-1, 1), p = 10, 7, 23, 52
//   i8, i16, i32, i64     uniform in [-8, 8)
//   index                 uniform in [0, 8)
//   i1                    0 or 1
//
// all of them from the top bits of the word. Any thread.
#pragma once

#include "engine/runtime/ElementType.h"

#include <cstdint>

namespace plim::tools {

/// Fills `count` elements at `out`, aligned for their type.
void fillRandom(runtime::ElementType type, uint64_t seed, int64_t count, void *out);

} // namespace plim::tools
