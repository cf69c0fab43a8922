#include "importers/emit/Sorting.h"

namespace plim::importers {

namespace {

/// Up to as many first elements are kept in order while all are looked at: another one moves half of them on average.
constexpr int64_t fewFirst = 64;

/// Less are merged sooner than their digits are counted: of 64 bits there are more of them.
constexpr int64_t fewSorted = 16, fewSortedWide = 64;

/// As many are looked at together, whether one of them is among the first: few enough that most of the time none is.
constexpr int64_t block = 16;

/// Is it less work to keep `count` of `n` in order than to sort all? How many come to stand among the first, in random order, grows
/// with the logarithm of `n`.
bool isFew(int64_t count, const Scalar &n) {
  return count <= fewFirst &&
         !(n.known && (*n.known == count || (count > 8 && count * count > 2 * *n.known)));
}

ElementType keyType(ElementType type) {
  switch (bitsOf(type)) {
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  default:
    return ElementType::I64;
  }
}

/// Ascending, as IEEE 754 orders floats.
Scalar ascending(Builder &e, const Scalar &x) {
  const ElementType type = keyType(x.type);
  if (isUnsigned(x.type))
    return e.exclusive({type, e.use(x), {}}, e.lowest(type));
  if (x.type == ElementType::I1)
    return e.convert(x, type);
  if (!isFloat(x.type))
    return x;
  const Scalar bits = e.bitcast(x, type);
  return e.select(e.compare(Compare::Less, bits, e.integer(type, 0)),
                  e.exclusive(bits, e.highest(type)), bits);
}

Scalars withPosition(Scalars at, int64_t axis, const Scalar &position) {
  at[static_cast<size_t>(axis)] = position;
  return at;
}

Scalars elementsAt(Emitter &e, const Values &values, const Scalars &at) {
  Scalars out;
  for (const Value &value : values)
    out.push_back(e.at(value, at));
  return out;
}

/// Turns in which runs of 1, 2, 4, ... become one of `n`.
Scalar turnsFor(Emitter &e, const Scalar &n) {
  const ElementType wide = ElementType::I64;
  const Scalar last = e.convert(e.max(e.index(0), e.sub(n, e.index(1))), wide);
  const Scalar zeros{wide, e.define("math.ctlz " + e.use(last) + " : i64"), {}};
  return e.convert(e.sub(e.integer(wide, 64), zeros), ElementType::Index);
}

/// The least key of each block along `axis` that is full.
Value leastOfBlocks(Emitter &e, const Value &x, int64_t axis, const Key &key) {
  const Scalar each = e.index(block), blocks = e.div(x.dims[static_cast<size_t>(axis)], each);
  Scalars split;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    split.push_back(d == static_cast<size_t>(axis) ? blocks : x.dims[d]);
    if (d == static_cast<size_t>(axis))
      split.push_back(each);
  }
  const Value full = e.reshape(e.sliceAxis(x, axis, e.index(0), e.mul(blocks, each)), split);
  const ElementType type = keyType(x.type);
  const Value keys = e.elementwise(type, {full}, [&](const Scalars &in) { return key(in[0]); });
  return e.reduce(keys, {axis + 1}, false, e.highest(type),
                  [&](const Scalar &a, const Scalar &b) { return e.min(a, b); });
}

/// Puts one element after the other to its place among the best so far, if it has one. What is in blocks is looked at if the
/// least of them has one.
Values keepFirst(Emitter &e, const Value &x, int64_t axis, int64_t count, const Key &key) {
  Scalars dims = x.dims;
  dims[static_cast<size_t>(axis)] = e.index(count);
  const Scalar zero = e.index(0), one = e.index(1), end = e.index(count - 1), each = e.index(block);
  const Scalar n = x.dims[static_cast<size_t>(axis)], size = e.index(count);
  const bool hasBlocks = !n.known || *n.known >= fewFirst;
  const Values start = {e.unset(x.type, dims), e.unset(ElementType::I64, dims)};
  return e.eachLine(start, axis, [&](const Scalars &line, const Values &initial) {
    // `own`, which stood at `i`, among those up to `tail`, of which the last one is lost.
    auto withOwn = [&](const Scalar &own, const Scalar &i, const Scalar &tail, const Values &so) {
      const Scalar place = e.loopWhile(
          {zero, tail},
          [&](const Scalars &range) { return e.compare(Compare::Less, range[0], range[1]); },
          [&](const Scalars &range) -> Scalars {
            const Scalar middle = e.div(e.add(range[0], range[1]), e.index(2));
            const Scalar here = e.compare(Compare::Less, key(own), key(e.at(so[0], {middle})));
            return {e.select(here, range[0], e.add(middle, one)), e.select(here, middle, range[1])};
          })[0];
      const Values moved =
          e.loop(e.sub(tail, place), so, [&](const Scalar &k, const Values &all) -> Values {
            const Scalar to = e.sub(tail, k);
            const Scalar from = e.sub(to, one);
            return {e.withElement(all[0], {to}, e.at(all[0], {from})),
                    e.withElement(all[1], {to}, e.at(all[1], {from}))};
          });
      return Values{e.withElement(moved[0], {place}, own),
                    e.withElement(moved[1], {place}, e.convert(i, ElementType::I64))};
    };
    Scalars extents(x.dims.size(), one);
    extents[static_cast<size_t>(axis)] = n;
    const Value least =
        hasBlocks
            ? leastOfBlocks(
                  e, e.reshape(e.slice(x, line, extents, Scalars(x.dims.size(), one)), {n}), 0, key)
            : Value();
    if (hasBlocks)
      e.use(least);
    const Values filled = e.loop(size, initial, [&](const Scalar &i, const Values &so) {
      return withOwn(e.at(x, withPosition(line, axis, i)), i, i, so);
    });
    auto isBefore = [&](const Scalar &one, const Values &so) {
      return e.compare(Compare::Less, one, key(e.at(so[0], {end})));
    };
    auto withRange = [&](const Scalar &from, const Scalar &length, const Values &some) {
      return e.loop(length, some, [&](const Scalar &k, const Values &so) {
        const Scalar i = e.add(from, k), own = e.at(x, withPosition(line, axis, i));
        return e.changedIf(isBefore(key(own), so), so, [&] { return withOwn(own, i, end, so); });
      });
    };
    if (!hasBlocks)
      return withRange(size, e.sub(n, size), filled);
    const Scalar firstBlock = e.ceilDiv(size, each), blocks = e.div(n, each);
    const Scalar first = e.min(n, e.mul(firstBlock, each));
    const Values begun = withRange(size, e.sub(first, size), filled);
    const Values most = e.loop(
        e.max(zero, e.sub(blocks, firstBlock)), begun, [&](const Scalar &i, const Values &so) {
          const Scalar b = e.add(i, firstBlock);
          const Scalar here = isBefore(e.at(least, {b}), so);
          return e.changedIf(here, so, [&] { return withRange(e.mul(b, each), each, so); });
        });
    const Scalar done = e.max(first, e.mul(blocks, each));
    return withRange(done, e.sub(n, done), most);
  });
}

} // namespace

