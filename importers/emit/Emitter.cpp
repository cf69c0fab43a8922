#include "importers/emit/Emitter.h"

#include "importers/emit/Error.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace plim::importers {

namespace {

constexpr int64_t maxElements = 1024; // of a tensor that is taken apart
constexpr int64_t elementsKept = 64;  // of a constant as scalars
constexpr size_t maxRank = 64;        // as the engine has it

std::string bracketed(const std::string &content) { return "[" + content + "]"; }

} // namespace

bool sameExtent(const Scalar &a, const Scalar &b) {
  if (a.known || b.known)
    return a.known == b.known;
  return a.name == b.name;
}

bool sameExtents(const Scalars &a, const Scalars &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!sameExtent(a[i], b[i]))
      return false;
  return true;
}

std::string tensorType(ElementType type, const Scalars &dims) {
  std::string out = "tensor<";
  for (const Scalar &dim : dims)
    out += (dim.known ? std::to_string(*dim.known) : "?") + "x";
  return out + mlirName(type) + ">";
}

std::string stringLiteral(const std::string &name) {
  std::string out = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\') {
      out += c;
    } else {
      char hex[4];
      std::snprintf(hex, sizeof hex, "\\%02X", byte);
      out += hex;
    }
  }
  return out + "\"";
}

std::string symbol(const std::string &name) { return "@" + stringLiteral(name); }

std::string Emitter::type(const Value &value) const { return tensorType(value.type, value.dims); }

std::string Emitter::types(const Values &values) const {
  std::string out;
  for (const Value &value : values)
    out += (out.empty() ? "" : ", ") + type(value);
  return out;
}

std::string Emitter::names(const Values &values) {
  std::string out;
  for (const Value &value : values)
    out += (out.empty() ? "" : ", ") + use(value);
  return out;
}

// --- Making and reading -----------------------------------------------------------------------------

Value Emitter::tensor(ElementType type, Scalars dims, std::string name) {
  if (dims.size() > maxRank)
    invalid("a tensor of rank " + std::to_string(dims.size()));
  Value out;
  out.kind = Value::Kind::Tensor;
  out.type = type;
  out.dims = std::move(dims);
  out.name = std::move(name);
  return out;
}

Value Emitter::constant(const TensorPtr &data) {
  Value out;
  out.kind = Value::Kind::Tensor;
  out.type = data->type;
  for (int64_t extent : data->shape)
    out.dims.push_back(index(extent));
  out.data = data;
  const int64_t elements = data->elementCount();
  if (isInteger(data->type) && elements <= elementsKept) {
    out.elements.emplace();
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t value = data->integerAt(i);
      out.elements->push_back(data->type == ElementType::I1 ? truth(value) : index(value));
    }
  }
  return out;
}

Value Emitter::ofElements(ElementType type, const std::vector<int64_t> &shape, Scalars elements) {
  Value out;
  out.kind = Value::Kind::Tensor;
  out.type = type;
  for (int64_t extent : shape)
    out.dims.push_back(index(extent));
  out.elements = std::move(elements);
  return out;
}

Value Emitter::list(Scalars elements) {
  const auto size = static_cast<int64_t>(elements.size());
  return ofElements(ElementType::I64, {size}, std::move(elements));
}

Value Emitter::scalar(const Scalar &value) {
  if (value.type == ElementType::Index)
    return ofElements(ElementType::I64, {}, {value});
  return tensor(value.type, {},
                define("tensor.from_elements " + use(value) + " : " + tensorType(value.type, {})));
}

Value Emitter::splat(const Scalars &dims, const Scalar &value) {
  Value out = tensor(value.type, dims, "");
  out.splat = value;
  return out;
}

Value Emitter::widened(const Value &value, const Scalars &dims) {
  if (sameExtents(value.dims, dims))
    return value;
  if (value.splat)
    return splat(dims, *value.splat);
  Value out = tensor(value.type, dims, "");
  out.narrow = value.narrow ? value.narrow : std::make_shared<const Value>(value);
  return out;
}

Value Emitter::sequence(Values items) {
  Value out;
  out.kind = Value::Kind::Sequence;
  out.items = std::move(items);
  return out;
}

