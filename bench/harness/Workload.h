// Engines, inputs and checked functions for the benchmark programs.
//
// Benchmarks have no use for an error but to say it: whatever fails ends the program with a message.
// Any thread.
#pragma once

#include "bench/harness/Contest.h"
#include "engine/session/Engine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plim::bench {

/// Prints the message to standard error and ends the program.
[[noreturn]] void fail(std::string_view message);

template <typename T> T orFail(StatusOr<T> value) {
  if (!value.ok())
    fail(value.status().message());
  return std::move(*value);
}
inline void orFail(const Status &status) {
  if (!status.ok())
    fail(status.message());
}

/// `threads` as in EngineOptions: 0 for all.
std::shared_ptr<Engine> makeEngine(int threads, std::string cacheFolder = "");

/// f32 elements in [-1, 1), drawn anew in every run of the program; the first call prints the seed.
runtime::Buffer randomTensor(std::vector<int64_t> shape);
/// Zeroes: every page has been touched.
runtime::Buffer zeroTensor(std::vector<int64_t> shape);

float *elements(const runtime::Buffer &buffer);

struct CheckedFunction {
  std::shared_ptr<Module> module;
  Function function;
  /// What the oracle returns for the arguments: the elements of result 0.
  std::vector<float> expected;
};

/// Loads the function and the oracle of it, runs both, and fails if an element of an f32 result
/// differs by more than `tolerance` * (1 + its magnitude).
CheckedFunction loadChecked(Engine &engine, const std::string &source, const std::string &name,
                            std::span<const runtime::Value> arguments, float tolerance);

/// The same comparison for a competitor's result.
void checkClose(std::string_view what, const float *have, std::span<const float> expected,
                float tolerance);

/// A module whose @main makes `steps` times two dispatches, each of 16 floats, each needing all of the
/// one before: the sum of a vector, then the vector less its mean. They cannot share a loop.
std::string dispatchChain(int64_t steps);

/// Calls job(begin, end) over [0, count) on `threads` threads, the caller included, in equal parts.
void parallelRanges(int threads, int64_t count,
                    const std::function<void(int64_t begin, int64_t end)> &job);

/// A candidate of the contest that multiplies and adds in registers on `threads` threads: the ceiling of products of f32.
void addPeak(Contest &contest, int threads);

} // namespace plim::bench
