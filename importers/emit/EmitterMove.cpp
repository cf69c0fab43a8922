#include "importers/emit/Emitter.h"
#include "importers/emit/Error.h"

#include <algorithm>

namespace plim::importers {

namespace {

bool allKnown(const Scalars &dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [](const Scalar &dim) { return dim.known.has_value(); });
}

/// Are these surely not the extents of one tensor?
bool differ(const Scalars &a, const Scalars &b) {
  if (a.size() != b.size())
    return true;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].known && b[i].known && *a[i].known != *b[i].known)
      return true;
  return false;
}

std::string listText(const Scalars &scalars, Builder &builder) {
  std::string out;
  for (const Scalar &scalar : scalars)
    out += (out.empty() ? "" : ", ") +
           (scalar.known ? std::to_string(*scalar.known) : builder.use(scalar));
  return "[" + out + "]";
}

/// Groups of dimensions of `fine`, each of which makes one of `coarse`; nothing if it is not so, as far as is known.
std::optional<std::string> grouping(const Scalars &fine, const Scalars &coarse,
                                    const Builder &builder) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < coarse.size(); ++i) {
    std::string group;
    auto take = [&] { group += (group.empty() ? "" : ", ") + std::to_string(next++); };
    if (next == fine.size())
      return std::nullopt;
    if (!coarse[i].known) {
      // Beside others of 1.
      while (next < fine.size() && fine[next].is(1))
        take();
      Scalars factors;
      do {
        if (next == fine.size())
          return std::nullopt;
        factors.push_back(fine[next]);
        take();
      } while (!builder.isProductOf(coarse[i], factors));
    } else {
      int64_t product = 1;
      do {
        if (!fine[next].known)
          return std::nullopt;
        product *= *fine[next].known;
        take();
      } while (product < *coarse[i].known && next < fine.size());
      if (product != *coarse[i].known)
        return std::nullopt;
    }
    // Behind the last, and where the next one begins with more than 1, extents of 1 belong here.
    while (next < fine.size() && fine[next].is(1) &&
           (i + 1 == coarse.size() || !coarse[i + 1].is(1)))
      take();
    out += (out.empty() ? "[" : ", [") + group + "]";
  }
  return next == fine.size() ? std::optional("[" + out + "]") : std::nullopt;
}

} // namespace

Value Emitter::reshape(const Value &value, const Scalars &dims) {
  if (sameExtents(value.dims, dims))
    return value;
  const Scalar before = count(value);
  if (before.known && allKnown(dims)) {
    int64_t after = 1;
    for (const Scalar &dim : dims)
      after *= *dim.known;
    if (after != *before.known)
      invalid("a tensor of " + std::to_string(*before.known) + " elements cannot have the shape " +
              tensorType(value.type, dims));
  }
  if (value.splat)
    return splat(dims, *value.splat);
  if (value.elements && allKnown(dims)) {
    Value out = value;
    out.dims = dims;
    out.name.clear();
    if (out.data) {
      auto data = std::make_shared<Tensor>(*out.data);
      data->shape.clear();
      for (const Scalar &dim : dims)
        data->shape.push_back(*dim.known);
      out.data = data;
    }
    return out;
  }
  const std::string input = use(value), from = type(value), to = tensorType(value.type, dims);
  const bool hasEmpty = before.is(0);
  auto collapse = [&](const Value &source, const Scalars &target) -> std::optional<Value> {
    std::optional<std::string> groups =
        target.empty() && allKnown(source.dims) && !source.dims.empty()
            ? std::optional<std::string>("[]")
            : grouping(source.dims, target, *this);
    if (!groups || hasEmpty)
      return std::nullopt;
    return tensor(source.type, target,
                  define("tensor.collapse_shape " + use(source) + " " + *groups + " : " +
                         type(source) + " into " + tensorType(source.type, target)));
  };
  auto expand = [&](const Value &source, const Scalars &target) -> std::optional<Value> {
    std::optional<std::string> groups = source.dims.empty() ? std::optional<std::string>("[]")
                                                            : grouping(target, source.dims, *this);
    if (!groups || hasEmpty || (source.dims.empty() && !allKnown(target)))
      return std::nullopt;
    return tensor(source.type, target,
                  define("tensor.expand_shape " + use(source) + " " + *groups + " output_shape " +
                         listText(target, *this) + " : " + type(source) + " into " +
                         tensorType(source.type, target)));
  };
  if (dims.size() < value.dims.size())
    if (auto out = collapse(value, dims))
      return *out;
  if (dims.size() > value.dims.size())
    if (auto out = expand(value, dims))
      return *out;
  if (allKnown(value.dims) && allKnown(dims) && !hasEmpty && value.dims.size() > 1 &&
      dims.size() > 1)
    if (auto flat = collapse(value, {before}))
      if (auto out = expand(*flat, dims))
        return *out;
  if (dims.empty())
    return scalar(at(value, Scalars(value.dims.size(), index(0))));
  // By a shape that is a tensor.
  std::string extents;
  for (const Scalar &dim : dims)
    extents += (extents.empty() ? "" : ", ") + use(dim);
  const std::string shapeType = "tensor<" + std::to_string(dims.size()) + "xindex>";
  const std::string shape = define("tensor.from_elements " + extents + " : " + shapeType);
  return tensor(value.type, dims,
                define("tensor.reshape " + input + "(" + shape + ") : (" + from + ", " + shapeType +
                       ") -> " + to));
}