std::string Emitter::denseText(const Tensor &tensor) const {
  const int64_t count = tensor.elementCount();
  if (count == 0)
    return "";
  auto one = [&](int64_t i) {
    if (tensor.type == ElementType::I1)
      return std::string(tensor.integerAt(i) ? "true" : "false");
    if (isInteger(tensor.type))
      return tensor.type == ElementType::U64
                 ? std::to_string(static_cast<uint64_t>(tensor.integerAt(i)))
                 : std::to_string(tensor.integerAt(i));
    return literal(tensor.type, tensor.realAt(i));
  };
  // Small floats are their bytes, so that a NaN stays which one it is.
  const bool hasDigits =
      isInteger(tensor.type) || (isFloat(tensor.type) && !isSmallFloat(tensor.type));
  if ((count > 64 && tensor.type != ElementType::I1) || !hasDigits) {
    std::string hex = "\"0x";
    for (const std::byte byte : tensor.bytes) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02X", static_cast<unsigned>(byte));
      hex += digits;
    }
    return hex + "\"";
  }
  int64_t next = 0;
  std::function<std::string(size_t)> nested = [&](size_t depth) {
    if (depth == tensor.shape.size())
      return one(next++);
    std::string out;
    for (int64_t i = 0; i < tensor.shape[depth]; ++i)
      out += (i ? ", " : "") + nested(depth + 1);
    return bracketed(out);
  };
  return nested(0);
}

const std::string &Emitter::externalName(const TensorPtr &data) {
  std::string &name = loaded[data];
  if (name.empty()) {
    name = data->name.empty() ? "constant" : data->name;
    for (int i = 1; !externalNames.emplace(name, data.get()).second; ++i)
      name = (data->name.empty() ? "constant" : data->name) + "_" + std::to_string(i);
    auto named = std::make_shared<Tensor>(*data);
    named->name = name;
    externals.push_back(named);
  }
  return name;
}

std::string Emitter::use(Value &value) {
  if (value.name.empty())
    value.name = use(std::as_const(value));
  return value.name;
}

std::string Emitter::use(const Value &value) {
  if (!value.name.empty())
    return value.name;
  if (value.kind != Value::Kind::Tensor)
    unsupported(value.kind == Value::Kind::None ? "an input is missing"
                                                : "a sequence stands where a tensor is needed");
  if (value.splat)
    return use(value.dims.empty() ? scalar(*value.splat) : fill(value.dims, *value.splat));
  if (value.narrow)
    return use(elementwiseTo(value.type, value.dims, {*value.narrow},
                             [](const Scalars &in) { return in[0]; }));
  const std::string type = this->type(value);
  if (value.data) {
    if (value.data->bytes.size() >= parameterBytes)
      return prologue("ml_program.global_load_const " + symbol(externalName(value.data)) + " : " +
                      type);
    return prologue("arith.constant dense<" + denseText(*value.data) + "> : " + type);
  }
  if (const auto numbers = known(value)) {
    Tensor all;
    all.type = value.type == ElementType::I1 ? ElementType::I1 : ElementType::I64;
    for (const Scalar &dim : value.dims)
      all.shape.push_back(*dim.known);
    std::vector<std::byte> bytes(numbers->size() * bytesOf(all.type));
    for (size_t i = 0; i < numbers->size(); ++i)
      std::memcpy(bytes.data() + i * bytesOf(all.type), &(*numbers)[i], bytesOf(all.type));
    const TensorPtr data = makeTensor(all.type, all.shape, std::move(bytes));
    return prologue("arith.constant dense<" + denseText(*data) + "> : " + type);
  }
  std::string operands;
  for (const Scalar &element : *value.elements)
    operands += (operands.empty() ? "" : ", ") + use(convert(element, value.type));
  return define("tensor.from_elements " + operands + " : " + type);
}

