// Elements at places that a tensor says. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Operator.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

/// How a tensor of indices, and windows at them, stand for places in an operand.
struct Places {
  Axes windowDims; // of the result of a gather or the updates of a scatter
  Axes collapsed;  // of the operand: no dimension of the windows
  Axes operandBatching, indexBatching;
  Axes indexMap; // which dimension of the operand each number of an index is of
  int64_t vectorDim = 0;

  /// Of the operand, in the order of windowDims.
  Axes windowOfOperand(int64_t rank) const {
    Axes out;
    for (int64_t d = 0; d < rank; ++d)
      if (!contains(collapsed, d) && !contains(operandBatching, d))
        out.push_back(d);
    return out;
  }
};

Places placesOf(Operator &op, const std::string &attribute, bool isScatter, const Value &operand,
                const Value &indices) {
  const Attribute &numbers = op.fields(attribute);
  auto list = [&](const char *ofGather, const char *ofScatter) {
    return numbersOf(numbers, isScatter ? ofScatter : ofGather);
  };
  Places p;
  p.windowDims = list("offset_dims", "update_window_dims");
  p.collapsed = list("collapsed_slice_dims", "inserted_window_dims");
  p.operandBatching = list("operand_batching_dims", "input_batching_dims");
  p.indexBatching = list("start_indices_batching_dims", "scatter_indices_batching_dims");
  p.indexMap = list("start_index_map", "scatter_dims_to_operand_dims");
  const Numbers vector = list("index_vector_dim", "index_vector_dim");
  p.vectorDim = vector.empty() ? 0 : vector[0];
  const int64_t rank = operand.rank();
  checkAxes(p.collapsed, rank, "collapsed_slice_dims");
  checkAxes(p.operandBatching, rank, "operand_batching_dims");
  checkAxes(p.indexMap, rank, "start_index_map");
  checkAxes(p.indexBatching, indices.rank(), "start_indices_batching_dims");
  if (!isInteger(indices.type) || indices.type == ElementType::I1)
    invalid("its indices must be integers");
  if (p.vectorDim < 0 || p.vectorDim > indices.rank())
    invalid("index_vector_dim is " + std::to_string(p.vectorDim));
  const Scalar size = p.vectorDim == indices.rank()
                          ? op.emit.index(1)
                          : indices.dims[static_cast<size_t>(p.vectorDim)];
  if (size.known && *size.known != static_cast<int64_t>(p.indexMap.size()))
    invalid("an index has " + std::to_string(*size.known) + " numbers, but start_index_map " +
            std::to_string(p.indexMap.size()));
  if (p.operandBatching.size() != p.indexBatching.size() || contains(p.indexBatching, p.vectorDim))
    invalid("its batching dimensions do not fit");
  for (int64_t d : p.operandBatching)
    if (contains(p.collapsed, d) || contains(p.indexMap, d))
      invalid("a batching dimension is another one too");
  if (p.windowOfOperand(rank).size() != p.windowDims.size())
    invalid("its windows have " + std::to_string(p.windowDims.size()) +
            " dimensions, but the operand " + std::to_string(p.windowOfOperand(rank).size()));
  return p;
}

/// The extents of the indices without that of a vector.
Scalars batchExtents(const Places &p, const Value &indices) {
  Scalars out = indices.dims;
  if (p.vectorDim < indices.rank())
    out.erase(out.begin() + p.vectorDim);
  return out;
}

/// The place in the operand where the window begins for one position of the result or the updates, without batching.
Scalars startsAt(Emitter &e, const Places &p, const Value &operand, const Value &indices,
                 const Scalars &batch) {
  Scalars out(operand.dims.size(), e.index(0));
  for (size_t i = 0; i < p.indexMap.size(); ++i) {
    Scalars at = batch;
    if (p.vectorDim < indices.rank())
      at.insert(at.begin() + p.vectorDim, e.index(static_cast<int64_t>(i)));
    out[static_cast<size_t>(p.indexMap[i])] = e.convert(e.at(indices, at), ElementType::Index);
  }
  return out;
}

Scalars batchOf(const Places &p, const Scalars &position) {
  Scalars out;
  for (size_t i = 0; i < position.size(); ++i)
    if (!contains(p.windowDims, static_cast<int64_t>(i)))
      out.push_back(position[i]);
  return out;
}

