// A seed that a failing test prints, so that it can be run again: PLIM_TEST_SEED overrides it. And how much longer
// tests are that repeat themselves: PLIM_TEST_SCALE, which ./dev test --all sets.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

namespace plim::testing {

inline uint64_t testSeed() {
  static const uint64_t seed = [] {
    const char *chosen = std::getenv("PLIM_TEST_SEED");
    return chosen ? std::strtoull(chosen, nullptr, 0) : uint64_t{std::random_device{}()};
  }();
  return seed;
}

inline int testScale() {
  const char *chosen = std::getenv("PLIM_TEST_SCALE");
  const int scale = chosen ? std::atoi(chosen) : 1;
  return scale < 1 ? 1 : scale;
}

} // namespace plim::testing

#define PLIM_TRACE_SEED()                                                                          \
  SCOPED_TRACE(::testing::Message() << "PLIM_TEST_SEED=" << ::plim::testing::testSeed())