std::optional<Value> Emitter::rearranged(const Value &value, const Scalars &dims,
                                         const std::function<Numbers(const Numbers &)> &from) {
  if (!value.elements || !allKnown(value.dims) || !allKnown(dims))
    return std::nullopt;
  Numbers shape;
  int64_t total = 1;
  for (const Scalar &dim : dims) {
    shape.push_back(*dim.known);
    total *= *dim.known;
  }
  Scalars elements;
  for (int64_t i = 0; i < total; ++i) {
    Numbers position(shape.size());
    int64_t rest = i, place = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      position[d] = rest % shape[d];
    const Numbers source = from(position);
    for (size_t d = 0; d < source.size(); ++d)
      place = place * *value.dims[d].known + source[d];
    elements.push_back(value.elements->at(static_cast<size_t>(place)));
  }
  return ofElements(value.type, shape, std::move(elements));
}

Value Emitter::transpose(const Value &value, const Axes &order) {
  Scalars dims;
  std::string text;
  bool identity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    dims.push_back(value.dims[static_cast<size_t>(order[i])]);
    text += (i ? ", " : "") + std::to_string(order[i]);
    identity &= order[i] == static_cast<int64_t>(i);
  }
  if (identity)
    return value;
  if (value.splat)
    return splat(dims, *value.splat);
  if (auto known = rearranged(value, dims, [&](const Numbers &position) {
        Numbers from(position.size());
        for (size_t i = 0; i < order.size(); ++i)
          from[static_cast<size_t>(order[i])] = position[i];
        return from;
      }))
    return *known;
  const std::string input = use(value), empty = emptyLike(value.type, dims);
  return tensor(value.type, dims,
                define("linalg.transpose ins(" + input + " : " + type(value) + ") outs(" + empty +
                       " : " + tensorType(value.type, dims) + ") permutation = [" + text + "]"));
}

std::string Emitter::sliceText(const Scalars &offsets, const Scalars &sizes,
                               const Scalars &strides) {
  return listText(offsets, *this) + " " + listText(sizes, *this) + " " + listText(strides, *this);
}

Value Emitter::slice(const Value &value, const Scalars &offsets, const Scalars &sizes,
                     const Scalars &strides) {
  if (value.splat)
    return splat(sizes, *value.splat);
  // Of nothing, the offset may be behind the end.
  const auto isNothing = [](const Scalar &extent) { return extent.is(0); };
  if (std::any_of(sizes.begin(), sizes.end(), isNothing) ||
      std::any_of(value.dims.begin(), value.dims.end(), isNothing))
    return tensor(value.type, sizes, emptyLike(value.type, sizes));
  const std::string input = use(value);
  return tensor(value.type, sizes,
                define("tensor.extract_slice " + input + sliceText(offsets, sizes, strides) +
                       " : " + type(value) + " to " + tensorType(value.type, sizes)));
}