Scalar Emitter::at(const Value &value, const Scalars &indices) {
  if (indices.size() != value.dims.size())
    invalid("a tensor of rank " + std::to_string(value.rank()) + " where one of rank " +
            std::to_string(indices.size()) + " is needed");
  if (value.splat)
    return *value.splat;
  if (value.narrow) {
    Scalars inside = indices;
    for (size_t i = 0; i < inside.size(); ++i)
      if (value.narrow->dims[i].is(1))
        inside[i] = index(0);
    return at(*value.narrow, inside);
  }
  bool all = true;
  int64_t position = 0;
  for (size_t i = 0; i < indices.size() && all; ++i) {
    all = indices[i].known && value.dims[i].known && *indices[i].known >= 0 &&
          *indices[i].known < *value.dims[i].known;
    if (all)
      position = position * *value.dims[i].known + *indices[i].known;
  }
  if (all && value.elements)
    return convert((*value.elements)[static_cast<size_t>(position)], value.type);
  if (all && value.data && isFloat(value.type))
    return real(value.type, value.data->realAt(position));
  std::string list;
  for (const Scalar &position : indices)
    list += (list.empty() ? "" : ", ") + use(position);
  const std::string name = use(value);
  return {value.type, define("tensor.extract " + name + "[" + list + "] : " + type(value)), {}};
}

Scalar Emitter::only(const Value &value) { return at(value, Scalars(value.dims.size(), index(0))); }

Scalar Emitter::firstIndex(const Value &value) {
  if (value.elements && !value.elements->empty())
    return (*value.elements)[0];
  return convert(only(value), ElementType::Index);
}

Scalar Emitter::count(const Value &value) {
  Scalar product = index(1);
  for (const Scalar &dim : value.dims)
    product = mul(product, dim);
  return product;
}

Scalars Emitter::elements(const Value &value) {
  if (value.elements)
    return *value.elements;
  const Scalar size = count(value);
  if (!size.known || *size.known > maxElements)
    unsupported("how many numbers there are must be known, and they must be few");
  Scalars out;
  for (int64_t i = 0; i < *size.known; ++i) {
    Scalars position(value.dims.size());
    int64_t rest = i;
    for (size_t d = value.dims.size(); d-- > 0; rest /= *value.dims[d].known)
      position[d] = index(rest % *value.dims[d].known);
    const Scalar element = at(value, position);
    out.push_back(value.type == ElementType::I1 || isFloat(value.type)
                      ? element
                      : convert(element, ElementType::Index));
  }
  return out;
}

std::optional<Numbers> Emitter::known(const Value &value) {
  Numbers out;
  if (value.elements) {
    for (const Scalar &element : *value.elements) {
      if (!element.known)
        return std::nullopt;
      out.push_back(*element.known);
    }
    return out;
  }
  if (value.splat && value.splat->known && isInteger(value.type)) {
    const Scalar size = count(value);
    if (size.known && *size.known <= maxElements)
      out.assign(static_cast<size_t>(*size.known), *value.splat->known);
    return size.known && *size.known <= maxElements ? std::optional(out) : std::nullopt;
  }
  if (!value.data || !isInteger(value.type))
    return std::nullopt;
  for (int64_t i = 0; i < value.data->elementCount(); ++i)
    out.push_back(value.data->integerAt(i));
  return out;
}

std::optional<Reals> Emitter::knownReals(const Value &value) {
  if (!value.data || !isFloat(value.type))
    return std::nullopt;
  Reals out;
  for (int64_t i = 0; i < value.data->elementCount(); ++i)
    out.push_back(value.data->realAt(i));
  return out;
}

Values Emitter::results(const std::string &name, const Values &like) {
  Values out;
  for (size_t i = 0; i < like.size(); ++i)
    out.push_back(withOwnDims(tensor(like[i].type, like[i].dims,
                                     like.size() == 1 ? name : name + "#" + std::to_string(i))));
  return out;
}

Value Emitter::argument(const Value &like) { return tensor(like.type, like.dims, freshName()); }

Value Emitter::withOwnDims(Value value) {
  for (size_t i = 0; i < value.dims.size(); ++i)
    if (!value.dims[i].known) {
      const std::string axis = use(index(static_cast<int64_t>(i)));
      value.dims[i] = natural("tensor.dim " + value.name + ", " + axis + " : " + type(value));
    }
  return value;
}

} // namespace plim::importers
