#include "tools/io/Random.h"

#include "tools/io/SmallFloat.h"

#include <cmath>

namespace plim::tools {
namespace {

using runtime::ElementType;

class SplitMix64 {
public:
  explicit SplitMix64(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t word = state += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

private:
  uint64_t state;
};

/// A multiple of 2^-bits in [-1, 1).
double symmetric(uint64_t word, int bits) {
  return std::ldexp(static_cast<double>(word >> (63 - bits)), -bits) - 1;
}

template <typename T, typename Make> void fill(uint64_t seed, int64_t count, void *out, Make make) {
  SplitMix64 generator(seed);
  auto *elements = static_cast<T *>(out);
  for (int64_t i = 0; i < count; ++i)
    elements[i] = static_cast<T>(make(generator.next()));
}

} // namespace

void fillRandom(ElementType type, uint64_t seed, int64_t count, void *out) {
  auto small = [](uint64_t word) { return static_cast<int>(word >> 60) - 8; };
  switch (type) {
  case ElementType::I1:
    return fill<uint8_t>(seed, count, out, [](uint64_t word) { return word >> 63; });
  case ElementType::I2:
    return fill<int8_t>(seed, count, out,
                        [](uint64_t word) { return static_cast<int>(word >> 62) - 2; });
  case ElementType::I4:
  case ElementType::I8:
    return fill<int8_t>(seed, count, out, small);
  case ElementType::I16:
    return fill<int16_t>(seed, count, out, small);
  case ElementType::I32:
    return fill<int32_t>(seed, count, out, small);
  case ElementType::I64:
    return fill<int64_t>(seed, count, out, small);
  case ElementType::Index:
    return fill<int64_t>(seed, count, out, [](uint64_t word) { return word >> 61; });
  case ElementType::F8E4M3FN:
    return fill<uint8_t>(seed, count, out, [type](uint64_t word) {
      return smallFloatFromDouble(type, symmetric(word, 3));
    });
  case ElementType::F8E5M2:
    return fill<uint8_t>(seed, count, out, [type](uint64_t word) {
      return smallFloatFromDouble(type, symmetric(word, 2));
    });
  case ElementType::F16:
    return fill<uint16_t>(seed, count, out, [type](uint64_t word) {
      return smallFloatFromDouble(type, symmetric(word, 10));
    });
  case ElementType::BF16:
    return fill<uint16_t>(seed, count, out, [type](uint64_t word) {
      return smallFloatFromDouble(type, symmetric(word, 7));
    });
  case ElementType::ComplexF32:
    count *= 2;
    [[fallthrough]];
  case ElementType::F32:
    return fill<float>(seed, count, out, [](uint64_t word) { return symmetric(word, 23); });
  case ElementType::ComplexF64:
    count *= 2;
    [[fallthrough]];
  case ElementType::F64:
    return fill<double>(seed, count, out, [](uint64_t word) { return symmetric(word, 52); });
  }
}

} // namespace plim::tools