Value Emitter::sliceAxis(const Value &value, int64_t axis, const Scalar &offset,
                         const Scalar &size) {
  Scalars offsets(value.dims.size(), index(0)), sizes = value.dims;
  offsets[static_cast<size_t>(axis)] = offset;
  sizes[static_cast<size_t>(axis)] = size;
  if (sameExtents(sizes, value.dims) && offset.is(0))
    return value;
  return slice(value, offsets, sizes, Scalars(value.dims.size(), index(1)));
}

Value Emitter::pick(const Value &value, int64_t axis, const Scalar &position) {
  Value one = sliceAxis(value, axis, position, index(1));
  Scalars dims = value.dims;
  dims.erase(dims.begin() + axis);
  return reshape(one, dims);
}

Value Emitter::insert(const Value &value, const Value &into, const Scalars &offsets) {
  // Nothing may have its place behind the end, which an operation on known extents must not have.
  if (std::any_of(value.dims.begin(), value.dims.end(),
                  [](const Scalar &extent) { return extent.is(0); }))
    return into;
  const std::string source = use(value), target = use(into);
  return tensor(into.type, into.dims,
                define("tensor.insert_slice " + source + " into " + target +
                       sliceText(offsets, value.dims, Scalars(into.dims.size(), index(1))) + " : " +
                       type(value) + " into " + type(into)));
}

Value Emitter::pad(const Value &value, const Scalars &low, const Scalars &high,
                   const Scalar &with) {
  bool none = true;
  Scalars dims;
  for (size_t i = 0; i < low.size(); ++i) {
    none &= low[i].is(0) && high[i].is(0);
    dims.push_back(add(add(value.dims[i], low[i]), high[i]));
  }
  if (none)
    return value;
  const std::string input = use(value), element = use(with);
  std::string arguments;
  for (size_t i = 0; i < low.size(); ++i)
    arguments += (i ? ", " : "") + freshName() + ": index";
  const std::string name = freshName();
  line(name + " = tensor.pad " + input + " low" + listText(low, *this) + " high" +
       listText(high, *this) + " {");
  line("^bb0(" + arguments + "):");
  line("  tensor.yield " + element + " : " + mlirName(with.type));
  line("} : " + type(value) + " to " + tensorType(value.type, dims));
  return tensor(value.type, dims, name);
}

Value Emitter::concatenate(const Values &values, int64_t axis) {
  if (values.size() == 1)
    return values[0];
  Scalars dims = values[0].dims;
  const auto a = static_cast<size_t>(axis);
  for (size_t i = 1; i < values.size(); ++i) {
    Scalars others = values[i].dims;
    dims[a] = add(dims[a], others[a]);
    others[a] = dims[a];
    if (values[i].type != values[0].type || differ(others, dims))
      invalid(type(values[0]) + " and " + type(values[i]) + " cannot be joined along axis " +
              std::to_string(axis));
  }
  Value out = tensor(values[0].type, dims, emptyLike(values[0].type, dims));
  Scalars offsets(dims.size(), index(0));
  for (const Value &value : values) {
    out = insert(value, out, offsets);
    offsets[a] = add(offsets[a], value.dims[a]);
  }
  return out;
}

Value Emitter::broadcast(const Value &value, const Scalars &dims) {
  if (sameExtents(value.dims, dims))
    return value;
  if (value.splat)
    return splat(dims, *value.splat);
  return elementwiseTo(value.type, dims, {value}, [](const Scalars &in) { return in[0]; });
}

Value Emitter::withDims(const Value &value, const Scalars &dims) {
  if (sameExtents(value.dims, dims))
    return value;
  if (value.splat)
    return splat(dims, *value.splat);
  const std::string input = use(value), to = tensorType(value.type, dims);
  if (differ(value.dims, dims))
    invalid(type(value) + " stands where " + to + " is needed");
  if (to == type(value))
    return tensor(value.type, dims, input);
  return tensor(value.type, dims,
                define("tensor.cast " + input + " : " + type(value) + " to " + to));
}

} // namespace plim::importers
