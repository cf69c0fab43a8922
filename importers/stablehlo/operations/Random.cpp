// Random bits of a state that the module hands in. See https://openxla.org/stablehlo/spec#rng_bit_generator.
//
// The specification leaves open which bits. Those of both generators are the published ones; how the blocks lie is what XLA's
// expanders of rng_bit_generator do: Philox's agree with a run of XLA that JAX's tests publish, of
// Threefry's there is none. The generators are of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011): a function of
// a key and a counter, so each element is computed by itself. The state is the key and the next counter.
#include "importers/stablehlo/Random.h"

#include "importers/stablehlo/Scalars.h"

#include <array>
#include <utility>

namespace plim::importers::stablehlo {

namespace {

using enum ElementType;

Scalar word(Emitter &e, uint32_t value) { return e.integer(U32, static_cast<int64_t>(value)); }

Scalar shift(Emitter &e, const char *operation, const Scalar &x, int64_t by) {
  return {x.type,
          e.define(std::string("arith.") + operation + " " + e.use(x) + ", " +
                   e.use(e.integer(x.type, by)) + " : " + mlirName(x.type)),
          {}};
}

Scalar low(Emitter &e, const Scalar &x) { return e.convert(x, U32); }
Scalar high(Emitter &e, const Scalar &x) { return e.convert(shift(e, "shrui", x, 32), U32); }
Scalar joined(Emitter &e, const Scalar &least, const Scalar &most) {
  return e.either(e.convert(least, U64), shift(e, "shli", e.convert(most, U64), 32));
}

using Pair = ScalarPair;
using Four = std::array<Scalar, 4>;

} // namespace

Pair threefry(Emitter &e, const Pair &key, const Pair &counter) {
  constexpr int64_t turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Scalar keys[3] = {key[0], key[1], {}};
  keys[2] = e.exclusive(e.exclusive(keys[0], keys[1]), word(e, 0x1BD11BDA));
  Pair x{e.add(counter[0], keys[0]), e.add(counter[1], keys[1])};
  for (uint32_t i = 0; i < 5; ++i) {
    for (const int64_t turn : turns[i % 2]) {
      x[0] = e.add(x[0], x[1]);
      const Scalar turned =
          e.either(shift(e, "shli", x[1], turn), shift(e, "shrui", x[1], 32 - turn));
      x[1] = e.exclusive(x[0], turned);
    }
    x[0] = e.add(x[0], keys[(i + 1) % 3]);
    x[1] = e.add(e.add(x[1], keys[(i + 2) % 3]), word(e, i + 1));
  }
  return x;
}

namespace {

Pair halves(Emitter &e, const Scalar &x) { return {low(e, x), high(e, x)}; }

/// Philox-4x32 with 10 rounds.
Four philox(Emitter &e, const Scalar &key, const Pair &counter) {
  Scalar first = low(e, key), second = high(e, key);
  Four x{low(e, counter[0]), high(e, counter[0]), low(e, counter[1]), high(e, counter[1])};
  const auto product = [&](const Scalar &a, uint32_t by) {
    return e.mul(e.convert(a, U64), e.integer(U64, static_cast<int64_t>(by)));
  };
  for (int i = 0; i < 10; ++i) {
    const Scalar a = product(x[0], 0xD2511F53), b = product(x[2], 0xCD9E8D57);
    x = {e.exclusive(e.exclusive(high(e, b), x[1]), first), low(e, b),
         e.exclusive(e.exclusive(high(e, a), x[3]), second), low(e, a)};
    first = e.add(first, word(e, 0x9E3779B9));
    second = e.add(second, word(e, 0xBB67AE85));
  }
  return x;
}

/// A counter of 128 bits, the least first, with more.
Pair advanced(Emitter &e, const Pair &counter, const Scalar &by) {
  const Scalar sum = e.add(counter[0], by);
  const Scalar carry =
      e.convert(e.compare(Compare::Less, sum, counter[0]), U64); // it is less if it wrapped
  return {sum, e.add(counter[1], carry)};
}

Scalar linear(Emitter &e, const Scalars &position, const Numbers &shape) {
  Scalar out = e.index(0);
  for (size_t i = 0; i < shape.size(); ++i)
    out = e.add(e.mul(out, e.index(shape[i])), position[i]);
  return e.convert(out, U64);
}

/// Where the two words of a Threefry block go: they are neighbours along the first dimension with an even extent, or along the
/// longest one if there is none.
size_t pairedAxis(const Numbers &shape) {
  size_t longest = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % 2 == 0)
      return i;
    if (shape[i] > shape[longest])
      longest = i;
  }
  return longest;
}

