// Elements by their order. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Sorting.h"

#include <bit>

namespace plim::importers::stablehlo {

namespace {

Scalars withPosition(Scalars at, int64_t axis, const Scalar &position) {
  at[static_cast<size_t>(axis)] = position;
  return at;
}

} // namespace

/// Merges runs of 1, 2, 4, ... elements. Each place of a merged run looks by bisection how many elements before it come from
/// the first half, so that all places are computed at once.
Value sortedOrder(Emitter &e, const Scalars &dims, int64_t axis, const Before &before) {
  const Scalar n = dims[static_cast<size_t>(axis)];
  if (!n.known)
    unsupported("the extent that is sorted must be known");
  const Scalar zero = e.index(0), one = e.index(1), last = e.index(*n.known - 1);
  const Value start = e.generate(ElementType::I64, dims, [&](const Scalars &at) {
    return e.convert(at[static_cast<size_t>(axis)], ElementType::I64);
  });
  if (*n.known <= 1)
    return start;
  const auto turns = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(*n.known - 1)));
  return e.loop(e.index(turns), {start}, [&](const Scalar &turn, const Values &in) -> Values {
    const Value &order = in[0];
    const Scalar width{ElementType::Index,
                       e.define("arith.shli " + e.use(one) + ", " + e.use(turn) + " : index"),
                       {}};
    const Scalar both = e.add(width, width);
    return {e.generate(ElementType::I64, dims, [&](const Scalars &at) {
      auto element = [&](const Scalar &position) {
        const Scalar from = e.at(order, withPosition(at, axis, e.min(position, last)));
        return withPosition(at, axis, e.convert(from, ElementType::Index));
      };
      const Scalar place = at[static_cast<size_t>(axis)];
      const Scalar first = e.mul(e.div(place, both), both), within = e.sub(place, first);
      const Scalar countA = e.min(width, e.sub(n, first)), second = e.add(first, countA);
      const Scalar countB = e.min(width, e.sub(n, second));
      const Scalars found = e.loopWhile(
          {e.max(zero, e.sub(within, countB)), e.min(within, countA)},
          [&](const Scalars &range) { return e.compare(Compare::Less, range[0], range[1]); },
          [&](const Scalars &range) -> Scalars {
            const Scalar middle = e.div(e.add(range[0], range[1]), e.index(2));
            const Scalar a = e.add(first, middle),
                         b = e.add(second, e.sub(e.sub(within, one), middle));
            const Scalar bFirst = before(element(b), element(a));
            return {e.select(bFirst, range[0], e.add(middle, one)),
                    e.select(bFirst, middle, range[1])};
          });
      const Scalar fromA = found[0], fromB = e.sub(within, fromA);
      const Scalar a = e.add(first, fromA), b = e.add(second, fromB);
      const Scalar bFirst =
          e.both(e.compare(Compare::Less, fromB, countB), before(element(b), element(a)));
      const Scalar takesB = e.either(e.compare(Compare::GreaterEqual, fromA, countA), bFirst);
      return e.at(order, withPosition(at, axis, e.min(last, e.select(takesB, b, a))));
    })};
  })[0];
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
  const Value order =
      sortedOrder(e, op.input(0).dims, axis, [&](const Scalars &a, const Scalars &b) {
        Scalars elements;
        for (const Value &input : op.inputs) {
          elements.push_back(e.at(input, a));
          elements.push_back(e.at(input, b));
        }
        return callOnElements(op, comparator, elements, {ElementType::I1})[0];
      });
  for (const Value &input : op.inputs)
    op.give(inOrder(e, input, axis, order));
}

} // namespace

const OperationTable &sorting() {
  static const OperationTable table{{"stablehlo.sort", {sort, 1, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