/// Adds what the batch and the place in a window say.
void addWindow(Emitter &e, const Places &p, const Scalars &position, const Scalars &batch,
               Scalars &place) {
  for (size_t i = 0; i < p.operandBatching.size(); ++i) {
    const int64_t d = p.indexBatching[i];
    place[static_cast<size_t>(p.operandBatching[i])] =
        batch[static_cast<size_t>(d - (d > p.vectorDim))];
  }
  const Axes window = p.windowOfOperand(static_cast<int64_t>(place.size()));
  for (size_t i = 0; i < window.size(); ++i) {
    Scalar &own = place[static_cast<size_t>(window[i])];
    own = e.add(own, position[static_cast<size_t>(p.windowDims[i])]);
  }
}

void gatherWith(Operator &op, const Numbers &sizes) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1);
  const Places p = placesOf(op, "dimension_numbers", false, x, indices);
  if (sizes.size() != x.dims.size())
    invalid("slice_sizes has " + std::to_string(sizes.size()) + " numbers");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto d = static_cast<int64_t>(i);
    if (sizes[i] < 0 || (x.dims[i].known && sizes[i] > *x.dims[i].known) ||
        ((contains(p.collapsed, d) || contains(p.operandBatching, d)) && sizes[i] > 1))
      invalid("slice_sizes has " + std::to_string(sizes[i]) + " for dimension " +
              std::to_string(i));
  }
  const Axes window = p.windowOfOperand(x.rank());
  const Scalars batches = batchExtents(p, indices);
  const size_t rank = batches.size() + window.size();
  checkAxes(p.windowDims, static_cast<int64_t>(rank), "offset_dims");
  Scalars dims(rank, e.index(0));
  for (size_t i = 0; i < window.size(); ++i)
    dims[static_cast<size_t>(p.windowDims[i])] = e.index(sizes[static_cast<size_t>(window[i])]);
  for (size_t i = 0, next = 0; i < rank; ++i)
    if (!contains(p.windowDims, static_cast<int64_t>(i)))
      dims[i] = batches[next++];
  e.use(x);
  e.use(indices);
  op.give(e.generate(x.type, dims, [&](const Scalars &position) {
    const Scalars batch = batchOf(p, position);
    Scalars place = startsAt(e, p, x, indices, batch);
    for (size_t d = 0; d < place.size(); ++d) { // a window lies inside
      const Scalar most = e.sub(x.dims[d], e.index(sizes[d]));
      place[d] =
          most.is(0) || place[d].is(0) ? e.index(0) : e.max(e.index(0), e.min(place[d], most));
    }
    addWindow(e, p, position, batch, place);
    return e.at(x, place);
  }));
}

void gather(Operator &op) { gatherWith(op, op.integers("slice_sizes")); }

void dynamicGather(Operator &op) {
  const auto sizes = op.emit.known(op.input(2));
  if (!sizes)
    unsupported("its slice_sizes must be known");
  gatherWith(op, *sizes);
}

