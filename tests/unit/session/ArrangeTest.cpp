// Constants in another order, element by element beside the definition of an arrangement.
#include "engine/session/Arrange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace plim::session {
namespace {

using jit::Arrangement;
using jit::DataSymbol;

int64_t product(const std::vector<int64_t> &extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies());
}

/// A tensor of elements of so many bytes, and what is made of it.
struct Case {
  DataSymbol source, symbol;
  std::string from, to;

  Case(std::vector<int64_t> shape, int64_t elementBytes,
       std::vector<Arrangement::Dimension> dimensions, std::mt19937 &random) {
    source.type.shape = std::move(shape);
    source.bytes = product(source.type.shape) * elementBytes;
    symbol.bytes = elementBytes;
    for (const Arrangement::Dimension &each : dimensions)
      symbol.bytes *= each.extent;
    symbol.arrangement = Arrangement{"source", std::move(dimensions)};
    for (int64_t i = 0; i < source.bytes; ++i)
      from += static_cast<char>(random() | 1); // nowhere zero
    to.resize(static_cast<size_t>(symbol.bytes));
  }

  ArrangedData data() { return {&symbol, &source, from.data(), to.data()}; }

  std::string expected() const {
    const std::vector<int64_t> &shape = source.type.shape;
    const std::vector<Arrangement::Dimension> &dimensions = symbol.arrangement->dimensions;
    const auto bytes = static_cast<size_t>(source.bytes / product(shape));
    std::string result(to.size(), '\0');
    for (size_t element = 0; element < to.size() / bytes; ++element) {
      std::vector<int64_t> index(shape.size());
      auto rest = static_cast<int64_t>(element);
      for (size_t d = dimensions.size(); d-- > 0; rest /= dimensions[d].extent)
        index[dimensions[d].of] += rest % dimensions[d].extent * dimensions[d].step;
      int64_t place = 0;
      bool isThere = true;
      for (size_t d = 0; d < shape.size(); ++d) {
        isThere &= index[d] < shape[d];
        place = place * shape[d] + index[d];
      }
      if (isThere)
        result.replace(element * bytes, bytes, from, static_cast<size_t>(place) * bytes, bytes);
    }
    return result;
  }
};

void inReverse(size_t count, const std::function<void(size_t)> &job) {
  while (count-- > 0)
    job(count);
}

TEST(Arrange, AnyOrderOfAnySplitsWithZerosBehind) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto choose = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  const std::vector<int64_t> sizes = {1, 2, 3, 4, 8, 16};
  for (int number = 0; number < 3000; ++number) {
    std::vector<int64_t> shape(static_cast<size_t>(choose(0, 4)));
    std::vector<Arrangement::Dimension> dimensions;
    for (uint32_t d = 0; d < shape.size(); ++d) {
      shape[d] = choose(1, 9);
      int64_t left = shape[d] + (choose(0, 2) == 0 ? choose(0, 7) : 0), step = 1;
      while (left > 1) {
        int64_t extent = left;
        if (choose(0, 1) == 0)
          do
            extent = choose(2, left);
          while (left % extent != 0);
        dimensions.push_back({extent, d, step});
        step *= extent;
        left /= extent;
      }
    }
    std::ranges::shuffle(dimensions, random);
    Case one(shape, sizes[static_cast<size_t>(choose(0, 5))], dimensions, random);
    arrange(std::vector{one.data()}, inReverse);
    ASSERT_EQ(one.to, one.expected()) << "case " << number;
  }
}

TEST(Arrange, LargeOnesInPieces) {
  std::mt19937 random(1);
  // Columns in vectors, what is summed between, zeros behind: of matrices, filters, and groups of bytes.
  Case matrix({700, 500}, 4, {{16, 1, 32}, {700, 0, 1}, {32, 1, 1}}, random),
      filters({200, 300, 3, 3}, 4, {{7, 0, 32}, {300, 1, 1}, {3, 2, 1}, {3, 3, 1}, {32, 0, 1}},
              random),
      bytes({1000, 900}, 1, {{29, 1, 32}, {250, 0, 4}, {32, 1, 1}, {4, 0, 1}}, random),
      same({300, 1000}, 8, {{300, 0, 1}, {1000, 1, 1}}, random);
  size_t pieces = 0;
  arrange(std::vector{matrix.data(), filters.data(), bytes.data(), same.data()},
          [&](size_t count, const std::function<void(size_t)> &job) {
            pieces = count;
            inReverse(count, job);
          });
  EXPECT_GT(pieces, 10U);
  for (const Case *each : {&matrix, &filters, &bytes, &same})
    EXPECT_TRUE(each->to == each->expected());
}

TEST(Arrange, NothingIsNothing) {
  arrange({}, [](size_t, const std::function<void(size_t)> &) { ADD_FAILURE(); });
}

} // namespace
} // namespace plim::session
