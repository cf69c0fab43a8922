// Reductions over windows that move. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Moving.h"
#include "importers/stablehlo/Reductions.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

struct Window {
  Numbers extents, strides, dilations, baseDilations, low, high;
};

/// With the padding of each dimension, in front and behind.
Window checked(Window w, const Numbers &padding, size_t rank) {
  for (const Numbers *numbers : {&w.extents, &w.strides, &w.dilations, &w.baseDilations})
    for (int64_t number : *numbers)
      if (number < 1 || number > int64_t(1) << 31)
        invalid("its window has " + std::to_string(number));
  for (size_t i = 0; i < rank; ++i) {
    w.low.push_back(padding[2 * i]);
    w.high.push_back(padding[2 * i + 1]);
  }
  return w;
}

Window windowOf(Operator &op, size_t rank) {
  Window w;
  w.extents = op.integers("window_dimensions", rank, 1);
  w.strides = op.integers("window_strides", rank, 1);
  w.dilations = op.integers("window_dilations", rank, 1);
  w.baseDilations = op.integers("base_dilations", rank, 1);
  return checked(std::move(w), op.integers("padding", 2 * rank, 0), rank);
}

/// How many windows there are along each dimension of a tensor that is padded.
Scalars windowCounts(Emitter &e, const Scalars &dims, const Window &w) {
  Scalars out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Scalar room = e.sub(dims[i], e.index((w.extents[i] - 1) * w.dilations[i] + 1));
    if (room.known && *room.known < 0)
      out.push_back(e.index(0));
    else
      out.push_back(e.add(e.floorDiv(room, e.index(w.strides[i])), e.index(1)));
  }
  return out;
}

void reduceIn(Operator &op, const Window &w, size_t count) {
  Emitter &e = op.emit;
  Reduction reduction = reductionOf(op, count);
  Numbers interior;
  for (int64_t dilation : w.baseDilations)
    interior.push_back(dilation - 1);
  for (size_t i = 0; i < reduction.inputs.size(); ++i)
    reduction.inputs[i] =
        pad(e, reduction.inputs[i], reduction.initial[i], w.low, w.high, interior);
  const Scalars dims = windowCounts(e, reduction.inputs[0].dims, w);
  if (std::any_of(dims.begin(), dims.end(), [](const Scalar &dim) { return dim.is(0); })) {
    for (const Scalar &start : reduction.initial)
      op.give(e.splat(dims, start));
    return;
  }
  op.outputs = e.reduceWindows(reduction.inputs, w.extents, w.strides, w.dilations, dims,
                               reduction.initial, reduction.combine);
}

void reduceWindow(Operator &op) {
  const size_t count = pairsOf(op);
  reduceIn(op, windowOf(op, op.input(0).dims.size()), count);
}

/// The window stands in operands behind the initial values, as JAX writes it where extents are open; they must be known.
void dynamicReduceWindow(Operator &op) {
  const size_t count = (op.inputs.size() - 5) / 2, rank = op.input(0).dims.size();
  if (count == 0 || op.inputs.size() != 2 * count + 5)
    invalid("it needs an initial value for each operand");
  auto numbers = [&](size_t input, size_t size) {
    const auto known = op.emit.known(op.input(2 * count + input));
    if (!known)
      unsupported("its window must be known");
    if (known->size() != size)
      invalid("its window does not fit the rank of its operands");
    return *known;
  };
  Window w;
  w.extents = numbers(0, rank);
  w.strides = numbers(1, rank);
  w.baseDilations = numbers(2, rank);
  w.dilations = numbers(3, rank);
  reduceIn(op, checked(std::move(w), numbers(4, 2 * rank), rank), count);
}

/// Of each window one element is selected, to which an element of the source goes.
void selectAndScatter(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &source = op.input(1), &start = op.input(2);
  checkSameType(x, source);
  checkSameType(x, start);
  const size_t rank = x.dims.size();
  const Window w = windowOf(op, rank);
  const Region &select = op.region(0), &scatter = op.region(1);
  if (source.dims.size() != rank || start.rank() != 0)
    invalid("the ranks of its operands do not fit");
  Scalars padded;
  for (size_t i = 0; i < rank; ++i)
    padded.push_back(e.add(x.dims[i], e.index(w.low[i] + w.high[i])));
  const Scalars counts = windowCounts(e, padded, w);
  for (size_t i = 0; i < rank; ++i)
    if (counts[i].known && source.dims[i].known && *counts[i].known != *source.dims[i].known)
      invalid("there are " + std::to_string(*counts[i].known) + " windows, but the source has " +
              std::to_string(*source.dims[i].known) + " elements");
  e.use(x);
  e.use(source);
  const Scalar zero = e.index(0), initial = e.only(start);
  Scalars window;
  for (int64_t extent : w.extents)
    window.push_back(e.index(extent));
  const Value filled = e.fill(x.dims, initial);
  if (e.count(x).is(0) || e.count(source).is(0))
    return op.give(filled);
  op.give(e.updateLoop(
      filled, Scalars(rank, zero), source.dims, [&](const Value &so, const Scalars &at) {
        Scalars state(rank, zero); // where the selected one is
        state.push_back(e.truth(false));
        state.push_back(initial);
        const Scalars best = e.loops(
            Scalars(rank, zero), window, state, [&](const Scalars &inside, const Scalars &carried) {
              Scalars from;
              Scalar isThere = e.truth(true);
              for (size_t i = 0; i < rank; ++i) {
                from.push_back(e.add(e.sub(e.mul(at[i], e.index(w.strides[i])), e.index(w.low[i])),
                                     inside[i]));
                isThere = e.both(isThere, e.compare(Compare::GreaterEqual, from[i], zero));
                isThere = e.both(isThere, e.compare(Compare::Less, from[i], x.dims[i]));
              }
              return e.branch(
                  isThere,
                  [&] {
                    const Scalar here = e.at(x, from);
                    const Scalar stays =
                        callOnElements(op, select, {carried[rank + 1], here}, {ElementType::I1})[0];
                    const Scalar keeps = e.both(carried[rank], stays);
                    Scalars next;
                    for (size_t i = 0; i < rank; ++i)
                      next.push_back(e.select(keeps, carried[i], from[i]));
                    next.push_back(e.truth(true));
                    next.push_back(e.select(keeps, carried[rank + 1], here));
                    return next;
                  },
                  [&] { return carried; });
            });
        const Scalars place = best.part(0, rank);
        const Scalar old = e.at(so, place);
        const Scalar next = callOnElements(op, scatter, {old, e.at(source, at)}, {x.type})[0];
        return e.withElement(so, place, e.select(best[rank], next, old));
      }));
}

} // namespace

const OperationTable &windows() {
  static const OperationTable table{
      {"stablehlo.dynamic_reduce_window", {dynamicReduceWindow, 7, any}},
      {"stablehlo.reduce_window", {reduceWindow, 2, any}},
      {"stablehlo.select_and_scatter", {selectAndScatter, 3, 3}}};
  return table;
}

} // namespace plim::importers::stablehlo
