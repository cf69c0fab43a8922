// Elements by position: slices, gathers, scatters, pads. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Operator.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// A negative position counts from the end.
Scalar fromFront(Emitter &e, const Scalar &index, const Scalar &extent) {
  return e.select(e.compare(Compare::Less, index, e.index(0)), e.add(index, extent), index);
}

Scalar positionOf(Emitter &e, const Value &indices, const Scalars &at, const Scalar &extent) {
  return fromFront(e, e.convert(e.at(indices, at), ElementType::Index), extent);
}

Scalar clamp(Emitter &e, const Scalar &x, const Scalar &low, const Scalar &high) {
  return e.max(low, e.min(x, high));
}

Scalars numbers(Emitter &e, const Numbers &values) {
  Scalars out;
  for (int64_t value : values)
    out.push_back(e.index(value));
  return out;
}

void slice(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool byInputs = op.opset >= 10;
  const Scalars starts = byInputs ? e.elements(op.input(1)) : numbers(e, op.integers("starts"));
  const Scalars ends = byInputs ? e.elements(op.input(2)) : numbers(e, op.integers("ends"));
  Scalars axes = byInputs ? (op.has(3) ? e.elements(op.input(3)) : Scalars())
                          : numbers(e, op.integers("axes"));
  const Scalars steps =
      byInputs && op.has(4) ? e.elements(op.input(4)) : Scalars(starts.size(), e.index(1));
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(e.index(static_cast<int64_t>(i)));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    invalid("starts, ends, axes and steps must have as many elements");
  const Scalar zero = e.index(0), one = e.index(1), minusOne = e.index(-1);
  const size_t rank = x.dims.size();
  Scalars offsets(rank, zero), sizes = x.dims, strides(rank, one);
  bool plain = true;
  auto apply = [&](size_t i, const Scalar &active, size_t k) {
    const Scalar &extent = x.dims[i];
    const Scalar backwards = e.compare(Compare::Less, steps[k], zero);
    const Scalar start = fromFront(e, starts[k], extent), end = fromFront(e, ends[k], extent);
    // Of nothing, the last element lies in front of the first one.
    const Scalar first = e.select(backwards, e.min(e.max(start, zero), e.sub(extent, one)),
                                  clamp(e, start, zero, extent));
    // Below the first element is behind the end of one that goes backwards.
    const Scalar last =
        e.select(backwards, clamp(e, end, minusOne, extent), clamp(e, end, zero, extent));
    const Scalar size = e.max(zero, e.ceilDiv(e.sub(last, first), steps[k]));
    plain &= steps[k].known && *steps[k].known > 0 && active.is(1);
    offsets[i] = e.select(active, first, offsets[i]);
    sizes[i] = e.select(active, size, sizes[i]);
    strides[i] = e.select(active, steps[k], strides[i]);
  };
  for (size_t k = 0; k < starts.size(); ++k) {
    if (axes[k].known) {
      apply(static_cast<size_t>(Operator::axisOf(*axes[k].known, x.rank())), e.truth(true), k);
      continue;
    }
    for (size_t i = 0; i < rank; ++i)
      apply(i,
            e.compare(Compare::Equal, fromFront(e, axes[k], e.index(x.rank())),
                      e.index(static_cast<int64_t>(i))),
            k);
  }
  const auto isKnown = [](const Scalar &scalar) { return scalar.known.has_value(); };
  if (std::all_of(offsets.begin(), offsets.end(), isKnown) &&
      std::all_of(strides.begin(), strides.end(), isKnown))
    if (auto known = e.rearranged(x, sizes, [&](const Numbers &position) {
          Numbers from(rank);
          for (size_t i = 0; i < rank; ++i)
            from[i] = *offsets[i].known + position[i] * *strides[i].known;
          return from;
        }))
      return op.set(0, *known);
  if (sameExtents(sizes, x.dims) &&
      std::all_of(strides.begin(), strides.end(), [](const Scalar &s) { return s.is(1); }))
    return op.set(0, x);
  if (plain)
    return op.set(0, e.slice(x, offsets, sizes, strides));
  e.use(x);
  op.set(0, e.generate(x.type, sizes, [&](const Scalars &position) {
    Scalars at;
    for (size_t i = 0; i < rank; ++i)
      at.push_back(e.add(offsets[i], e.mul(position[i], strides[i])));
    return e.at(x, at);
  }));
}

