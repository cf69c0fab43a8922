// Operations that move elements, and that make them of nothing. Each is a section of https://openxla.org/stablehlo/spec under
// its name.
#include "importers/stablehlo/Moving.h"

#include "importers/stablehlo/Importer.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

constexpr int64_t maxPadding = int64_t(1) << 40;

bool isZero(const Numbers &values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

} // namespace

Value reverse(Emitter &e, const Value &value, const Axes &axes) {
  if (axes.empty() || value.splat)
    return value;
  e.use(value);
  return e.generate(value.type, value.dims, [&](const Scalars &position) {
    Scalars at = position;
    for (int64_t axis : axes) {
      const auto i = static_cast<size_t>(axis);
      at[i] = e.sub(e.sub(value.dims[i], e.index(1)), position[i]);
    }
    return e.at(value, at);
  });
}

Value pad(Emitter &e, const Value &value, const Scalar &with, const Numbers &low,
          const Numbers &high, const Numbers &interior) {
  const size_t rank = value.dims.size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    invalid("its padding does not fit the rank of its operand");
  for (size_t i = 0; i < rank; ++i)
    if (std::abs(low[i]) > maxPadding || std::abs(high[i]) > maxPadding || interior[i] < 0 ||
        interior[i] > maxPadding)
      invalid("its padding is out of range");
  Scalars dims;
  bool isPlain = isZero(interior);
  for (size_t i = 0; i < rank; ++i) {
    isPlain &= low[i] >= 0 && high[i] >= 0;
    const Scalar &extent = value.dims[i];
    const Scalar gaps = e.max(e.index(0), e.sub(extent, e.index(1)));
    const Scalar inner = e.add(extent, e.mul(gaps, e.index(interior[i])));
    dims.push_back(e.add(inner, e.index(low[i] + high[i])));
    if (dims.back().known && *dims.back().known < 0)
      invalid("its padding takes more than there is");
    if (dims.back().known && *dims.back().known > maxPadding)
      invalid("its padding is out of range");
  }
  if (isPlain && isZero(low) && isZero(high))
    return value;
  if (isPlain) {
    Scalars before, after;
    for (size_t i = 0; i < rank; ++i) {
      before.push_back(e.index(low[i]));
      after.push_back(e.index(high[i]));
    }
    e.use(with);
    return e.pad(value, before, after, with);
  }
  if (isZero(interior)) { // some ends are cut, then others are padded
    Scalars offsets, sizes, before, after;
    bool isEmpty = false;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t cutLow = std::max<int64_t>(0, -low[i]),
                    cutHigh = std::max<int64_t>(0, -high[i]);
      offsets.push_back(e.index(cutLow));
      sizes.push_back(e.sub(value.dims[i], e.index(cutLow + cutHigh)));
      isEmpty |= sizes.back().known && *sizes.back().known <= 0;
      before.push_back(e.index(std::max<int64_t>(0, low[i])));
      after.push_back(e.index(std::max<int64_t>(0, high[i])));
    }
    if (!isEmpty)
      return e.pad(e.slice(value, offsets, sizes, Scalars(rank, e.index(1))), before, after, with);
  }
  e.use(value);
  e.use(with);
  return e.generate(value.type, dims, [&](const Scalars &position) {
    Scalar inside = e.truth(true);
    Scalars at;
    for (size_t i = 0; i < rank; ++i) {
      const Scalar step = e.index(interior[i] + 1);
      const Scalar moved = e.sub(position[i], e.index(low[i])), source = e.floorDiv(moved, step);
      inside = e.both(inside, e.compare(Compare::GreaterEqual, moved, e.index(0)));
      inside = e.both(inside, e.compare(Compare::Less, source, value.dims[i]));
      if (interior[i])
        inside = e.both(inside, e.compare(Compare::Equal, e.mul(source, step), moved));
      at.push_back(source);
    }
    return e.branch(
        inside, [&]() -> Scalars { return {e.at(value, at)}; },
        [&]() -> Scalars { return {with}; })[0];
  });
}

