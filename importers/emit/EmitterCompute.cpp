#include "importers/emit/Emitter.h"
#include "importers/emit/Error.h"

#include <algorithm>

namespace plim::importers {

namespace {

std::string loopNames(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += (i ? ", d" : "d") + std::to_string(i);
  return out;
}

std::string mapOf(size_t loops, const std::vector<std::string> &results) {
  std::string out;
  for (const std::string &result : results)
    out += (out.empty() ? "" : ", ") + result;
  return "affine_map<(" + loopNames(loops) + ") -> (" + out + ")>";
}

std::string identityMap(size_t loops) {
  return "affine_map<(" + loopNames(loops) + ") -> (" + loopNames(loops) + ")>";
}

std::string iterators(const std::vector<bool> &reduced) {
  std::string out;
  for (const bool is : reduced)
    out += std::string(out.empty() ? "" : ", ") + (is ? "\"reduction\"" : "\"parallel\"");
  return out;
}

bool contains(const Axes &axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

} // namespace

std::string Emitter::shapeOperands(const Scalars &dims) {
  std::string out;
  for (const Scalar &dim : dims)
    if (!dim.known)
      out += (out.empty() ? "" : ", ") + use(dim);
  return out;
}

std::string Emitter::emptyLike(ElementType type, const Scalars &dims) {
  return define("tensor.empty(" + shapeOperands(dims) + ") : " + tensorType(type, dims));
}

Value Emitter::generic(ElementType type, const Scalars &dims, const Values &inputs,
                       const std::vector<std::string> &maps,
                       const std::function<Scalar(const Scalars &)> &body) {
  std::string operands, operandTypes, arguments, all;
  Scalars inside;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands += (i ? ", " : "") + use(inputs[i]);
    operandTypes += (i ? ", " : "") + this->type(inputs[i]);
    inside.push_back({inputs[i].type, freshName(), {}});
    arguments += inside.back().name + ": " + mlirName(inputs[i].type) + ", ";
    all += maps[i] + ", ";
  }
  const std::string empty = emptyLike(type, dims), result = tensorType(type, dims);
  arguments += freshName() + ": " + mlirName(type);
  const std::string inner = region([&] {
    const Scalar element = body(inside);
    if (element.type != type && mlirName(element.type) != mlirName(type))
      unsupported("internal: an element of type " + onnxName(element.type) + " where " +
                  onnxName(type) + " is meant");
    line("linalg.yield " + use(element) + " : " + mlirName(type));
  });
  const std::string name = freshName();
  line(name + " = linalg.generic {indexing_maps = [" + all + identityMap(dims.size()) +
       "], iterator_types = [" + iterators(std::vector<bool>(dims.size(), false)) + "]}" +
       (inputs.empty() ? "" : " ins(" + operands + " : " + operandTypes + ")") + " outs(" + empty +
       " : " + result + ") {");
  line("^bb0(" + arguments + "):");
  raw(inner);
  line("} -> " + result);
  return tensor(type, dims, name);
}

Value Emitter::generate(ElementType type, const Scalars &dims, const Element &element) {
  return generic(type, dims, {}, {}, [&](const Scalars &) {
    Scalars position;
    for (size_t i = 0; i < dims.size(); ++i)
      position.push_back(dims[i].is(1)
                             ? index(0)
                             : Scalar{ElementType::Index,
                                      define("linalg.index " + std::to_string(i) + " : index"),
                                      {}});
    return element(position);
  });
}

Scalars Emitter::broadcastDims(const Scalars &a, const Scalars &b) {
  const size_t rank = std::max(a.size(), b.size());
  Scalars out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Scalar one = index(1);
    const Scalar &x = i + a.size() < rank ? one : a[i + a.size() - rank];
    const Scalar &y = i + b.size() < rank ? one : b[i + b.size() - rank];
    // Of a part either all is there or what reads it fails.
    if (x.is(1) || sameExtent(x, y) || isPartOf(x, y))
      out[i] = y;
    else if (y.is(1) || isPartOf(y, x))
      out[i] = x;
    else if (x.known && y.known)
      invalid("extents of " + std::to_string(*x.known) + " and " + std::to_string(*y.known) +
              " cannot be broadcast");
    else if (x.known || y.known) // the other is this or 1
      out[i] = x.known ? x : y;
    else
      out[i] = select(compare(Compare::Equal, x, one), y, x);
  }
  return out;
}

