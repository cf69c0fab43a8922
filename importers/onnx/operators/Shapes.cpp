// Shapes: reading and changing them. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Operator.h"

#include <algorithm>
#include <numeric>

namespace plim::importers {

namespace {

void shape(Operator &op) {
  const Value &x = op.inputs[0];
  const int64_t rank = op.input(0).rank();
  auto bound = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = bound(op.integer("start", 0));
  const int64_t end = std::max(start, bound(op.integer("end", rank)));
  op.set(0, op.emit.list(Scalars(x.dims.begin() + start, x.dims.begin() + end)));
}

void size(Operator &op) { op.set(0, op.emit.scalar(op.emit.count(op.input(0)))); }

/// Extents with the one that stands for the rest filled in.
Scalars completed(Operator &op, const Value &x, Scalars dims, bool zeroCopies) {
  Emitter &e = op.emit;
  const Scalar one = e.index(1), none = e.index(0);
  Scalar others = one, hasRest = e.truth(false);
  Scalars isRest;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Scalar own = i < x.dims.size() ? x.dims[i] : none;
    // A computed extent is meant, if it is 0 too: that of an empty batch, say.
    if (zeroCopies && !sameExtent(dims[i], own) && (dims[i].known || !e.isNatural(dims[i])))
      dims[i] = e.select(e.compare(Compare::Equal, dims[i], none), own, dims[i]);
    isRest.push_back(e.compare(Compare::Less, dims[i], none));
    others = e.mul(others, e.select(isRest[i], one, dims[i]));
  }
  // Extents that are on both sides cancel.
  Scalars left = x.dims;
  Scalar divisor = one;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (isRest[i].is(1))
      continue;
    const Scalar extent = e.select(isRest[i], one, dims[i]);
    auto found = std::find_if(left.begin(), left.end(), [&](const Scalar &dim) {
      return sameExtent(dim, extent) && !dim.is(0);
    });
    if (found != left.end())
      left.erase(found);
    else
      divisor = e.mul(divisor, extent);
  }
  Scalar total = one;
  for (const Scalar &dim : left)
    total = e.mul(total, dim);
  if (total.known && divisor.known && *divisor.known > 0 &&
      std::any_of(isRest.begin(), isRest.end(), [](const Scalar &is) { return is.is(1); }) &&
      *total.known % *divisor.known != 0)
    invalid("the elements cannot be divided among the extents of the new shape");
  for (size_t i = 0; i < dims.size(); ++i)
    if (!isRest[i].is(0)) {
      const std::optional<Scalar> rest = e.quotientOf(total, divisor);
      dims[i] = e.select(isRest[i], rest ? *rest : e.div(total, e.max(divisor, one)), dims[i]);
    }
  return dims;
}

void reshape(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Scalars dims;
  if (op.opset < 5)
    for (int64_t extent : op.integers("shape"))
      dims.push_back(e.index(extent));
  else
    dims = e.elements(op.input(1));
  op.set(0, e.reshape(x, completed(op, x, dims, op.integer("allowzero", 0) == 0)));
}