void gather(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1);
  const auto axis = static_cast<size_t>(op.axis(0, x.rank()));
  if (x.elements && x.rank() == 1 && indices.rank() <= 1)
    if (const auto known = e.known(indices)) {
      Scalars out;
      const auto extent = static_cast<int64_t>(x.elements->size());
      for (int64_t i : *known)
        out.push_back((*x.elements)[static_cast<size_t>(Operator::axisOf(i, extent))]);
      return op.set(
          0, e.ofElements(x.type,
                          indices.rank() ? Numbers{static_cast<int64_t>(out.size())} : Numbers(),
                          out));
    }
  if (indices.rank() == 0) {
    const Scalar at = fromFront(e, e.firstIndex(indices), x.dims[axis]);
    if (at.known && x.dims[axis].known && (*at.known < 0 || *at.known >= *x.dims[axis].known))
      invalid("index " + std::to_string(*at.known) + " of " + std::to_string(*x.dims[axis].known) +
              " elements");
    return op.set(0, e.pick(x, static_cast<int64_t>(axis), at));
  }
  Scalars dims(x.dims.begin(), x.dims.begin() + static_cast<long>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<long>(axis) + 1, x.dims.end());
  e.use(x);
  e.use(indices);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    const auto middle = position.begin() + static_cast<long>(axis);
    const auto end = middle + indices.rank();
    Scalars at(position.begin(), middle);
    at.push_back(positionOf(e, indices, Scalars(middle, end), x.dims[axis]));
    at.insert(at.end(), end, position.end());
    return e.at(x, at);
  }));
}

void gatherElements(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1);
  const auto axis = static_cast<size_t>(op.axis(0, x.rank()));
  e.use(x);
  e.use(indices);
  op.set(0, e.generate(x.type, indices.dims, [&](const Scalars &position) {
    Scalars at = position;
    at[axis] = positionOf(e, indices, position, x.dims[axis]);
    return e.at(x, at);
  }));
}

void gatherND(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1);
  const auto batch = static_cast<size_t>(std::max<int64_t>(op.integer("batch_dims", 0), 0));
  if (indices.rank() == 0 || !indices.dims.back().known)
    unsupported("the last extent of the indices must be known");
  const auto depth = static_cast<size_t>(*indices.dims.back().known);
  if (batch + depth > x.dims.size() || batch >= indices.dims.size())
    invalid("the indices have more dimensions than the tensor");
  Scalars dims(indices.dims.begin(), indices.dims.end() - 1);
  const size_t outer = dims.size();
  dims.insert(dims.end(), x.dims.begin() + static_cast<long>(batch + depth), x.dims.end());
  e.use(x);
  e.use(indices);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    Scalars at(position.begin(), position.begin() + static_cast<long>(batch));
    for (size_t k = 0; k < depth; ++k) {
      Scalars where = position.part(0, outer);
      where.push_back(e.index(static_cast<int64_t>(k)));
      at.push_back(positionOf(e, indices, where, x.dims[batch + k]));
    }
    at.insert(at.end(), position.begin() + static_cast<long>(outer), position.end());
    return e.at(x, at);
  }));
}

Scalar reduced(Emitter &e, const std::string &how, const Scalar &old, const Scalar &update) {
  if (how == "none")
    return update;
  if (how == "add")
    return e.add(old, update);
  if (how == "mul")
    return e.mul(old, update);
  if (how == "max")
    return e.max(old, update);
  return e.min(old, update);
}

/// Updates have the extents that the operator says.
void requireExtents(Emitter &e, const Scalars &dims, const Scalars &needed) {
  if (dims.size() != needed.size())
    invalid("the updates have rank " + std::to_string(dims.size()) + ", not " +
            std::to_string(needed.size()));
  for (size_t i = 0; i < dims.size(); ++i)
    if (!sameExtent(dims[i], needed[i]))
      e.require(e.compare(Compare::Equal, dims[i], needed[i]),
                "the updates have another extent than their indices, or the tensor");
}

/// How an update changes what is there.
using Change = std::function<Value(const Value &so, const Scalars &at, const Scalar &update)>;

Change changeBy(Operator &op) {
  const std::string how = op.choice("reduction", {"none", "add", "mul", "max", "min"});
  return [&e = op.emit, how](const Value &so, const Scalars &at, const Scalar &update) {
    return e.withElement(so, at, how == "none" ? update : reduced(e, how, e.at(so, at), update));
  };
}

void scatterElements(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1), &updates = op.input(2);
  const auto axis = static_cast<size_t>(op.axis(0, x.rank()));
  e.use(indices);
  e.use(updates);
  requireExtents(e, updates.dims, indices.dims);
  const Change change = changeBy(op);
  const Scalars first(x.dims.size(), e.index(0));
  op.set(0, e.updateLoop(x, first, updates.dims, [&](const Value &so, const Scalars &position) {
    Scalars at = position;
    at[axis] = positionOf(e, indices, position, x.dims[axis]);
    return change(so, at, e.at(updates, position));
  }));
}