Value Emitter::completed(const Value &value, const Scalars &dims) {
  Scalars whole = value.dims;
  bool isPart = false;
  for (size_t i = 0; i < whole.size(); ++i)
    if (const Scalar &dim = dims[dims.size() - whole.size() + i]; isPartOf(whole[i], dim)) {
      whole[i] = dim;
      isPart = true;
    }
  if (!isPart || value.splat)
    return value;
  use(value); // outside of the block
  return generate(value.type, whole, [&](const Scalars &indices) {
    Scalars position;
    for (size_t i = 0; i < whole.size(); ++i)
      position.push_back(
          whole[i].is(1) ? index(0)
          : sameExtent(whole[i], value.dims[i])
              ? indices[i]
              : select(compare(Compare::Equal, value.dims[i], index(1)), index(0), indices[i]));
    return at(value, position);
  });
}

Value Emitter::elementwise(ElementType type, const Values &operands, const Element &element) {
  Scalars dims;
  for (const Value &operand : operands)
    dims = broadcastDims(dims, operand.dims);
  return elementwiseTo(type, dims, operands, element);
}

Value Emitter::elementwiseTo(ElementType type, const Scalars &dims, const Values &given,
                             const Element &element) {
  const size_t rank = dims.size();
  Values operands;
  for (const Value &operand : given)
    operands.push_back(completed(operand.narrow ? *operand.narrow : operand, dims));
  const bool isUniform =
      !operands.empty() && std::all_of(operands.begin(), operands.end(),
                                       [](const Value &value) { return value.splat.has_value(); });
  if (isUniform) {
    Scalars arguments;
    for (const Value &operand : operands)
      arguments.push_back(*operand.splat);
    return splat(dims, element(arguments));
  }
  // Operands are read by maps, and where only a run knows whether an extent is 1, by position; one element that is all of
  // them needs no tensor.
  Values inputs;
  std::vector<std::string> maps;
  std::vector<std::optional<size_t>> inputOf;
  for (const Value &operand : operands) {
    if (operand.splat) {
      inputOf.push_back(std::nullopt);
      continue;
    }
    std::vector<std::string> results;
    bool byPosition = false;
    for (size_t i = 0; i < operand.dims.size(); ++i) {
      const size_t loop = rank - operand.dims.size() + i;
      const bool same = sameExtent(operand.dims[i], dims[loop]);
      byPosition |= !same && !operand.dims[i].is(1);
      results.push_back(same ? "d" + std::to_string(loop) : "0");
    }
    inputOf.push_back(byPosition ? std::nullopt : std::optional(inputs.size()));
    if (byPosition)
      continue;
    inputs.push_back(operand);
    maps.push_back(mapOf(rank, results));
  }
  for (const Value &operand : operands)
    if (!operand.splat)
      use(operand); // outside of the block
  return generic(type, dims, inputs, maps, [&](const Scalars &arguments) {
    Scalars all;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (inputOf[k]) {
        all.push_back(arguments[*inputOf[k]]);
        continue;
      }
      if (operands[k].splat) {
        all.push_back(*operands[k].splat);
        continue;
      }
      Scalars position;
      for (size_t i = 0; i < operands[k].dims.size(); ++i) {
        const size_t loop = rank - operands[k].dims.size() + i;
        const Scalar here{
            ElementType::Index, define("linalg.index " + std::to_string(loop) + " : index"), {}};
        position.push_back(
            select(compare(Compare::Equal, operands[k].dims[i], index(1)), index(0), here));
      }
      all.push_back(at(operands[k], position));
    }
    return element(all);
  });
}

