#include "bench/peers/Sums.h"

#include "bench/harness/Workload.h"
#include "tools/io/Random.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace plim::bench {

using runtime::Buffer;
using runtime::ElementType;

Buffer randomBuffer(ElementType type, std::vector<int64_t> extents, uint64_t seed) {
  static const auto pool = std::make_shared<runtime::MemoryPool>();
  Buffer buffer = orFail(Buffer::allocate(pool, type, extents));
  tools::fillRandom(type, seed, buffer.elementCount(), buffer.mutableData());
  return buffer;
}

double read(const Buffer &buffer, int64_t index) {
  const auto *data = static_cast<const char *>(buffer.data());
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, data + index * int64_t(sizeof(T)), sizeof(T));
    return value;
  };
  switch (buffer.type()) {
  case ElementType::F32:
    return as(float());
  case ElementType::F64:
    return as(double());
  case ElementType::F16:
    return static_cast<double>(as(_Float16()));
  case ElementType::BF16:
    return static_cast<double>(std::bit_cast<float>(uint32_t(as(uint16_t())) << 16));
  case ElementType::I8:
    return as(int8_t());
  case ElementType::I32:
    return as(int32_t());
  default:
    fail("an element type that is not read here");
  }
}

namespace {

double epsilonOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 0x1p-52;
  case ElementType::F32:
    return 0x1p-23;
  case ElementType::F16:
    return 0x1p-10;
  case ElementType::BF16:
    return 0x1p-7;
  default:
    return 0;
  }
}

} // namespace

void checkSum(const char *what, int64_t where, ElementType type, double have, double sum,
              double magnitude, int64_t depth) {
  const double inner = type == ElementType::F64 ? 0x1p-52 : 0x1p-23;
  const double allowed =
      runtime::isFloat(type)
          ? epsilonOf(type) * std::fabs(sum) + inner * magnitude * std::sqrt(double(depth)) * 4
          : 0;
  if (!(std::fabs(have - sum) <= allowed))
    fail(std::string(what) + ": element " + std::to_string(where) + " is " + std::to_string(have) +
         ", it should be " + std::to_string(sum));
}

void countBest(benchmark::State &state) {
  double best = 0;
  for (const auto &[name, counter] : state.counters)
    if (name.starts_with("vs_") && name != "vs_peak" && name != "vs_argument")
      best = best == 0 ? counter.value : std::min(best, counter.value);
  if (best != 0)
    state.counters["best"] = best;
}

} // namespace plim::bench
