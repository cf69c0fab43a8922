// Reductions. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/emit/Sorting.h"
#include "importers/onnx/Operator.h"

#include <algorithm>
#include <numeric>

namespace plim::importers {

namespace {

/// What is done with each element, with the sum so far, and with the end.
struct Recipe {
  std::function<Scalar(Emitter &, const Scalar &)> each;
  std::function<Scalar(Emitter &, const Scalar &, const Scalar &)> combine;
  std::function<Scalar(Emitter &, ElementType)> initial;
  std::function<Scalar(Emitter &, const Scalar &, const Scalar &count)> end;
};

Scalar same(Emitter &, const Scalar &x) { return x; }
Scalar sumOf(Emitter &e, const Scalar &a, const Scalar &b) { return e.add(a, b); }
Scalar zero(Emitter &e, ElementType type) { return e.number(type, 0); }
Scalar unchanged(Emitter &, const Scalar &x, const Scalar &) { return x; }

/// Axes that only a run knows: every element is looked at from all extents, reduced ones from their beginning.
Value reduceAt(Operator &op, const Value &x, const Scalars &axes, bool keep, const Recipe &recipe) {
  Emitter &e = op.emit;
  const size_t rank = x.dims.size();
  const Scalar one = e.index(1), none = e.index(0);
  Scalars isReduced, kept;
  Scalar size = one;
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int64_t>(i);
    Scalar reduced = e.truth(axes.empty());
    for (const Scalar &given : axes)
      reduced = e.either(reduced, e.either(e.compare(Compare::Equal, given, e.index(axis)),
                                           e.compare(Compare::Equal, given,
                                                     e.index(axis - static_cast<int64_t>(rank)))));
    isReduced.push_back(reduced);
    kept.push_back(e.select(reduced, one, x.dims[i]));
    size = e.mul(size, e.select(reduced, x.dims[i], one));
  }
  Value out = e.generate(x.type, kept, [&](const Scalars &position) {
    Scalars lower, upper;
    for (size_t i = 0; i < rank; ++i) {
      lower.push_back(e.select(isReduced[i], none, position[i]));
      upper.push_back(e.select(isReduced[i], x.dims[i], e.add(position[i], one)));
    }
    const Scalar sum =
        e.loops(lower, upper, {recipe.initial(e, x.type)},
                [&](const Scalars &at, const Scalars &carried) -> Scalars {
                  return {recipe.combine(e, carried[0], recipe.each(e, e.at(x, at)))};
                })[0];
    return recipe.end(e, sum, size);
  });
  if (keep)
    return out;
  // The k-th that stays.
  Scalars dims;
  for (size_t k = 0; k + axes.size() < rank; ++k) {
    Scalar before = none, extent = one;
    for (size_t i = 0; i < rank; ++i) {
      const Scalar isThis =
          e.both(e.negation(isReduced[i]),
                 e.compare(Compare::Equal, before, e.index(static_cast<int64_t>(k))));
      extent = e.select(isThis, x.dims[i], extent);
      before = e.add(before, e.select(isReduced[i], none, one));
    }
    dims.push_back(extent);
  }
  return e.reshape(out, dims);
}

void reduceWith(Operator &op, const Recipe &recipe) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool keep = op.integer("keepdims", 1) != 0;
  Numbers axes = op.integers("axes");
  if (op.has(1)) {
    const Value &given = op.input(1);
    if (const auto now = e.known(given))
      axes = *now;
    else if (!(given.rank() == 1 && given.dims[0].is(0)))
      return op.set(0, reduceAt(op, x, e.elements(given), keep, recipe));
  }
  for (int64_t &axis : axes)
    axis = Operator::axisOf(axis, x.rank());
  if (axes.empty()) {
    // Nothing is reduced; what is done with each element, and with a sum, is done all the same.
    if (op.integer("noop_with_empty_axes", 0) != 0)
      return op.set(0, e.elementwise(x.type, {x}, [&](const Scalars &in) {
        return recipe.end(e, recipe.each(e, in[0]), e.index(1));
      }));
    axes.resize(x.dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  Scalar size = e.index(1);
  for (int64_t axis : axes)
    size = e.mul(size, x.dims[static_cast<size_t>(axis)]);
  const Value sum = e.reduce(x, axes, keep, recipe.initial(e, x.type),
                             [&](const Scalar &so, const Scalar &element) {
                               return recipe.combine(e, so, recipe.each(e, element));
                             });
  op.set(0, e.elementwise(sum.type, {sum},
                          [&](const Scalars &in) { return recipe.end(e, in[0], size); }));
}

void reduceSum(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  // Of extents that are computed: their number of elements, mostly.
  reduceWith(op, {same, sumOf, zero, unchanged});
  if (x.elements && x.rank() == 1 && x.type == ElementType::I64) {
    Scalar sum = e.index(0);
    for (const Scalar &element : *x.elements)
      sum = e.add(sum, element);
    if (op.outputs[0].rank() == 0)
      op.set(0, e.scalar(sum));
  }
}

void reduceProd(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool toScalar = op.integer("keepdims", 1) == 0;
  const bool mayKeepAll = op.integer("noop_with_empty_axes", 0) != 0;
  if (x.elements && x.rank() == 1 && x.type == ElementType::I64 && !mayKeepAll) {
    Scalar product = e.index(1);
    for (const Scalar &element : *x.elements)
      product = e.mul(product, element);
    return op.set(0, toScalar ? e.scalar(product) : e.list({product}));
  }
  reduceWith(op, {same, [](Emitter &e, const Scalar &a, const Scalar &b) { return e.mul(a, b); },
                  [](Emitter &e, ElementType type) { return e.number(type, 1); }, unchanged});
}

void reduceMax(Operator &op) {
  reduceWith(op, {same, [](Emitter &e, const Scalar &a, const Scalar &b) { return e.max(a, b); },
                  [](Emitter &e, ElementType type) { return e.lowest(type); }, unchanged});
}

void reduceMin(Operator &op) {
  reduceWith(op, {same, [](Emitter &e, const Scalar &a, const Scalar &b) { return e.min(a, b); },
                  [](Emitter &e, ElementType type) { return e.highest(type); }, unchanged});
}

void reduceMean(Operator &op) {
  reduceWith(op, {same, sumOf, zero, [](Emitter &e, const Scalar &sum, const Scalar &count) {
                    return e.div(sum, e.convert(count, sum.type));
                  }});
}

Scalar square(Emitter &e, const Scalar &x) { return e.mul(x, x); }

Scalar root(Emitter &e, const Scalar &sum, const Scalar &) {
  return isFloat(sum.type)
             ? e.math("sqrt", {sum})
             : e.convert(e.math("sqrt", {e.convert(sum, ElementType::F64)}), sum.type);
}

Scalar logarithm(Emitter &e, const Scalar &sum, const Scalar &) {
  return isFloat(sum.type) ? e.math("log", {sum})
                           : e.convert(e.math("log", {e.convert(sum, ElementType::F64)}), sum.type);
}

void reduceSumSquare(Operator &op) { reduceWith(op, {square, sumOf, zero, unchanged}); }
void reduceL2(Operator &op) { reduceWith(op, {square, sumOf, zero, root}); }
void reduceLogSum(Operator &op) { reduceWith(op, {same, sumOf, zero, logarithm}); }

void reduceL1(Operator &op) {
  reduceWith(op, {[](Emitter &e, const Scalar &x) { return e.abs(x); }, sumOf, zero, unchanged});
}

/// log of the sum of e^x, taken from the greatest so that nothing overflows.
void reduceLogSumExp(Operator &op) {
  Emitter &e = op.emit;
  const Value x = op.input(0);
  const auto exponential = [](Emitter &e, const Scalar &x) {
    return isFloat(x.type) ? e.math("exp", {x})
                           : e.convert(e.math("exp", {e.convert(x, ElementType::F64)}), x.type);
  };
  const bool known = !op.has(1) || e.known(op.input(1));
  if (!isFloat(x.type) || !known)
    return reduceWith(op, {exponential, sumOf, zero, logarithm});
  // Infinite ones would give the difference of two infinities.
  reduceMax(op);
  const Value most = op.outputs[0];
  const Value finite = e.elementwise(x.type, {most}, [&](const Scalars &in) {
    const Scalar isFinite = e.compare(Compare::Less, e.abs(in[0]), e.highest(x.type));
    return e.select(isFinite, in[0], e.number(x.type, 0));
  });
  Numbers axes = op.has(1) ? *e.known(op.input(1)) : op.integers("axes");
  Scalars kept = x.dims;
  for (size_t i = 0; i < kept.size(); ++i)
    if (axes.empty() || std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
          return Operator::axisOf(axis, x.rank()) == static_cast<int64_t>(i);
        }))
      kept[i] = e.index(1);
  if (axes.empty() && op.integer("noop_with_empty_axes", 0) != 0)
    return op.set(0, x);
  const Value shift = e.reshape(finite, kept);
  op.inputs[0] =
      e.elementwise(x.type, {x, shift}, [&](const Scalars &in) { return e.sub(in[0], in[1]); });
  reduceWith(op, {exponential, sumOf, zero, logarithm});
  op.set(0, e.elementwise(x.type, {op.outputs[0], finite},
                          [&](const Scalars &in) { return e.add(in[0], in[1]); }));
}