Value Emitter::elementwiseOrNow(ElementType type, const Values &operands, const Element &element) {
  bool now = type == ElementType::I64 || type == ElementType::I32 || type == ElementType::I1;
  bool isStatic = true, allKnown = true;
  for (const Value &operand : operands) {
    now &= operand.elements.has_value() &&
           (operand.type == ElementType::I64 || operand.type == ElementType::I32 ||
            operand.type == ElementType::I1);
    allKnown &= known(operand).has_value();
  }
  if (!now || (type == ElementType::I32 && !allKnown))
    return elementwise(type, operands, element);
  Scalars dims;
  for (const Value &operand : operands)
    dims = broadcastDims(dims, operand.dims);
  std::vector<int64_t> shape;
  int64_t size = 1;
  for (const Scalar &dim : dims) {
    isStatic &= dim.known.has_value();
    shape.push_back(dim.known.value_or(0));
    size *= shape.back();
  }
  if (!isStatic || size > 64)
    return elementwise(type, operands, element);
  Scalars out;
  for (int64_t i = 0; i < size; ++i) {
    Scalars arguments;
    for (const Value &operand : operands) {
      int64_t position = 0, rest = i, scale = 1;
      for (size_t d = 0; d < operand.dims.size(); ++d) {
        const int64_t extent = shape[shape.size() - 1 - d];
        const int64_t own = *operand.dims[operand.dims.size() - 1 - d].known;
        position += own == 1 ? 0 : rest % extent * scale;
        scale *= own;
        rest /= extent;
      }
      arguments.push_back((*operand.elements)[static_cast<size_t>(position)]);
    }
    out.push_back(element(arguments));
    if (type == ElementType::I32 &&
        (!out.back().known || *out.back().known != static_cast<int32_t>(*out.back().known)))
      return elementwise(type, operands, element);
  }
  return ofElements(type, shape, std::move(out));
}

Value Emitter::fill(const Scalars &dims, const Scalar &value) {
  const std::string element = use(value), empty = emptyLike(value.type, dims);
  const std::string type = tensorType(value.type, dims);
  return tensor(value.type, dims,
                define("linalg.fill ins(" + element + " : " + mlirName(value.type) + ") outs(" +
                       empty + " : " + type + ") -> " + type));
}

Value Emitter::unset(ElementType type, const Scalars &dims) {
  return tensor(type, dims, emptyLike(type, dims));
}

Value Emitter::reduce(const Value &value, const Axes &axes, bool keep, const Scalar &initial,
                      const std::function<Scalar(const Scalar &, const Scalar &)> &combine) {
  const size_t rank = value.dims.size();
  Scalars dims, kept;
  std::vector<bool> reduced(rank);
  std::vector<std::string> results;
  for (size_t i = 0; i < rank; ++i) {
    reduced[i] = contains(axes, static_cast<int64_t>(i));
    kept.push_back(reduced[i] ? index(1) : value.dims[i]);
    if (!reduced[i]) {
      dims.push_back(value.dims[i]);
      results.push_back("d" + std::to_string(i));
    }
  }
  const std::string start = use(fill(dims, initial)), input = use(value);
  const std::string type = tensorType(initial.type, dims);
  const Scalar element{value.type, freshName(), {}}, sum{initial.type, freshName(), {}};
  const std::string inner = region(
      [&] { line("linalg.yield " + use(combine(sum, element)) + " : " + mlirName(initial.type)); });
  const std::string name = freshName();
  line(name + " = linalg.generic {indexing_maps = [" + identityMap(rank) + ", " +
       mapOf(rank, results) + "], iterator_types = [" + iterators(reduced) + "]} ins(" + input +
       " : " + this->type(value) + ") outs(" + start + " : " + type + ") {");
  line("^bb0(" + element.name + ": " + mlirName(value.type) + ", " + sum.name + ": " +
       mlirName(initial.type) + "):");
  raw(inner);
  line("} -> " + type);
  const Value out = tensor(initial.type, dims, name);
  return keep ? reshape(out, kept) : out;
}