Scalars shapeOf(Emitter &e, const Value &list) {
  if (list.rank() != 1 || !isInteger(list.type) || list.type == ElementType::I1)
    invalid("a shape must be a list of integers");
  if (const auto known = e.known(list)) {
    Scalars out;
    for (int64_t extent : *known) {
      if (extent < 0 || extent > maxPadding)
        invalid("an extent of " + std::to_string(extent));
      out.push_back(e.index(extent));
    }
    return out;
  }
  return e.elements(list);
}

namespace {

/// Extents that the type of the result knows are those.
Scalars withKnown(Operator &op, Scalars dims) {
  const Type &type = op.resultType(0);
  if (type.shape.size() != dims.size())
    invalid("its shape has " + std::to_string(dims.size()) + " extents, but its result a rank of " +
            std::to_string(type.shape.size()));
  for (size_t i = 0; i < dims.size(); ++i)
    if (type.shape[i] != open && !dims[i].known)
      dims[i] = op.emit.index(type.shape[i]);
  return dims;
}

/// The parts of complex numbers along a last dimension.
Tensor partsOf(const Tensor &data) {
  Tensor out = data;
  out.type = partOf(data.type);
  out.shape.push_back(2);
  return out;
}

void constant(Operator &op) {
  Emitter &e = op.emit;
  const auto found = op.operation.attributes.find("value");
  if (found == op.operation.attributes.end() || (found->second.kind != Attribute::Kind::Dense &&
                                                 found->second.kind != Attribute::Kind::Resource))
    invalid("its value is missing");
  const Attribute &value = found->second;
  TensorPtr data = value.kind == Attribute::Kind::Resource
                       ? op.importer.resource(value.text, value.type)
                       : value.dense;
  const Scalars dims = op.knownDims(value.type);
  const bool isSplat = data->shape.size() != value.type.shape.size() || value.type.shape.empty();
  if (isSplat) {
    if (isComplex(data->type)) {
      const Tensor parts = partsOf(*data);
      return op.give(e.splat(dims, e.complexNumber(data->type, parts.realAt(0), parts.realAt(1))));
    }
    const Scalar element = isFloat(data->type) ? e.real(data->type, data->realAt(0))
                           : data->type == ElementType::I1
                               ? e.truth(data->integerAt(0) != 0)
                               : e.integer(data->type, data->integerAt(0));
    return op.give(e.splat(dims, element));
  }
  if (data->name.empty() && !op.operation.results.empty()) {
    auto withName = std::make_shared<Tensor>(*data);
    const std::string_view name = op.operation.results[0].first;
    withName->name = (name[0] >= '0' && name[0] <= '9' ? "constant_" : "") + std::string(name);
    data = withName;
  }
  if (!isComplex(data->type) || data->bytes.size() < e.parameterBytes)
    return op.give(e.constant(data));
  // Parameters are of numbers that files of them have.
  const Value parts = e.constant(std::make_shared<const Tensor>(partsOf(*data)));
  e.use(parts);
  op.give(e.generate(data->type, dims, [&](const Scalars &position) {
    Scalars real = position, imaginary = position;
    real.push_back(e.index(0));
    imaginary.push_back(e.index(1));
    return e.complexOf(e.at(parts, real), e.at(parts, imaginary));
  }));
}

Value counted(Emitter &e, ElementType type, const Scalars &dims, int64_t axis) {
  checkAxes({axis}, static_cast<int64_t>(dims.size()), "iota_dimension");
  if (type == ElementType::I1)
    invalid("its result must be of numbers");
  return e.generate(type, dims, [&](const Scalars &position) {
    return e.convert(position[static_cast<size_t>(axis)], type);
  });
}

void iota(Operator &op) {
  const Type &type = op.resultType(0);
  op.give(counted(op.emit, type.element, op.knownDims(type), op.integer("iota_dimension")));
}

void dynamicIota(Operator &op) {
  const Scalars dims = withKnown(op, shapeOf(op.emit, op.input(0)));
  op.give(counted(op.emit, op.resultType(0).element, dims, op.integer("iota_dimension")));
}

/// Dimension i of the operand is axes[i] of the result; an extent of 1 may repeat.
Value broadcastInto(Operator &op, const Value &value, const Axes &axes, const Scalars &dims) {
  Emitter &e = op.emit;
  const auto rank = static_cast<int64_t>(dims.size());
  checkAxes(axes, rank, "broadcast_dimensions");
  if (axes.size() != value.dims.size())
    invalid("broadcast_dimensions has " + std::to_string(axes.size()) +
            " numbers for an operand with a rank of " + std::to_string(value.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const Scalar &from = value.dims[i], &to = dims[static_cast<size_t>(axes[i])];
    if (from.known && to.known && *from.known != 1 && *from.known != *to.known)
      invalid("an extent of " + std::to_string(*from.known) + " cannot become one of " +
              std::to_string(*to.known));
  }
  if (value.rank() == 0)
    return e.splat(dims, e.only(value));
  // In the order of the result, with extents of 1 where it has more dimensions.
  Axes order(axes.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return axes[static_cast<size_t>(a)] < axes[static_cast<size_t>(b)];
  });
  const Value sorted = e.transpose(value, order);
  Scalars wide(dims.size(), e.index(1));
  bool isClear = true; // whether each extent repeats
  for (size_t i = 0; i < order.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[static_cast<size_t>(order[i])]);
    wide[axis] = sorted.dims[i];
    isClear &= wide[axis].is(1) || sameExtent(wide[axis], dims[axis]);
  }
  const Value reshaped = e.reshape(sorted, wide);
  if (isClear)
    return e.widened(reshaped, dims);
  return e.elementwiseTo(value.type, dims, {reshaped}, [](const Scalars &in) { return in[0]; });
}