/// One update after the other; what would be outside is left out.
void scatter(Operator &op) {
  Emitter &e = op.emit;
  const size_t count = op.inputs.size() / 2;
  if (op.inputs.size() != 2 * count + 1)
    invalid("it needs operands, indices, and as many updates");
  const Value &x = op.input(0), &indices = op.input(count), &updates = op.input(count + 1);
  const Places p = placesOf(op, "scatter_dimension_numbers", true, x, indices);
  const Region &region = op.region(0);
  std::vector<ElementType> types;
  for (size_t i = 0; i < count; ++i) {
    checkSameShape(x, op.input(i));
    checkSameShape(updates, op.input(count + 1 + i));
    checkSameType(op.input(i), op.input(count + 1 + i));
    types.push_back(op.input(i).type);
    e.use(op.input(count + 1 + i));
  }
  const Scalars batches = batchExtents(p, indices);
  const Axes window = p.windowOfOperand(x.rank());
  checkAxes(p.windowDims, updates.rank(), "update_window_dims");
  if (batches.size() + window.size() != updates.dims.size())
    invalid("the updates have a rank of " + std::to_string(updates.rank()) + ", not " +
            std::to_string(batches.size() + window.size()));
  for (size_t i = 0, next = 0; i < updates.dims.size(); ++i)
    if (!contains(p.windowDims, static_cast<int64_t>(i))) {
      const Scalar &batch = batches[next++];
      if (batch.known && updates.dims[i].known && *batch.known != *updates.dims[i].known)
        invalid("the updates do not fit the indices");
    }
  e.use(indices);
  if (e.count(x).is(0) || e.count(updates).is(0))
    return void(op.outputs = op.inputs.part(0, count));
  const std::function<Values(size_t, const Scalars &, const Values &)> nest =
      [&](size_t depth, const Scalars &position, const Values &so) -> Values {
    if (depth < updates.dims.size())
      return e.loop(updates.dims[depth], so, [&](const Scalar &i, const Values &in) {
        Scalars next = position;
        next.push_back(i);
        return nest(depth + 1, next, in);
      });
    const Scalars batch = batchOf(p, position);
    Scalars place = startsAt(e, p, x, indices, batch);
    addWindow(e, p, position, batch, place);
    Scalar inside = e.truth(true);
    for (size_t d = 0; d < place.size(); ++d) {
      inside = e.both(inside, e.compare(Compare::GreaterEqual, place[d], e.index(0)));
      inside = e.both(inside, e.compare(Compare::Less, place[d], x.dims[d]));
    }
    Scalars safe, arguments, old;
    for (const Scalar &at : place)
      safe.push_back(e.select(inside, at, e.index(0)));
    for (size_t i = 0; i < count; ++i) {
      old.push_back(e.at(so[i], safe));
      arguments.push_back(old.back());
    }
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(e.at(op.input(count + 1 + i), position));
    const Scalars next = callOnElements(op, region, arguments, types);
    Values out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(e.withElement(so[i], safe, e.select(inside, next[i], old[i])));
    return out;
  };
  op.outputs = nest(0, {}, op.inputs.part(0, count));
}

/// Along one axis the elements that an index names, which has dimensions of its own behind those that it shares.
void torchIndexSelect(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &index = op.input(1);
  if (!isInteger(index.type) || index.type == ElementType::I1)
    invalid("its index must be of integers");
  const int64_t dim = op.integer("dim"), shared = op.integer("batch_dims", 0);
  checkAxes({dim}, x.rank(), "dim");
  if (shared < 0 || shared > std::min(dim, index.rank()))
    invalid("batch_dims is " + std::to_string(shared));
  const auto axis = static_cast<size_t>(dim), batch = static_cast<size_t>(shared);
  const Scalars own = index.dims.from(batch), behind = x.dims.from(axis + 1);
  Scalars dims = x.dims.part(0, axis);
  for (size_t i = 0; i < batch; ++i)
    e.require(e.compare(Compare::Equal, dims[i], index.dims[i]), "shapes of operands differ");
  dims.insert(dims.end(), own.begin(), own.end());
  dims.insert(dims.end(), behind.begin(), behind.end());
  e.use(x);
  e.use(index);
  const Scalar zero = e.index(0), last = e.sub(x.dims[axis], e.index(1));
  op.give(e.generate(x.type, dims, [&](const Scalars &position) {
    Scalars place = position.part(0, batch);
    const Scalars of = position.part(axis, axis + own.size());
    place.insert(place.end(), of.begin(), of.end());
    Scalars at = position.part(0, axis);
    const Scalar wanted = e.convert(e.at(index, place), ElementType::Index);
    at.push_back(e.max(zero, e.min(wanted, last))); // as a gather begins
    const Scalars rest = position.from(axis + own.size());
    at.insert(at.end(), rest.begin(), rest.end());
    return e.at(x, at);
  }));
}

} // namespace

const OperationTable &indexing() {
  static const OperationTable table{{"stablehlo.dynamic_gather", {dynamicGather, 3, 3}},
                                    {"stablehlo.gather", {gather, 2, 2}},
                                    {"stablehlo.scatter", {scatter, 3, any}},
                                    {"stablehlo.torch_index_select", {torchIndexSelect, 2, 2}}};
  return table;
}

} // namespace plim::importers::stablehlo
