#include "importers/emit/Sorting.h"

namespace plim::importers {

namespace {

/// Up to as many first elements are kept in order while all are looked at: another one moves half of them on average.
constexpr int64_t fewFirst = 64;

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

using LineBody = std::function<Values(const Scalars &line, const Values &so)>;

/// `initial` after `body` was called for each line along `axis`, whose position is 0 in `line`.
Values forEachLine(Emitter &e, const Scalars &dims, int64_t axis, const Values &initial,
                   const LineBody &body, const Scalars &line = {}) {
  const size_t depth = line.size();
  if (depth == dims.size())
    return body(line, initial);
  auto inner = [&](const Scalar &position, const Values &so) {
    Scalars next = line;
    next.push_back(position);
    return forEachLine(e, dims, axis, so, body, next);
  };
  if (depth == static_cast<size_t>(axis) || dims[depth].is(1))
    return inner(e.index(0), initial);
  return e.loop(dims[depth], initial, inner);
}

/// Turns in which runs of 1, 2, 4, ... become one of `n`.
Scalar turnsFor(Emitter &e, const Scalar &n) {
  const ElementType wide = ElementType::I64;
  const Scalar last = e.convert(e.max(e.index(0), e.sub(n, e.index(1))), wide);
  const Scalar zeros{wide, e.define("math.ctlz " + e.use(last) + " : i64"), {}};
  return e.convert(e.sub(e.integer(wide, 64), zeros), ElementType::Index);
}

/// Puts one element after the other to its place among the best so far, if it has one.
Values keepFirst(Emitter &e, const Value &x, int64_t axis, int64_t count, const Before &before) {
  Scalars dims = x.dims;
  dims[static_cast<size_t>(axis)] = e.index(count);
  const Scalar zero = e.index(0), one = e.index(1), end = e.index(count - 1);
  const Values start = {e.fill(dims, e.number(x.type, 0)),
                        e.fill(dims, e.integer(ElementType::I64, 0))};
  return forEachLine(e, dims, axis, start, [&](const Scalars &line, const Values &initial) {
    // `own`, which stood at `i`, among those up to `tail`, of which the last one is lost.
    auto withOwn = [&](const Scalar &own, const Scalar &i, const Scalar &tail, const Values &so) {
      const Scalar place = e.loopWhile(
          {zero, tail},
          [&](const Scalars &range) { return e.compare(Compare::Less, range[0], range[1]); },
          [&](const Scalars &range) -> Scalars {
            const Scalar middle = e.div(e.add(range[0], range[1]), e.index(2));
            const Scalar here = before({own}, {e.at(so[0], withPosition(line, axis, middle))});
            return {e.select(here, range[0], e.add(middle, one)), e.select(here, middle, range[1])};
          })[0];
      const Values moved =
          e.loop(e.sub(tail, place), so, [&](const Scalar &k, const Values &all) -> Values {
            const Scalar to = e.sub(tail, k);
            const Scalars target = withPosition(line, axis, to),
                          source = withPosition(line, axis, e.sub(to, one));
            return {e.withElement(all[0], target, e.at(all[0], source)),
                    e.withElement(all[1], target, e.at(all[1], source))};
          });
      const Scalars to = withPosition(line, axis, place);
      return Values{e.withElement(moved[0], to, own),
                    e.withElement(moved[1], to, e.convert(i, ElementType::I64))};
    };
    const Scalar n = x.dims[static_cast<size_t>(axis)], size = e.index(count);
    const Values filled = e.loop(size, initial, [&](const Scalar &i, const Values &so) {
      return withOwn(e.at(x, withPosition(line, axis, i)), i, i, so);
    });
    return e.loop(e.sub(n, size), filled, [&](const Scalar &rest, const Values &so) {
      const Scalar i = e.add(size, rest), own = e.at(x, withPosition(line, axis, i));
      const Scalar isBefore = before({own}, {e.at(so[0], withPosition(line, axis, end))});
      return e.changedIf(isBefore, so, [&] { return withOwn(own, i, end, so); });
    });
  });
}

} // namespace

Scalar standsBefore(Builder &e, Compare how, const Scalar &a, const Scalar &b) {
  const Scalar first = e.compare(how, a, b);
  return isFloat(a.type) ? e.either(first, e.both(e.compare(Compare::Equal, a, a),
                                                  e.compare(Compare::NotEqual, b, b)))
                         : first;
}

/// Merges runs of 1, 2, 4, ... elements until there is one.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before) {
  const Scalars &dims = values[0].dims;
  const Scalar n = dims[static_cast<size_t>(axis)];
  if (n.known && *n.known <= 1)
    return values;
  for (const Value &value : values)
    e.use(value);
  const Scalar zero = e.index(0), one = e.index(1), last = e.sub(n, one);
  // Two runs beside each other in `from` go to the same places of `to`.
  auto merged = [&](const Values &from, const Values &to, const Scalars &line, const Scalar &width,
                    const Scalar &first) {
    const Scalar second = e.min(n, e.add(first, width)), end = e.min(n, e.add(second, width));
    return e
        .loopWith(
            e.sub(end, first), {to, {first, second}},
            [&](const Scalar &i, const Emitter::LoopState &so) -> Emitter::LoopState {
              const Scalar &a = so.scalars[0], &b = so.scalars[1];
              const Scalars x = elementsAt(e, from, withPosition(line, axis, e.min(a, last)));
              const Scalars y = elementsAt(e, from, withPosition(line, axis, e.min(b, last)));
              const Scalar bFirst =
                  e.either(e.compare(Compare::GreaterEqual, a, second), before(y, x));
              const Scalar takesB = e.both(e.compare(Compare::Less, b, end), bFirst);
              const Scalars place = withPosition(line, axis, e.add(first, i));
              Values next;
              for (size_t k = 0; k < from.size(); ++k)
                next.push_back(e.withElement(so.values[k], place, e.select(takesB, y[k], x[k])));
              return {next,
                      {e.select(takesB, a, e.add(a, one)), e.select(takesB, e.add(b, one), b)}};
            })
        .values;
  };
  return e.loop(turnsFor(e, n), values, [&](const Scalar &turn, const Values &in) -> Values {
    const Scalar width{ElementType::Index,
                       e.define("arith.shli " + e.use(one) + ", " + e.use(turn) + " : index"),
                       {}};
    const Scalar both = e.add(width, width);
    return forEachLine(e, dims, axis, in, [&](const Scalars &line, const Values &so) {
      return e.loop(e.ceilDiv(n, both), so, [&](const Scalar &pair, const Values &to) {
        return merged(in, to, line, width, e.mul(pair, both));
      });
    });
  });
}

Values firstSorted(Emitter &e, const Value &x, int64_t axis, const Scalar &count,
                   const Before &before) {
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
  if (count.known && *count.known <= fewFirst && !(n.known && *n.known == *count.known))
    return keepFirst(e, x, axis, *count.known, before);
  const Value positions = e.generate(wide, x.dims, [&](const Scalars &at) {
    return e.convert(at[static_cast<size_t>(axis)], wide);
  });
  Values all = sorted(e, {x, positions}, axis, before);
  for (Value &one : all)
    one = e.sliceAxis(one, axis, e.index(0), count);
  return all;
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