void broadcastInDim(Operator &op) {
  op.give(broadcastInto(op, op.input(0), op.integers("broadcast_dimensions"),
                        op.knownDims(op.resultType(0))));
}

void dynamicBroadcastInDim(Operator &op) {
  const Scalars dims = withKnown(op, shapeOf(op.emit, op.input(1)));
  op.give(broadcastInto(op, op.input(0), op.integers("broadcast_dimensions"), dims));
}

/// New dimensions in front.
void broadcast(Operator &op) {
  const auto added = static_cast<int64_t>(op.integers("broadcast_sizes").size());
  Axes axes;
  for (int64_t i = 0; i < op.input(0).rank(); ++i)
    axes.push_back(added + i);
  op.give(broadcastInto(op, op.input(0), axes, op.knownDims(op.resultType(0))));
}

void concatenate(Operator &op) {
  Emitter &e = op.emit;
  const int64_t axis = op.integer("dimension");
  checkAxes({axis}, op.input(0).rank(), "dimension");
  bool areLists = true;
  Values all;
  for (const Value &input : op.inputs) {
    checkSameType(op.input(0), input);
    if (input.rank() != op.input(0).rank())
      invalid("its operands have different ranks");
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const Scalar &own = input.dims[i], &first = op.input(0).dims[i];
      if (static_cast<int64_t>(i) != axis && own.known && first.known && *own.known != *first.known)
        invalid("its operands have extents of " + std::to_string(*first.known) + " and " +
                std::to_string(*own.known) + " beside each other");
    }
    areLists &= input.elements.has_value() && input.rank() == 1;
    if (!input.dims[static_cast<size_t>(axis)].is(0))
      all.push_back(input);
  }
  if (all.empty())
    return op.give(op.input(0));
  if (areLists) { // of extents, mostly
    Scalars elements;
    for (const Value &input : op.inputs)
      elements.insert(elements.end(), input.elements->begin(), input.elements->end());
    if (elements.size() <= 64) {
      const auto size = static_cast<int64_t>(elements.size());
      return op.give(e.ofElements(op.input(0).type, {size}, std::move(elements)));
    }
  }
  op.give(e.concatenate(all, axis));
}

void transpose(Operator &op) {
  const Axes order = op.axes("permutation", op.input(0).rank());
  if (static_cast<int64_t>(order.size()) != op.input(0).rank())
    invalid("permutation has " + std::to_string(order.size()) + " numbers");
  op.give(op.emit.transpose(op.input(0), order));
}

