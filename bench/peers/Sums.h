// Sums: what comparisons of sums of products with peers share.
//
// Any thread.
#pragma once

#include "engine/runtime/Buffer.h"

#include <benchmark/benchmark.h>

namespace plim::bench {

/// A dense buffer of its own with random elements.
runtime::Buffer randomBuffer(runtime::ElementType type, std::vector<int64_t> extents,
                             uint64_t seed);

/// The element at an index of a dense buffer of one of the types that products have.
double read(const runtime::Buffer &buffer, int64_t index);

/// Ends the program unless an element of type `type` at `where` is the sum of `depth` products, rounded once at the end and on
/// the way in f32, or in f64. `magnitude`: the sum of the products' magnitudes.
void checkSum(const char *what, int64_t where, runtime::ElementType type, double have, double sum,
              double magnitude, int64_t depth);

/// The counter "best" of a contest: our speed by that of the fastest candidate that is neither "peak" nor "argument".
void countBest(benchmark::State &state);

} // namespace plim::bench
