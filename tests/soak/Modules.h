// The modules of the soak test, and random calls of them with what must come back.
//
// Elements are small integers, so that sums of products are exact in any order and plain loops say what
// the results are.
#pragma once

#include "engine/runtime/Value.h"
#include "support/Status.h"

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace plim::soak {

using Random = std::mt19937_64;

/// In [low, high].
int64_t pick(Random &random, int64_t low, int64_t high);

enum ModuleIndex : size_t { Vectors, Products, Kernels, States, Pooled, Constants };
constexpr size_t moduleCount = 6;

/// Of a module, by index. Pooled takes its temporaries from the pools "sram" and "dram".
const std::string &sourceOf(size_t module);
/// What the target must say of those pools, as an override.
extern const char *const poolMemories;
constexpr size_t poolBytes = 64 * 64 * 4;

/// f32 elements, or zeros.
runtime::Buffer makeBuffer(std::span<const int64_t> shape, std::span<const float> values = {});
runtime::Scalar makeIndex(int64_t value);

struct Call {
  size_t module;
  const char *function;
  std::vector<runtime::Value> arguments;
  StatusCode expected = StatusCode::Ok;
  /// Are these the results? Also looks at the arguments that the call writes.
  std::function<bool(std::span<const runtime::Value> results)> check;
  /// The one result, where the caller may lend its memory; otherwise none.
  std::vector<std::vector<int64_t>> outputs = {};
};

/// Any of the functions that use no variable.
Call randomCall(Random &random);

/// Vectors: x times turns + 1, each turn a dispatch.
Call turns(int64_t count, int64_t turns, float x);

/// Are these the elements of an f32 tensor?
bool equal(const runtime::Value &value, std::span<const float> expected);

} // namespace plim::soak