void reverseOperation(Operator &op) {
  op.give(reverse(op.emit, op.input(0), op.axes("dimensions", op.input(0).rank())));
}

void reshape(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (x.rank() == 0 && !x.elements) // as many elements of one
    return op.give(e.splat(op.knownDims(op.resultType(0)), e.only(x)));
  if (x.splat) {
    const Scalars dims = op.knownDims(op.resultType(0));
    const Scalar before = e.count(x), after = e.count(e.splat(dims, *x.splat));
    if (before.known && !after.is(*before.known))
      invalid("a tensor of " + std::to_string(*before.known) + " elements cannot have that shape");
    return op.give(e.splat(dims, *x.splat));
  }
  op.give(e.reshape(x, op.knownDims(op.resultType(0))));
}

void dynamicReshape(Operator &op) {
  op.give(op.emit.reshape(op.input(0), withKnown(op, shapeOf(op.emit, op.input(1)))));
}

void slice(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const size_t rank = x.dims.size();
  const Numbers starts = op.integers("start_indices", rank, 0);
  const Numbers limits = op.integers("limit_indices", rank, 0);
  const Numbers strides = op.integers("strides", rank, 1);
  Scalars offsets, sizes, steps;
  for (size_t i = 0; i < rank; ++i) {
    if (starts[i] < 0 || limits[i] < starts[i] || strides[i] < 1 ||
        (x.dims[i].known && limits[i] > *x.dims[i].known))
      invalid("it takes " + std::to_string(starts[i]) + ":" + std::to_string(limits[i]) + ":" +
              std::to_string(strides[i]) + " of an extent of " +
              (x.dims[i].known ? std::to_string(*x.dims[i].known) : "?"));
    offsets.push_back(e.index(starts[i]));
    sizes.push_back(e.index((limits[i] - starts[i]) / strides[i] +
                            ((limits[i] - starts[i]) % strides[i] != 0)));
    steps.push_back(e.index(strides[i]));
  }
  if (x.elements && rank == 1) {
    Scalars elements;
    for (int64_t i = starts[0]; i < limits[0]; i += strides[0])
      elements.push_back((*x.elements)[static_cast<size_t>(i)]);
    const auto size = static_cast<int64_t>(elements.size());
    return op.give(e.ofElements(x.type, {size}, std::move(elements)));
  }
  if (sameExtents(sizes, x.dims))
    return op.give(x);
  op.give(e.slice(x, offsets, sizes, steps));
}

/// Starts that are tensors of one element each, or one list; clamped so that the slice lies inside.
Scalars startsOf(Operator &op, size_t first, const Scalars &extents, const Scalars &sizes) {
  Emitter &e = op.emit;
  if (op.inputs.size() != first + extents.size())
    invalid("it needs " + std::to_string(extents.size()) + " starts");
  Scalars out;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Value &start = op.input(first + i);
    if (start.rank() != 0 || !isInteger(start.type) || start.type == ElementType::I1)
      invalid("its starts must be integers");
    const Scalar most = e.sub(extents[i], sizes[i]), at = e.firstIndex(start);
    if (most.known && *most.known < 0)
      invalid("a slice of " + std::to_string(*sizes[i].known) + " of an extent of " +
              std::to_string(*extents[i].known));
    out.push_back(most.is(0) ? e.index(0) : e.max(e.index(0), e.min(at, most)));
  }
  return out;
}

void dynamicSlice(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Scalars sizes;
  for (int64_t size : op.integers("slice_sizes", x.dims.size(), 1)) {
    if (size < 0)
      invalid("slice_sizes has " + std::to_string(size));
    sizes.push_back(e.index(size));
  }
  const Scalars starts = startsOf(op, 1, x.dims, sizes);
  if (sameExtents(sizes, x.dims))
    return op.give(x);
  if (sizes.empty() ||
      std::all_of(sizes.begin(), sizes.end(), [](const Scalar &s) { return s.is(1); }))
    return op.give(e.splat(sizes, e.at(x, starts))); // one element
  op.give(e.slice(x, starts, sizes, Scalars(sizes.size(), e.index(1))));
}