void scatterND(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1), &updates = op.input(2);
  if (indices.rank() == 0 || !indices.dims.back().known)
    unsupported("the last extent of the indices must be known");
  const int64_t depth = *indices.dims.back().known;
  const auto outer = static_cast<size_t>(indices.rank() - 1);
  if (depth > x.rank())
    invalid("the indices have more dimensions than the tensor");
  e.use(indices);
  e.use(updates);
  Scalars needed = indices.dims.part(0, outer);
  const Scalars ofRow = x.dims.from(static_cast<size_t>(depth));
  needed.insert(needed.end(), ofRow.begin(), ofRow.end());
  requireExtents(e, updates.dims, needed);
  const Change change = changeBy(op);
  // Where a row of updates goes is looked up once for it.
  const Scalars rows = updates.dims.part(0, outer), row = updates.dims.from(outer);
  const Scalars firstRow(rows.size(), e.index(0)), first(row.size(), e.index(0));
  op.set(0, e.updateLoop(x, firstRow, rows, [&](const Value &soFar, const Scalars &ofRow) {
    Scalars place;
    for (int64_t k = 0; k < depth; ++k) {
      Scalars where = ofRow;
      where.push_back(e.index(k));
      place.push_back(positionOf(e, indices, where, x.dims[static_cast<size_t>(k)]));
    }
    return e.updateLoop(soFar, first, row, [&](const Value &so, const Scalars &inRow) {
      Scalars at = place, from = ofRow;
      at.insert(at.end(), inRow.begin(), inRow.end());
      from.insert(from.end(), inRow.begin(), inRow.end());
      return change(so, at, e.at(updates, from));
    });
  }));
}

/// Fresh elements of each sequence behind those that a cache has of it; around its end if it is a circle.
void tensorScatter(Operator &op) {
  Emitter &e = op.emit;
  const Value &cache = op.input(0), &update = op.input(1);
  const int64_t axis = op.axis(-2, cache.rank());
  if (axis == 0)
    invalid("the axis is that of the batch");
  const auto a = static_cast<size_t>(axis);
  const bool isCircle = op.choice("mode", {"linear", "circular"}) == "circular";
  const Scalar zero = e.index(0), one = e.index(1);
  Scalars needed = cache.dims;
  needed[a] = update.dims.at(a);
  requireExtents(e, update.dims, needed);
  const Scalar room = cache.dims[a], length = needed[a];
  e.require(e.compare(Compare::LessEqual, length, room), "the update has no room in the cache");
  if (length.is(0) || room.is(0))
    return op.set(0, cache);
  const Value fresh = e.withDims(update, needed);
  Scalars first(cache.dims.size(), zero);
  if (!op.has(2))
    return op.set(0, e.insert(fresh, cache, first));
  const Value &places = op.input(2);
  requireExtents(e, places.dims, {cache.dims[0]});
  e.use(fresh);
  e.use(places);
  op.set(0, e.updateLoop(cache, {zero}, {cache.dims[0]}, [&](const Value &so, const Scalars &b) {
    Scalar place = e.convert(e.at(places, {b[0]}), ElementType::Index);
    auto moved = [&](const Value &into, const Scalar &from, const Scalar &size, const Scalar &to) {
      Scalars offsets = first, sizes = needed;
      offsets[0] = b[0];
      sizes[0] = one;
      offsets[a] = from;
      sizes[a] = size;
      const Value part = e.slice(fresh, offsets, sizes, Scalars(first.size(), one));
      offsets[a] = to;
      return e.insert(part, into, offsets);
    };
    if (!isCircle)
      return moved(so, zero, length, place);
    place = e.mod(place, e.max(room, one));
    const Scalar front = e.min(length, e.sub(room, place));
    return moved(moved(so, zero, front, place), front, e.sub(length, front), zero);
  }));
}

void oneHot(Operator &op) {
  Emitter &e = op.emit;
  const Value &indices = op.input(0), &values = op.input(2);
  const Scalar depth = e.convert(e.only(op.input(1)), ElementType::Index);
  const auto axis = static_cast<size_t>(op.axis(-1, indices.rank() + 1));
  Scalars dims = indices.dims;
  dims.insert(dims.begin() + static_cast<long>(axis), depth);
  const Scalar off = e.at(values, {e.index(0)}), on = e.at(values, {e.index(1)});
  e.use(indices);
  op.set(0, e.generate(values.type, dims, [&](const Scalars &position) {
    Scalars at = position;
    at.erase(at.begin() + static_cast<long>(axis));
    const Scalar hot = positionOf(e, indices, at, depth);
    return e.select(e.compare(Compare::Equal, hot, position[axis]), on, off);
  }));
}