struct Bits {
  std::function<Scalar(const Scalars &)> at; // a word of 32 or 64 bits
  int64_t blocks = 0;                        // that all elements take
};

Bits threefryBits(Emitter &e, const Scalar &key, const Scalar &counter, const Numbers &shape,
                  bool isWide) {
  Numbers blocks = shape;
  const size_t paired = pairedAxis(shape);
  if (!isWide && !shape.empty())
    blocks[paired] = (shape[paired] + 1) / 2;
  int64_t count = 1;
  for (const int64_t extent : blocks)
    count *= extent;
  const auto at = [=, &e](const Scalars &position) {
    Scalars block = position;
    if (!isWide && !shape.empty())
      block[paired] = e.floorDiv(position[paired], e.index(2));
    const Pair out =
        threefry(e, halves(e, key), halves(e, e.add(counter, linear(e, block, blocks))));
    if (isWide)
      return joined(e, out[0], out[1]);
    if (shape.empty())
      return out[0];
    const Scalar which = e.sub(position[paired], e.mul(block[paired], e.index(2)));
    return e.select(e.compare(Compare::Equal, which, e.index(0)), out[0], out[1]);
  };
  return {at, count};
}

Bits philoxBits(Emitter &e, const Scalar &key, const Pair &counter, const Numbers &shape,
                bool isWide) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    count *= extent;
  const int64_t each = isWide ? 2 : 4; // elements of a block
  const auto at = [=, &e](const Scalars &position) {
    const Scalar place = linear(e, position, shape);
    const Scalar block = shift(e, "shrui", place, isWide ? 1 : 2);
    const Scalar which = e.both(place, e.integer(U64, each - 1));
    const Four out = philox(e, key, advanced(e, counter, block));
    const auto is = [&](int64_t i) { return e.compare(Compare::Equal, which, e.integer(U64, i)); };
    if (isWide)
      return e.select(is(0), joined(e, out[0], out[1]), joined(e, out[2], out[3]));
    return e.select(is(0), out[0], e.select(is(1), out[1], e.select(is(2), out[2], out[3])));
  };
  return {at, (count + each - 1) / each};
}

void bitGenerator(Operator &op) {
  Emitter &e = op.emit;
  const Value &state = op.input(0);
  const std::string algorithm = op.word("rng_algorithm", "");
  if (algorithm != "DEFAULT" && algorithm != "THREE_FRY" && algorithm != "PHILOX")
    unsupported("the algorithm '" + algorithm + "' is not supported");
  const bool isThreefry = algorithm == "THREE_FRY";
  const bool hasThree = !isThreefry && state.rank() == 1 && state.dims[0].is(3);
  if (state.type != U64 || state.rank() != 1 || !(state.dims[0].is(2) || hasThree))
    invalid("its state must be a tensor<2xui64>" +
            std::string(isThreefry ? "" : " or a tensor<3xui64>"));
  const Type &type = op.resultType(1);
  if (type.element == ElementType::I1)
    invalid("its result must be of numbers");
  const Scalars dims = op.knownDims(type);
  const Numbers shape{std::vector<int64_t>(type.shape.begin(), type.shape.end())};
  e.use(state);
  const Scalar key = e.at(state, {e.index(0)}), second = e.at(state, {e.index(1)});
  const bool isWide = bitsOf(type.element) == 64;
  // XLA's reading of a short state: the key is the counter's upper half too.
  const Pair counter{second, hasThree ? e.at(state, {e.index(2)}) : key};
  const Bits bits = isThreefry ? threefryBits(e, key, second, shape, isWide)
                               : philoxBits(e, key, counter, shape, isWide);
  const Scalar used = e.integer(U64, bits.blocks);
  const Pair next = isThreefry ? Pair{e.add(second, used), {}} : advanced(e, counter, used);
  op.give(e.generate(U64, state.dims, [&](const Scalars &position) {
    const auto is = [&](int64_t i) { return e.compare(Compare::Equal, position[0], e.index(i)); };
    const Scalar rest = hasThree ? e.select(is(1), next[0], next[1]) : next[0];
    return e.select(is(0), key, rest);
  }));
  op.give(e.generate(type.element, dims, [&](const Scalars &position) {
    const Scalar drawn = bits.at(position);
    return e.bitcast(e.convert(drawn, bitsType(type.element)), type.element);
  }));
}

} // namespace

const OperationTable &random() {
  static const OperationTable table{{"stablehlo.rng_bit_generator", {bitGenerator, 1, 1}}};
  return table;
}

} // namespace plim::importers::stablehlo