Values Emitter::accumulate(const Values &inputs, const std::vector<std::string> &maps,
                           const std::optional<Value> &window, const std::string &outMap,
                           const std::vector<bool> &reduced, const Scalars &dims,
                           const Scalars &initial, const Combine &combine) {
  std::string operands, operandTypes, starts, startTypes, arguments, all;
  Scalars elements, sums;
  Values results;
  auto append = [](std::string &list, const std::string &item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  auto declare = [&](const std::string &name, ElementType type) {
    append(arguments, name + ": " + mlirName(type));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    append(operands, use(inputs[i]));
    append(operandTypes, type(inputs[i]));
    append(all, maps[i]);
    elements.push_back({inputs[i].type, freshName(), {}});
    declare(elements.back().name, inputs[i].type);
  }
  if (window) { // of which only the extents are read
    append(operands, use(*window));
    append(operandTypes, type(*window));
    append(all, maps.back());
    declare(freshName(), window->type);
  }
  for (const Scalar &start : initial) {
    const Value filled = fill(dims, start);
    append(starts, use(filled));
    append(startTypes, type(filled));
    append(all, outMap);
    sums.push_back({start.type, freshName(), {}});
    declare(sums.back().name, start.type);
    results.push_back(filled);
  }
  const std::string inner = region([&] {
    const Scalars next = combine(sums, elements);
    std::string values, types;
    for (size_t i = 0; i < initial.size(); ++i) {
      append(values, use(next[i]));
      append(types, mlirName(initial[i].type));
    }
    line("linalg.yield " + values + " : " + types);
  });
  const std::string name = freshName();
  const bool several = initial.size() > 1;
  line(name + (several ? ":" + std::to_string(initial.size()) : "") +
       " = linalg.generic {indexing_maps = [" + all + "], iterator_types = [" + iterators(reduced) +
       "]} ins(" + operands + " : " + operandTypes + ") outs(" + starts + " : " + startTypes +
       ") {");
  line("^bb0(" + arguments + "):");
  raw(inner);
  line("} -> " + (several ? "(" + startTypes + ")" : startTypes));
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = tensor(initial[i].type, dims, several ? name + "#" + std::to_string(i) : name);
  return results;
}

Values Emitter::reduceTogether(const Values &inputs, const Axes &axes, const Scalars &initial,
                               const Combine &combine) {
  const Scalars &extents = inputs[0].dims;
  const size_t rank = extents.size();
  Scalars dims;
  std::vector<bool> reduced(rank);
  std::vector<std::string> results;
  for (size_t i = 0; i < rank; ++i) {
    reduced[i] = contains(axes, static_cast<int64_t>(i));
    if (!reduced[i]) {
      dims.push_back(extents[i]);
      results.push_back("d" + std::to_string(i));
    }
  }
  return accumulate(inputs, std::vector<std::string>(inputs.size(), identityMap(rank)),
                    std::nullopt, mapOf(rank, results), reduced, dims, initial, combine);
}

Values Emitter::reduceWindows(const Values &inputs, const Numbers &window, const Numbers &strides,
                              const Numbers &dilations, const Scalars &dims, const Scalars &initial,
                              const Combine &combine) {
  const size_t rank = window.size();
  std::vector<size_t> moving; // dimensions in which a window has several elements
  for (size_t i = 0; i < rank; ++i)
    if (window[i] != 1)
      moving.push_back(i);
  const size_t loops = rank + moving.size();
  std::vector<std::string> from, own, out;
  Scalars extents;
  std::vector<bool> reduced(loops);
  for (size_t i = 0, next = rank; i < rank; ++i) {
    const std::string at = "d" + std::to_string(i);
    out.push_back(at);
    from.push_back(strides[i] == 1 ? at : at + " * " + std::to_string(strides[i]));
    if (window[i] == 1)
      continue;
    const std::string inside = "d" + std::to_string(next);
    from.back() += " + " + inside + (dilations[i] == 1 ? "" : " * " + std::to_string(dilations[i]));
    own.push_back(inside);
    extents.push_back(index(window[i]));
    reduced[next++] = true;
  }
  std::vector<std::string> maps(inputs.size(), mapOf(loops, from));
  maps.push_back(mapOf(loops, own));
  // The loops that no stride hides are those of the results; that of a window only its shape tells.
  const Value shape = fill(extents, number(inputs[0].type, 0));
  return accumulate(inputs, maps, shape, mapOf(loops, out), reduced, dims, initial, combine);
}

Value Emitter::convert(const Value &value, ElementType type) {
  if (value.type == type)
    return value;
  auto isPlain = [](ElementType t) {
    return t == ElementType::I64 || t == ElementType::I32 || t == ElementType::I1;
  };
  if (value.elements && isPlain(value.type) && isPlain(type) &&
      (type == ElementType::I64 || known(value))) {
    Scalars out;
    bool fits = true;
    for (const Scalar &element : *value.elements) {
      out.push_back(type == ElementType::I1
                        ? compare(Compare::NotEqual, convert(element, ElementType::Index), index(0))
                        : convert(element, ElementType::Index));
      fits &= type != ElementType::I32 ||
              (out.back().known && *out.back().known == static_cast<int32_t>(*out.back().known));
    }
    std::vector<int64_t> shape;
    for (const Scalar &dim : value.dims)
      shape.push_back(*dim.known);
    if (fits)
      return ofElements(type, shape, std::move(out));
  }
  return elementwise(type, {value}, [&](const Scalars &in) { return convert(in[0], type); });
}

Value Emitter::contract(const Value &left, const Axes &leftLoops, const Value &right,
                        const Axes &rightLoops, const Axes &outLoops, const Scalars &loopExtents,
                        const Scalar &initial, const std::string &attributes) {
  const size_t loops = loopExtents.size();
  auto results = [&](const Value &value, const Axes &names) {
    std::vector<std::string> out;
    for (size_t i = 0; i < names.size(); ++i) {
      const Scalar &extent = loopExtents[static_cast<size_t>(names[i])];
      out.push_back(value.dims[i].is(1) && !extent.is(1) ? "0" : "d" + std::to_string(names[i]));
    }
    return out;
  };
  Scalars dims;
  std::vector<std::string> outResults;
  std::vector<bool> reduced(loops, true);
  for (int64_t loop : outLoops) {
    dims.push_back(loopExtents[static_cast<size_t>(loop)]);
    outResults.push_back("d" + std::to_string(loop));
    reduced[static_cast<size_t>(loop)] = false;
  }
  const std::string start = use(fill(dims, initial)), a = use(left), b = use(right);
  const std::string type = tensorType(initial.type, dims);
  const Scalar x{left.type, freshName(), {}}, y{right.type, freshName(), {}};
  const Scalar sum{initial.type, freshName(), {}};
  const std::string inner = region([&] {
    const Scalar product = mul(convert(x, initial.type), convert(y, initial.type));
    line("linalg.yield " + use(add(sum, product)) + " : " + mlirName(initial.type));
  });
  const std::string name = freshName();
  line(name + " = linalg.generic {indexing_maps = [" + mapOf(loops, results(left, leftLoops)) +
       ", " + mapOf(loops, results(right, rightLoops)) + ", " + mapOf(loops, outResults) +
       "], iterator_types = [" + iterators(reduced) + "]} ins(" + a + ", " + b + " : " +
       this->type(left) + ", " + this->type(right) + ") outs(" + start + " : " + type + ") " +
       (attributes.empty() ? "" : "attrs = {" + attributes + "} ") + "{");
  line("^bb0(" + x.name + ": " + mlirName(x.type) + ", " + y.name + ": " + mlirName(y.type) + ", " +
       sum.name + ": " + mlirName(sum.type) + "):");
  raw(inner);
  line("} -> " + type);
  return tensor(initial.type, dims, name);
}

} // namespace plim::importers