/// The position of the greatest (least) along an axis: the first of equal ones, or the last.
void argument(Operator &op, Compare better) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = op.axis(0, x.rank());
  const bool last = op.integer("select_last_index", 0) != 0;
  const bool keep = op.integer("keepdims", 1) != 0;
  Scalars kept = x.dims;
  kept[static_cast<size_t>(axis)] = e.index(1);
  e.require(e.compare(Compare::Less, e.index(0), x.dims[static_cast<size_t>(axis)]),
            "of no elements none is the greatest or the least");
  const Value out = placeOf(e, x, axis, better, last);
  op.set(0, keep ? e.reshape(out, kept) : out);
}

void argMax(Operator &op) { argument(op, Compare::Greater); }
void argMin(Operator &op) { argument(op, Compare::Less); }

} // namespace

const OperatorTable &reductions() {
  static const OperatorTable table{{"ReduceSum", reduceSum},
                                   {"ReduceProd", reduceProd},
                                   {"ReduceMax", reduceMax},
                                   {"ReduceMin", reduceMin},
                                   {"ReduceMean", reduceMean},
                                   {"ReduceSumSquare", reduceSumSquare},
                                   {"ReduceL1", reduceL1},
                                   {"ReduceL2", reduceL2},
                                   {"ReduceLogSum", reduceLogSum},
                                   {"ReduceLogSumExp", reduceLogSumExp},
                                   {"ArgMax", argMax},
                                   {"ArgMin", argMin}};
  return table;
}

} // namespace plim::importers