Key numbersFirst(Builder &e, Compare how) {
  return [&e, how](const Scalar &x) {
    if (!isFloat(x.type))
      return totalOrder(e, how)(x);
    const Scalar isZero = e.compare(Compare::Equal, x, e.number(x.type, 0));
    const Scalar key = totalOrder(e, how)(e.select(isZero, e.number(x.type, 0), x));
    return e.select(e.compare(Compare::Equal, x, x), key, e.highest(key.type));
  };
}

Key totalOrder(Builder &e, Compare how) {
  return [&e, how](const Scalar &x) {
    const Scalar key = ascending(e, x);
    return how == Compare::Less ? key : e.exclusive(key, e.integer(key.type, -1));
  };
}

/// Merges runs of 1, 2, 4, ... elements until there is one.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before) {
  const Scalar n = values[0].dims[static_cast<size_t>(axis)];
  if (n.known && *n.known <= 1)
    return values;
  for (const Value &value : values)
    e.use(value);
  const Scalar zero = e.index(0), one = e.index(1), last = e.sub(n, one);
  const size_t count = values.size();
  // Elements go from one half to the other one. Two runs beside each other in `from` go to the same places of `to`.
  auto merged = [&](const Scalar &from, const Scalar &to, const Values &halves, const Scalar &width,
                    const Scalar &first) {
    const Scalar second = e.min(n, e.add(first, width)), end = e.min(n, e.add(second, width));
    return e
        .loopWith(
            e.sub(end, first), {halves, {first, second}},
            [&](const Scalar &i, const Emitter::LoopState &so) -> Emitter::LoopState {
              const Scalar &a = so.scalars[0], &b = so.scalars[1];
              const Scalars x = elementsAt(e, so.values, {from, e.min(a, last)});
              const Scalars y = elementsAt(e, so.values, {from, e.min(b, last)});
              const Scalar bFirst =
                  e.either(e.compare(Compare::GreaterEqual, a, second), before(y, x));
              const Scalar takesB = e.both(e.compare(Compare::Less, b, end), bFirst);
              const Scalars place{to, e.add(first, i)};
              Values next;
              for (size_t k = 0; k < count; ++k)
                next.push_back(e.withElement(so.values[k], place, e.select(takesB, y[k], x[k])));
              return {next,
                      {e.select(takesB, a, e.add(a, one)), e.select(takesB, e.add(b, one), b)}};
            })
        .values;
  };
  return e.eachLine(values, axis, [&](const Scalars &, const Values &lines) -> Values {
    Values halves;
    for (const Value &line : lines)
      halves.push_back(e.unset(line.type, {e.index(2), n}));
    halves = e.loop(n, halves, [&](const Scalar &i, const Values &so) {
      Values next;
      for (size_t k = 0; k < count; ++k)
        next.push_back(e.withElement(so[k], {zero, i}, e.at(lines[k], {i})));
      return next;
    });
    const Emitter::LoopState end = e.loopWith(
        turnsFor(e, n), {halves, {zero}},
        [&](const Scalar &turn, const Emitter::LoopState &in) -> Emitter::LoopState {
          const Scalar width{ElementType::Index,
                             e.define("arith.shli " + e.use(one) + ", " + e.use(turn) + " : index"),
                             {}};
          const Scalar both = e.add(width, width), &from = in.scalars[0], to = e.sub(one, from);
          const Values all =
              e.loop(e.ceilDiv(n, both), in.values, [&](const Scalar &pair, const Values &so) {
                return merged(from, to, so, width, e.mul(pair, both));
              });
          return {all, {to}};
        });
    return e.loop(n, lines, [&](const Scalar &i, const Values &so) {
      Values next;
      for (size_t k = 0; k < count; ++k)
        next.push_back(e.withElement(so[k], {i}, e.at(end.values[k], {end.scalars[0], i})));
      return next;
    });
  });
}