void flatten(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  int64_t axis = op.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    invalid("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(x.rank()));
  axis += axis < 0 ? x.rank() : 0;
  Scalar before = e.index(1), after = e.index(1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    Scalar &part = i < axis ? before : after;
    part = e.mul(part, x.dims[static_cast<size_t>(i)]);
  }
  op.set(0, e.reshape(x, {before, after}));
}

/// Axes as an attribute, or an input since opset 13; none if only a run knows them.
std::optional<Numbers> axesOf(Operator &op, size_t input) {
  if (op.has(input))
    return op.emit.known(op.input(input));
  return op.integers("axes");
}

/// Is it one of the axes, from the front or the back?
Scalar isOneOf(Emitter &e, const Scalars &axes, int64_t axis, int64_t rank) {
  Scalar out = e.truth(false);
  for (const Scalar &given : axes)
    out = e.either(out, e.either(e.compare(Compare::Equal, given, e.index(axis)),
                                 e.compare(Compare::Equal, given, e.index(axis - rank))));
  return out;
}

void squeeze(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Scalars dims;
  if (op.has(1) && !e.known(op.input(1))) {
    const Scalars axes = e.elements(op.input(1));
    for (int64_t k = 0; k + static_cast<int64_t>(axes.size()) < x.rank(); ++k) {
      Scalar seen = e.index(0), extent = e.index(1);
      for (int64_t i = 0; i < x.rank(); ++i) {
        const Scalar stays = e.negation(isOneOf(e, axes, i, x.rank()));
        const Scalar &own = x.dims[static_cast<size_t>(i)];
        extent = e.select(e.both(stays, e.compare(Compare::Equal, seen, e.index(k))), own, extent);
        seen = e.add(seen, e.select(stays, e.index(1), e.index(0)));
      }
      dims.push_back(extent);
    }
    return op.set(0, e.reshape(x, dims));
  }
  const bool all = !op.has(1) && !op.hasAttribute("axes");
  Numbers axes = *axesOf(op, 1);
  for (int64_t &axis : axes)
    axis = Operator::axisOf(axis, x.rank());
  for (int64_t i = 0; i < x.rank(); ++i) {
    const Scalar &dim = x.dims[static_cast<size_t>(i)];
    if (all && !dim.known)
      unsupported("which extents are 1 must be known");
    const bool goes = all ? dim.is(1) : std::find(axes.begin(), axes.end(), i) != axes.end();
    if (goes && dim.known && !dim.is(1))
      invalid("axis " + std::to_string(i) + " has " + std::to_string(*dim.known) +
              " elements, not 1");
    if (!goes)
      dims.push_back(dim);
  }
  op.set(0, e.reshape(x, dims));
}

void unsqueeze(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Scalars dims;
  const auto known = axesOf(op, 1);
  const Scalars axes = known ? Scalars() : e.elements(op.input(1));
  const int64_t rank = x.rank() + static_cast<int64_t>(known ? known->size() : axes.size());
  if (!known) {
    Scalar seen = e.index(0);
    for (int64_t i = 0; i < rank; ++i) {
      const Scalar isNew = isOneOf(e, axes, i, rank);
      Scalar extent = e.index(1);
      for (int64_t k = 0; k < x.rank(); ++k)
        extent = e.select(e.both(e.negation(isNew), e.compare(Compare::Equal, seen, e.index(k))),
                          x.dims[static_cast<size_t>(k)], extent);
      seen = e.add(seen, e.select(isNew, e.index(0), e.index(1)));
      dims.push_back(extent);
    }
    return op.set(0, e.reshape(x, dims));
  }
  std::vector<bool> isNew(static_cast<size_t>(rank));
  for (int64_t axis : *known) {
    const auto at = static_cast<size_t>(Operator::axisOf(axis, rank));
    if (isNew[at])
      invalid("axis " + std::to_string(axis) + " is there twice");
    isNew[at] = true;
  }
  size_t next = 0;
  for (bool is : isNew)
    dims.push_back(is ? e.index(1) : x.dims[next++]);
  op.set(0, e.reshape(x, dims));
}

void transpose(Operator &op) {
  const Value &x = op.input(0);
  Axes order = op.integers("perm");
  if (order.empty())
    for (int64_t i = x.rank(); i-- > 0;)
      order.push_back(i);
  Axes sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Axes all(x.dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    invalid("perm is no order of the dimensions of a tensor of rank " + std::to_string(x.rank()));
  op.set(0, op.emit.transpose(x, order));
}

void expand(Operator &op) {
  const Value &x = op.input(0);
  const Scalars dims = op.emit.broadcastDims(x.dims, op.emit.elements(op.input(1)));
  op.set(0, op.emit.broadcast(x, dims));
}

void concat(Operator &op) {
  Emitter &e = op.emit;
  Values values;
  bool small = true;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    values.push_back(op.input(i));
    small &= values.back().elements.has_value() && values.back().rank() == 1;
    if (values[i].rank() != values[0].rank() || values[i].type != values[0].type)
      invalid("inputs 0 and " + std::to_string(i) + " differ in rank or type");
  }
  const int64_t axis = op.axis(1, values[0].rank());
  for (const Value &value : values)
    for (int64_t d = 0; d < value.rank(); ++d) {
      const Scalar &a = value.dims[static_cast<size_t>(d)],
                   &b = values[0].dims[static_cast<size_t>(d)];
      if (d != axis && a.known && b.known && *a.known != *b.known)
        invalid("inputs have " + std::to_string(*a.known) + " and " + std::to_string(*b.known) +
                " elements along axis " + std::to_string(d));
    }
  if (!small)
    return op.set(0, e.concatenate(values, axis));
  Scalars all;
  for (const Value &value : values)
    all.insert(all.end(), value.elements->begin(), value.elements->end());
  if (all.size() > 1024)
    return op.set(0, e.concatenate(values, axis));
  const auto count = static_cast<int64_t>(all.size());
  op.set(0, e.ofElements(values[0].type, {count}, std::move(all)));
}

void split(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = op.axis(0, x.rank());
  const Scalar &extent = x.dims[static_cast<size_t>(axis)];
  const auto parts = static_cast<int64_t>(op.node.outputs.size());
  Scalars sizes;
  if (op.has(1))
    sizes = e.elements(op.input(1));
  else
    for (int64_t part : op.integers("split"))
      sizes.push_back(e.index(part));
  if (sizes.empty()) {
    const Scalar each = e.ceilDiv(extent, e.index(parts));
    Scalar rest = extent;
    for (int64_t i = 0; i < parts; ++i) {
      sizes.push_back(extent.known ? e.max(e.index(0), e.min(each, rest)) : e.min(each, rest));
      rest = e.sub(rest, sizes.back());
    }
  }
  if (static_cast<int64_t>(sizes.size()) != parts)
    invalid("it has " + std::to_string(parts) + " outputs, but " + std::to_string(sizes.size()) +
            " sizes");
  Scalar offset = e.index(0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Scalar end = e.add(offset, sizes[i]);
    if (end.known && extent.known && *end.known > *extent.known)
      invalid("the parts are larger than the whole");
    op.set(i, e.sliceAxis(x, axis, offset, sizes[i]));
    offset = end;
  }
}

void tile(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Scalars repeats;
  if (op.opset >= 6) {
    repeats = e.elements(op.input(1));
  } else {
    repeats.assign(x.dims.size(), e.index(1));
    repeats[static_cast<size_t>(Operator::axisOf(e.elements(op.input(2))[0].known.value_or(0),
                                                 x.rank()))] = e.firstIndex(op.input(1));
  }
  if (repeats.size() != x.dims.size())
    invalid("repeats has " + std::to_string(repeats.size()) + " numbers, the tensor " +
            std::to_string(x.rank()) + " dimensions");
  Scalars apart, repeated, dims; // each dimension behind one of its own for what repeats it
  for (size_t i = 0; i < repeats.size(); ++i) {
    apart.insert(apart.end(), {e.index(1), x.dims[i]});
    repeated.insert(repeated.end(), {repeats[i], x.dims[i]});
    dims.push_back(e.mul(x.dims[i], repeats[i]));
  }
  op.set(0, e.reshape(e.broadcast(e.reshape(x, apart), repeated), dims));
}

void identity(Operator &op) { op.set(0, op.inputs[0]); }

void depthToSpace(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar block = e.index(op.integer("blocksize", 1));
  if (x.rank() != 4 || *block.known < 1)
    invalid("the tensor must have rank 4, and the block at least 1 element");
  const Scalar depth = e.div(x.dims[1], e.mul(block, block));
  const bool columns = op.choice("mode", {"DCR", "CRD"}) == "CRD";
  const Scalars parts = columns ? Scalars{x.dims[0], depth, block, block, x.dims[2], x.dims[3]}
                                : Scalars{x.dims[0], block, block, depth, x.dims[2], x.dims[3]};
  const Value moved =
      e.transpose(e.reshape(x, parts), columns ? Axes{0, 1, 4, 2, 5, 3} : Axes{0, 3, 4, 1, 5, 2});
  op.set(0, e.reshape(moved, {x.dims[0], depth, e.mul(x.dims[2], block), e.mul(x.dims[3], block)}));
}

void spaceToDepth(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar block = e.index(op.integer("blocksize", 1));
  if (x.rank() != 4 || *block.known < 1)
    invalid("the tensor must have rank 4, and the block at least 1 element");
  const Scalar height = e.div(x.dims[2], block), width = e.div(x.dims[3], block);
  const Value moved = e.transpose(e.reshape(x, {x.dims[0], x.dims[1], height, block, width, block}),
                                  {0, 3, 5, 1, 2, 4});
  op.set(0, e.reshape(moved, {x.dims[0], e.mul(x.dims[1], e.mul(block, block)), height, width}));
}

} // namespace

const OperatorTable &shapes() {
  static const OperatorTable table{{"Shape", shape},
                                   {"Size", size},
                                   {"Reshape", reshape},
                                   {"Flatten", flatten},
                                   {"Squeeze", squeeze},
                                   {"Unsqueeze", unsqueeze},
                                   {"Transpose", transpose},
                                   {"Expand", expand},
                                   {"Concat", concat},
                                   {"Split", split},
                                   {"Tile", tile},
                                   {"Identity", identity},
                                   {"DepthToSpace", depthToSpace},
                                   {"SpaceToDepth", spaceToDepth}};
  return table;
}

} // namespace plim::importers