void dynamicUpdateSlice(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &update = op.input(1);
  checkSameType(x, update);
  if (x.rank() != update.rank())
    invalid("its operands have different ranks");
  const Scalars starts = startsOf(op, 2, x.dims, update.dims);
  if (std::any_of(update.dims.begin(), update.dims.end(), [](const Scalar &s) { return s.is(0); }))
    return op.give(x);
  if (sameExtents(x.dims, update.dims))
    return op.give(update);
  op.give(e.insert(update, x, starts));
}

/// Starts, limits and strides are lists that a run gives.
void realDynamicSlice(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalars starts = e.elements(op.input(1)), limits = e.elements(op.input(2)),
                strides = e.elements(op.input(3));
  if (starts.size() != x.dims.size() || limits.size() != x.dims.size() ||
      strides.size() != x.dims.size())
    invalid("its lists do not fit the rank of its operand");
  Scalars sizes;
  for (size_t i = 0; i < starts.size(); ++i)
    sizes.push_back(e.max(e.index(0), e.ceilDiv(e.sub(limits[i], starts[i]), strides[i])));
  op.give(e.slice(x, starts, withKnown(op, sizes), strides));
}

void padOperation(Operator &op) {
  const Value &x = op.input(0);
  checkSameType(x, op.input(1));
  if (op.input(1).rank() != 0)
    invalid("its padding value must be a scalar");
  const size_t rank = x.dims.size();
  op.give(pad(op.emit, x, op.emit.only(op.input(1)), op.integers("edge_padding_low", rank, 0),
              op.integers("edge_padding_high", rank, 0), op.integers("interior_padding", rank, 0)));
}

void dynamicPad(Operator &op) {
  Emitter &e = op.emit;
  checkSameType(op.input(0), op.input(1));
  std::vector<Numbers> padding;
  for (size_t i = 2; i < 5; ++i) {
    const auto known = e.known(op.input(i));
    if (!known)
      unsupported("its padding must be known");
    padding.push_back(*known);
  }
  op.give(pad(e, op.input(0), e.only(op.input(1)), padding[0], padding[1], padding[2]));
}

void getDimensionSize(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = op.integer("dimension");
  checkAxes({axis}, x.rank(), "dimension");
  op.give(e.ofElements(op.resultType(0).element, {}, {x.dims[static_cast<size_t>(axis)]}));
}

} // namespace

const OperationTable &moving() {
  static const OperationTable table{
      {"chlo.constant", {constant, 0, 0}},
      {"stablehlo.broadcast", {broadcast, 1, 1}},
      {"stablehlo.broadcast_in_dim", {broadcastInDim, 1, 1}},
      {"stablehlo.concatenate", {concatenate, 1, any}},
      {"stablehlo.constant", {constant, 0, 0}},
      {"stablehlo.dynamic_broadcast_in_dim", {dynamicBroadcastInDim, 2, 2}},
      {"stablehlo.dynamic_iota", {dynamicIota, 1, 1}},
      {"stablehlo.dynamic_pad", {dynamicPad, 5, 5}},
      {"stablehlo.dynamic_reshape", {dynamicReshape, 2, 2}},
      {"stablehlo.dynamic_slice", {dynamicSlice, 1, any}},
      {"stablehlo.dynamic_update_slice", {dynamicUpdateSlice, 2, any}},
      {"stablehlo.get_dimension_size", {getDimensionSize, 1, 1}},
      {"stablehlo.iota", {iota, 0, 0}},
      {"stablehlo.pad", {padOperation, 2, 2}},
      {"stablehlo.real_dynamic_slice", {realDynamicSlice, 4, 4}},
      {"stablehlo.reshape", {reshape, 1, 1}},
      {"stablehlo.reverse", {reverseOperation, 1, 1}},
      {"stablehlo.slice", {slice, 1, 1}},
      {"stablehlo.transpose", {transpose, 1, 1}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