/// The element at a position that may lie outside, which is brought back by the mode.
Scalar inside(Emitter &e, const std::string &mode, const Scalar &at, const Scalar &extent) {
  const Scalar zero = e.index(0), last = e.sub(extent, e.index(1));
  if (mode == "edge")
    return clamp(e, at, zero, last);
  if (mode == "wrap")
    return e.mod(at, extent);
  // reflect: there and back again, as often as it takes
  const Scalar period = e.max(e.index(1), e.mul(last, e.index(2)));
  const Scalar phase = e.mod(at, period);
  return e.min(phase, e.sub(period, phase));
}

/// With borders, of elements that `mode` brings from inside: x in the middle, then along one axis after the other what stands
/// beside it, from what is there already. The innermost first: what lies side by side is moved as a whole then.
Value bordered(Emitter &e, const std::string &mode, const Value &x, const Scalars &low,
               const Scalars &high, const Scalars &dims) {
  Scalars offsets = low, sizes = x.dims; // of what is there
  Value out = e.insert(x, e.unset(x.type, dims), low);
  for (size_t axis = x.dims.size(); axis-- > 0;) {
    auto addBorder = [&](const Scalar &first, const Scalar &size) {
      Scalars place = offsets, extents = sizes;
      place[axis] = first;
      extents[axis] = size;
      e.use(out);
      const Value border = e.generate(x.type, extents, [&](const Scalars &position) {
        Scalars at;
        for (size_t i = 0; i < position.size(); ++i)
          at.push_back(e.add(place[i], position[i]));
        at[axis] = e.add(low[axis], inside(e, mode, e.sub(at[axis], low[axis]), x.dims[axis]));
        return e.at(out, at);
      });
      out = e.insert(border, out, place);
    };
    if (!low[axis].is(0) || !high[axis].is(0))
      e.require(e.compare(Compare::Greater, x.dims[axis], e.index(0)),
                "nothing is there to make a border of");
    if (!low[axis].is(0))
      addBorder(e.index(0), low[axis]);
    if (!high[axis].is(0))
      addBorder(e.add(low[axis], x.dims[axis]), high[axis]);
    offsets[axis] = e.index(0);
    sizes[axis] = dims[axis];
  }
  return out;
}

void pad(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const size_t rank = x.dims.size();
  const std::string mode = op.choice("mode", {"constant", "edge", "reflect", "wrap"});
  const Scalars pads = op.opset >= 11
                           ? e.elements(op.input(1))
                           : numbers(e, op.integers(op.opset >= 2 ? "pads" : "paddings"));
  Scalar with = e.number(x.type, op.opset < 11 ? op.real("value", 0) : 0);
  if (op.opset >= 11 && op.has(2))
    with = e.only(op.input(2));
  Scalars axes;
  if (op.has(3))
    axes = e.elements(op.input(3));
  else
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(e.index(static_cast<int64_t>(i)));
  if (pads.size() != 2 * axes.size())
    invalid("pads has " + std::to_string(pads.size()) + " numbers, not " +
            std::to_string(2 * axes.size()));
  Scalars low(rank, e.index(0)), high(rank, e.index(0)), dims;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].known) {
      const auto i = static_cast<size_t>(Operator::axisOf(*axes[k].known, x.rank()));
      low[i] = pads[k];
      high[i] = pads[k + axes.size()];
      continue;
    }
    const Scalar axis = fromFront(e, axes[k], e.index(x.rank()));
    for (size_t i = 0; i < rank; ++i) {
      const Scalar isIt = e.compare(Compare::Equal, axis, e.index(static_cast<int64_t>(i)));
      low[i] = e.select(isIt, pads[k], low[i]);
      high[i] = e.select(isIt, pads[k + axes.size()], high[i]);
    }
  }
  bool known = true, negative = false;
  for (size_t i = 0; i < rank; ++i) {
    dims.push_back(e.add(e.add(x.dims[i], low[i]), high[i]));
    if (dims[i].known && *dims[i].known < 0)
      invalid("dimension " + std::to_string(i) + " would have " + std::to_string(*dims[i].known) +
              " elements");
    known &= low[i].known && high[i].known;
    negative |= (low[i].known && *low[i].known < 0) || (high[i].known && *high[i].known < 0);
  }
  if (mode == "constant" && known && !negative)
    return op.set(0, e.pad(x, low, high, with));
  if (known && !negative)
    return op.set(0, bordered(e, mode, x, low, high, dims));
  e.use(x);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    Scalars at;
    Scalar isInside = e.truth(true);
    for (size_t i = 0; i < rank; ++i) {
      const Scalar here = e.sub(position[i], low[i]);
      if (mode == "constant")
        isInside = e.both(isInside, e.both(e.compare(Compare::GreaterEqual, here, e.index(0)),
                                           e.compare(Compare::Less, here, x.dims[i])));
      at.push_back(mode == "constant" ? here : inside(e, mode, here, x.dims[i]));
    }
    return e.branch(
        isInside, [&]() -> Scalars { return {e.at(x, at)}; },
        [&]() -> Scalars { return {with}; })[0];
  }));
}