namespace {

Value positionsAlong(Emitter &e, const Value &x, int64_t axis) {
  return e.generate(ElementType::I64, x.dims, [&](const Scalars &at) {
    return e.convert(at[static_cast<size_t>(axis)], ElementType::I64);
  });
}

Value orderByMerges(Emitter &e, const Value &x, int64_t axis, const Key &key) {
  return sorted(e, {x, positionsAlong(e, x, axis)}, axis, [&](const Scalars &a, const Scalars &b) {
    return e.compare(Compare::Less, key(a[0]), key(b[0]));
  })[1];
}

/// Least digit first (D. Knuth, The Art of Computer Programming 3, 5.2.5): elements go to where their digit begins, in
/// their order, one digit of the key after the other.
Value orderByDigits(Emitter &e, const Value &x, int64_t axis, const Key &key) {
  const ElementType wide = ElementType::I64, type = keyType(x.type);
  const Scalar n = x.dims[static_cast<size_t>(axis)], zero = e.index(0), one = e.index(1);
  // Of short lines less is counted than there is to count in.
  const int64_t bits = n.known && *n.known < 64 ? 4 : 8;
  const Scalar digits = e.index(static_cast<int64_t>(bitsOf(type)) / bits);
  const Scalar buckets = e.index(int64_t{1} << bits), lastBucket = e.integer(type, (1 << bits) - 1);
  e.use(x);
  auto digitOf = [&](const Scalar &of, const Scalar &shift) {
    const std::string mlirType = mlirName(type);
    const Scalar digit{
        type, e.define("arith.shrui " + e.use(of) + ", " + e.use(shift) + " : " + mlirType), {}};
    const std::string last = e.use(e.both(digit, lastBucket));
    return Scalar{ElementType::Index,
                  e.define("arith.index_castui " + last + " : " + mlirType + " to index"),
                  {}};
  };
  // Keys and positions go from one half to the other one.
  const Scalars halves{e.index(2), n};
  auto ofLine = [&](const Scalars &line, const Values &before) -> Values {
    const Values none = {e.unset(type, halves), e.unset(wide, halves)};
    const Values start = e.loop(n, none, [&](const Scalar &i, const Values &to) -> Values {
      // Without a sign: its bit is turned round.
      const Scalar own = e.exclusive(key(e.at(x, withPosition(line, axis, i))), e.lowest(type));
      return {e.withElement(to[0], {zero, i}, own),
              e.withElement(to[1], {zero, i}, e.convert(i, wide))};
    });
    auto moved = [&](const Scalar &digit, const Emitter::LoopState &so) -> Emitter::LoopState {
      const Value &keys = so.values[0], &places = so.values[1];
      const Scalar &from = so.scalars[0], to = e.sub(one, from);
      const Scalar shift = e.convert(e.mul(digit, e.index(bits)), type);
      const Value cleared =
          e.updateLoop(so.values[2], {zero}, {buckets}, [&](const Value &all, const Scalars &i) {
            return e.withElement(all, i, zero);
          });
      const Value counts =
          e.updateLoop(cleared, {zero}, {n}, [&](const Value &all, const Scalars &i) {
            const Scalars bucket{digitOf(e.at(keys, {from, i[0]}), shift)};
            return e.withElement(all, bucket, e.add(e.at(all, bucket), one));
          });
      const Value starts =
          e.loopWith(buckets, {{counts}, {zero}},
                     [&](const Scalar &i, const Emitter::LoopState &all) -> Emitter::LoopState {
                       const Scalar &begin = all.scalars[0];
                       const Scalar end = e.add(begin, e.at(all.values[0], {i}));
                       return {{e.withElement(all.values[0], {i}, begin)}, {end}};
                     })
              .values[0];
      const Values all =
          e.loop(n, {keys, places, starts}, [&](const Scalar &i, const Values &in) -> Values {
            const Scalar own = e.at(in[0], {from, i}), place = e.at(in[1], {from, i});
            const Scalar bucket = digitOf(own, shift), at = e.at(in[2], {bucket});
            return {e.withElement(in[0], {to, at}, own), e.withElement(in[1], {to, at}, place),
                    e.withElement(in[2], {bucket}, e.add(at, one))};
          });
      return {all, {to}};
    };
    const Emitter::LoopState end = e.loopWith(
        digits, {{start[0], start[1], e.unset(ElementType::Index, {buckets})}, {zero}}, moved);
    const Value order =
        e.updateLoop(before[0], {zero}, {n}, [&](const Value &all, const Scalars &i) {
          const Scalar place = e.at(end.values[1], {end.scalars[0], i[0]});
          return e.withElement(all, i, place);
        });
    return {order};
  };
  return e.eachLine({e.unset(wide, x.dims)}, axis, ofLine)[0];
}

} // namespace

