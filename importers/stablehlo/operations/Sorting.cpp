// Elements by their order. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Sorting.h"

#include <bit>

namespace plim::importers::stablehlo {

namespace {

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

} // namespace

/// Merges runs of 1, 2, 4, ... elements until there is one.
Values sorted(Emitter &e, const Values &values, int64_t axis, const Before &before) {
  const Scalars &dims = values[0].dims;
  const Scalar n = dims[static_cast<size_t>(axis)];
  if (!n.known)
    unsupported("the extent that is sorted must be known");
  if (*n.known <= 1)
    return values;
  const Scalar zero = e.index(0), one = e.index(1), last = e.index(*n.known - 1);
  Scalars rows = dims;
  rows[static_cast<size_t>(axis)] = one;
  // Two runs beside each other in `from` go to the same places of `to`.
  auto merged = [&](const Values &from, const Values &to, const Scalars &row, const Scalar &width,
                    const Scalar &first) {
    const Scalar second = e.min(n, e.add(first, width)), end = e.min(n, e.add(second, width));
    return e
        .loopWith(
            e.sub(end, first), {to, {first, second}},
            [&](const Scalar &i, const Emitter::LoopState &so) -> Emitter::LoopState {
              const Scalar &a = so.scalars[0], &b = so.scalars[1];
              const Scalars x = elementsAt(e, from, withPosition(row, axis, e.min(a, last)));
              const Scalars y = elementsAt(e, from, withPosition(row, axis, e.min(b, last)));
              const Scalar bFirst =
                  e.either(e.compare(Compare::GreaterEqual, a, second), before(y, x));
              const Scalar takesB = e.both(e.compare(Compare::Less, b, end), bFirst);
              const Scalars place = withPosition(row, axis, e.add(first, i));
              Values next;
              for (size_t k = 0; k < from.size(); ++k)
                next.push_back(e.withElement(so.values[k], place, e.select(takesB, y[k], x[k])));
              return {next,
                      {e.select(takesB, a, e.add(a, one)), e.select(takesB, e.add(b, one), b)}};
            })
        .values;
  };
  const auto turns = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(*n.known - 1)));
  return e.loop(e.index(turns), values, [&](const Scalar &turn, const Values &in) -> Values {
    const Scalar width{ElementType::Index,
                       e.define("arith.shli " + e.use(one) + ", " + e.use(turn) + " : index"),
                       {}};
    const Scalar both = e.add(width, width);
    const std::function<Values(size_t, const Scalars &, const Values &)> nest =
        [&](size_t depth, const Scalars &row, const Values &so) -> Values {
      if (depth == rows.size())
        return e.loop(e.ceilDiv(n, both), so, [&](const Scalar &pair, const Values &to) {
          return merged(in, to, row, width, e.mul(pair, both));
        });
      if (rows[depth].is(1)) {
        Scalars next = row;
        next.push_back(zero);
        return nest(depth + 1, next, so);
      }
      return e.loop(rows[depth], so, [&](const Scalar &i, const Values &inner) {
        Scalars next = row;
        next.push_back(i);
        return nest(depth + 1, next, inner);
      });
    };
    return nest(0, {}, in);
  });
}

/// One element after the other goes to its place among the best so far, if it has one.
Value bestOf(Emitter &e, const Value &x, int64_t count, const Before &before) {
  const size_t axis = x.dims.size() - 1;
  const auto last = static_cast<int64_t>(axis);
  Scalars dims = x.dims;
  dims[axis] = e.index(count);
  e.use(x);
  const Scalar zero = e.index(0), end = e.index(count - 1);
  const Value start = e.fill(dims, e.integer(ElementType::I64, 0));
  return e.updateLoop(
      start, Scalars(x.dims.size(), zero), x.dims,
      [&](const Value &so, const Scalars &at) -> Value {
        const Scalar &i = at[axis];
        const Scalars own{e.at(x, at)};
        auto isBefore = [&](const Scalar &place) {
          const Scalar from =
              e.convert(e.at(so, withPosition(at, last, place)), ElementType::Index);
          return before(own, {e.at(x, withPosition(at, last, from))});
        };
        const Scalar tail = e.min(i, end); // the place that is filled or lost
        const Scalar takes = e.either(e.compare(Compare::LessEqual, i, end), isBefore(end));
        const Scalar place = e.loopWhile(
            {zero, e.select(takes, tail, zero)},
            [&](const Scalars &range) { return e.compare(Compare::Less, range[0], range[1]); },
            [&](const Scalars &range) -> Scalars {
              const Scalar middle = e.div(e.add(range[0], range[1]), e.index(2));
              const Scalar here = isBefore(middle);
              return {e.select(here, range[0], e.add(middle, e.index(1))),
                      e.select(here, middle, range[1])};
            })[0];
        const Scalar moved = e.select(takes, e.sub(tail, place), zero);
        const Value shifted = e.loop(moved, {so}, [&](const Scalar &k, const Values &in) -> Values {
          const Scalar to = e.sub(tail, k);
          const Scalar element = e.at(in[0], withPosition(at, last, e.sub(to, e.index(1))));
          return {e.withElement(in[0], withPosition(at, last, to), element)};
        })[0];
        const Scalars to = withPosition(at, last, e.select(takes, place, tail));
        const Scalar position = e.convert(i, ElementType::I64);
        return e.withElement(shifted, to, e.select(takes, position, e.at(shifted, to)));
      });
}

Value inOrder(Emitter &e, const Value &value, int64_t axis, const Value &order) {
  e.use(value);
  return e.generate(value.type, order.dims, [&](const Scalars &at) {
    return e.at(value, withPosition(at, axis, e.convert(e.at(order, at), ElementType::Index)));
  });
}

namespace {

void sort(Operator &op) {
  Emitter &e = op.emit;
  const Region &comparator = op.region(0);
  const int64_t rank = op.input(0).rank();
  int64_t axis = op.integer("dimension", -1);
  axis = axis < 0 ? axis + rank : axis;
  checkAxes({axis}, rank, "dimension");
  for (const Value &input : op.inputs) {
    checkSameShape(op.input(0), input);
    e.use(input);
  }
  if (comparator.arguments.size() != 2 * op.inputs.size())
    invalid("its region needs " + std::to_string(2 * op.inputs.size()) + " arguments");
  if (e.count(op.input(0)).is(0))
    return void(op.outputs = op.inputs);
  op.outputs = sorted(e, op.inputs, axis, [&](const Scalars &a, const Scalars &b) {
    Scalars elements;
    for (size_t i = 0; i < a.size(); ++i) {
      elements.push_back(a[i]);
      elements.push_back(b[i]);
    }
    return callOnElements(op, comparator, elements, {ElementType::I1})[0];
  });
}

} // namespace

const OperationTable &sorting() {
  static const OperationTable table{{"stablehlo.sort", {sort, 1, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