void reverseSequence(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &lengths = op.input(1);
  const auto batch = static_cast<size_t>(Operator::axisOf(op.integer("batch_axis", 1), x.rank()));
  const auto time = static_cast<size_t>(Operator::axisOf(op.integer("time_axis", 0), x.rank()));
  e.use(x);
  e.use(lengths);
  op.set(0, e.generate(x.type, x.dims, [&](const Scalars &position) {
    const Scalar length = e.convert(e.at(lengths, {position[batch]}), ElementType::Index);
    const Scalar back = e.sub(e.sub(length, e.index(1)), position[time]);
    Scalars at = position;
    at[time] = e.select(e.compare(Compare::Less, position[time], length), back, position[time]);
    return e.at(x, at);
  }));
}

void trilu(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar k = op.has(1) ? e.firstIndex(op.input(1)) : e.index(0);
  const bool upper = op.integer("upper", 1) != 0;
  if (x.rank() < 2)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no matrices");
  e.use(x);
  op.set(0, e.generate(x.type, x.dims, [&](const Scalars &position) {
    const Scalar above = e.sub(position[position.size() - 1], position[position.size() - 2]);
    const Scalar stays = e.compare(upper ? Compare::GreaterEqual : Compare::LessEqual, above, k);
    return e.select(stays, e.at(x, position), e.number(x.type, 0));
  }));
}

/// What lies in the middle of both, with zeros around it.
void centerCropPad(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  op.onlyAttributes({"axes"});
  const Scalars wanted = e.elements(op.input(1));
  Numbers axes = op.integers("axes");
  if (!op.hasAttribute("axes"))
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  if (wanted.size() != axes.size())
    invalid("shape has " + std::to_string(wanted.size()) + " numbers, not " +
            std::to_string(axes.size()));
  const Scalar zero = e.index(0), two = e.index(2);
  Scalars dims = x.dims, offsets(x.dims.size(), zero), kept = dims, low = offsets, high = offsets;
  std::vector<bool> isNamed(x.dims.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto i = static_cast<size_t>(Operator::axisOf(axes[k], x.rank()));
    if (isNamed[i])
      invalid("axis " + std::to_string(axes[k]) + " is there twice");
    isNamed[i] = true;
    e.require(e.compare(Compare::GreaterEqual, wanted[k], zero), "shape has a negative extent");
    dims[i] = wanted[k];
    // Of an odd number the smaller half goes, or comes, in front.
    offsets[i] = e.div(e.max(zero, e.sub(x.dims[i], dims[i])), two);
    low[i] = e.div(e.max(zero, e.sub(dims[i], x.dims[i])), two);
    kept[i] = e.min(x.dims[i], dims[i]);
    high[i] = e.sub(e.sub(dims[i], kept[i]), low[i]);
  }
  const Value part =
      sameExtents(kept, x.dims) ? x : e.slice(x, offsets, kept, Scalars(x.dims.size(), e.index(1)));
  op.set(0, e.withDims(e.pad(part, low, high, e.number(x.type, 0)), dims));
}

} // namespace

const OperatorTable &indexing() {
  static const OperatorTable table{{"Slice", slice},
                                   {"Gather", gather},
                                   {"GatherElements", gatherElements},
                                   {"GatherND", gatherND},
                                   {"Scatter", scatterElements},
                                   {"ScatterElements", scatterElements},
                                   {"ScatterND", scatterND},
                                   {"OneHot", oneHot},
                                   {"Pad", pad},
                                   {"CenterCropPad", centerCropPad},
                                   {"ReverseSequence", reverseSequence},
                                   {"Trilu", trilu}};
  return table;
}

const DescribedTable &newerIndexing() {
  static const DescribedTable table{
      {"TensorScatter", {since<24, tensorScatter>, 2, 3, 1, "axis mode"}}};
  return table;
}

} // namespace plim::importers