Value orderOf(Emitter &e, const Value &x, int64_t axis, const Key &key) {
  const Scalar n = x.dims[static_cast<size_t>(axis)];
  const Scalar few = e.index(bitsOf(x.type) == 64 ? fewSortedWide : fewSorted);
  e.use(x);
  if (n.known)
    return *n.known < *few.known ? orderByMerges(e, x, axis, key) : orderByDigits(e, x, axis, key);
  const Scalar isShort = e.compare(Compare::Less, n, few);
  const Values merged = e.changedIf(isShort, {positionsAlong(e, x, axis)},
                                    [&]() -> Values { return {orderByMerges(e, x, axis, key)}; });
  return e.changedIf(e.negation(isShort), merged,
                     [&]() -> Values { return {orderByDigits(e, x, axis, key)}; })[0];
}

Values firstSorted(Emitter &e, const Value &x, int64_t axis, const Scalar &count, const Key &key) {
  const ElementType wide = ElementType::I64;
  const Scalar &n = x.dims[static_cast<size_t>(axis)];
  e.require(e.both(e.compare(Compare::LessEqual, e.index(0), count),
                   e.compare(Compare::LessEqual, count, n)),
            "more elements, or less than none, are asked for than there are");
  Scalars dims = x.dims;
  dims[static_cast<size_t>(axis)] = count;
  const Value none = e.splat(dims, e.number(x.type, 0));
  if (e.count(none).is(0))
    return {none, e.splat(dims, e.integer(wide, 0))};
  e.use(x);
  if (count.known && isFew(*count.known, n))
    return keepFirst(e, x, axis, *count.known, key);
  const Value order = e.sliceAxis(orderOf(e, x, axis, key), axis, e.index(0), count);
  return {inOrder(e, x, axis, order), order};
}

Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order) {
  e.use(value);
  return e.generate(value.type, order.dims, [&](const Scalars &at) {
    return e.at(value, withPosition(at, axis, e.convert(e.at(order, at), ElementType::Index)));
  });
}

Value placeOf(Emitter &e, const Value &x, int64_t axis, Compare better, bool last) {
  const ElementType wide = ElementType::I64;
  const Value positions = e.generate(wide, x.dims, [&](const Scalars &at) {
    return e.convert(at[static_cast<size_t>(axis)], wide);
  });
  const Scalar worst = better == Compare::Greater ? e.lowest(x.type) : e.highest(x.type);
  return e.reduceTogether(
      {x, positions}, {axis}, {worst, e.integer(wide, 0)},
      [&](const Scalars &best, const Scalars &here) -> Scalars {
        Scalar takes = e.compare(better, here[0], best[0]);
        if (last)
          takes = e.either(takes, e.compare(Compare::Equal, here[0], best[0]));
        if (isFloat(x.type))
          takes = e.either(takes, e.both(e.compare(Compare::NotEqual, here[0], here[0]),
                                         e.compare(Compare::Equal, best[0], best[0])));
        return {e.select(takes, here[0], best[0]), e.select(takes, here[1], best[1])};
      })[1];
}

} // namespace plim::importers
