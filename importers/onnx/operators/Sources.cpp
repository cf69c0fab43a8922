// Tensors out of nothing. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Blocks.h"
#include "importers/onnx/Operator.h"

#include <cstring>

namespace plim::importers {

namespace {

TensorPtr floats(Numbers shape, const Reals &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return makeTensor(ElementType::F32, std::move(shape), std::move(bytes));
}

TensorPtr integers(Numbers shape, const Numbers &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return makeTensor(ElementType::I64, std::move(shape), std::move(bytes));
}

void constant(Operator &op) {
  Emitter &e = op.emit;
  if (op.hasAttribute("value")) {
    const Attribute &value = op.node.attributes.at("value");
    if (!value.tensor)
      invalid("attribute 'value' is no tensor");
    return op.set(0, constantOf(e, value.tensor));
  }
  if (op.hasAttribute("value_float"))
    return op.set(0, e.constant(floats({}, {op.real("value_float", 0)})));
  if (op.hasAttribute("value_int"))
    return op.set(0, e.constant(integers({}, {op.integer("value_int", 0)})));
  if (op.hasAttribute("value_floats")) {
    const auto values = op.reals("value_floats");
    return op.set(0, e.constant(floats({static_cast<int64_t>(values.size())}, values)));
  }
  if (op.hasAttribute("value_ints")) {
    const auto values = op.integers("value_ints");
    return op.set(0, e.constant(integers({static_cast<int64_t>(values.size())}, values)));
  }
  unsupported("of strings or sparse tensors");
}

void constantOfShape(Operator &op) {
  Emitter &e = op.emit;
  const Scalars dims = e.elements(op.input(0));
  int64_t size = 1;
  Numbers shape;
  for (const Scalar &dim : dims) {
    if (dim.known && *dim.known < 0)
      invalid("an extent of " + std::to_string(*dim.known));
    size = dim.known && *dim.known <= 64 ? size * *dim.known : 65;
    shape.push_back(dim.known.value_or(0));
    if (size > 64)
      break;
  }
  Value value = e.constant(floats({1}, {0}));
  if (op.hasAttribute("value")) {
    const Attribute &given = op.node.attributes.at("value");
    if (!given.tensor || given.tensor->elementCount() != 1)
      invalid("attribute 'value' is no tensor of one element");
    value = e.constant(given.tensor);
  }
  if (value.elements && size <= 64 && shape.size() <= 1)
    return op.set(0, e.ofElements(value.type, shape,
                                  Scalars(static_cast<size_t>(size), (*value.elements)[0])));
  op.set(0, e.fill(dims, e.only(value)));
}

void range(Operator &op) {
  Emitter &e = op.emit;
  const Value &first = op.input(0), &end = op.input(1), &step = op.input(2);
  const ElementType type = first.type;
  if (type == ElementType::I64 && first.elements && end.elements && step.elements) {
    const Scalar from = (*first.elements)[0], by = (*step.elements)[0];
    const Scalar count = e.max(e.index(0), e.ceilDiv(e.sub((*end.elements)[0], from), by));
    if (count.known && *count.known <= 64) {
      Scalars all;
      for (int64_t i = 0; i < *count.known; ++i)
        all.push_back(e.add(from, e.mul(by, e.index(i))));
      return op.set(0, e.list(std::move(all)));
    }
  }
  const Scalar from = e.only(first), to = e.only(end), by = e.only(step);
  Scalar count;
  if (first.elements && end.elements && step.elements) {
    count = e.max(e.index(0),
                  e.ceilDiv(e.sub((*end.elements)[0], (*first.elements)[0]), (*step.elements)[0]));
  } else if (isFloat(type)) {
    const Scalar steps = e.math("ceil", {e.div(e.sub(to, from), by)});
    count = e.convert(e.max(steps, e.number(type, 0)), ElementType::Index);
  } else {
    count = e.max(e.index(0), e.ceilDiv(e.sub(e.convert(to, ElementType::Index),
                                              e.convert(from, ElementType::Index)),
                                        e.convert(by, ElementType::Index)));
  }
  op.set(0, e.generate(type, {count}, [&](const Scalars &i) {
    return e.add(from, e.mul(e.convert(i[0], type), by));
  }));
}

void eyeLike(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  static const std::map<int64_t, ElementType> types{
      {1, ElementType::F32},  {2, ElementType::U8},   {3, ElementType::I8},
      {4, ElementType::U16},  {5, ElementType::I16},  {6, ElementType::I32},
      {7, ElementType::I64},  {9, ElementType::I1},   {10, ElementType::F16},
      {11, ElementType::F64}, {12, ElementType::U32}, {13, ElementType::U64},
      {16, ElementType::BF16}};
  const auto found = types.find(op.integer("dtype", 0));
  const ElementType type = found == types.end() ? x.type : found->second;
  if (x.rank() != 2)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " is no matrix");
  const Scalar k = e.index(op.integer("k", 0));
  op.set(0, e.generate(type, x.dims, [&](const Scalars &position) {
    const Scalar on = e.compare(Compare::Equal, e.sub(position[1], position[0]), k);
    return e.select(on, e.number(type, 1), e.number(type, 0));
  }));
}

void random(Operator &) { unsupported("it is random"); }

} // namespace

const OperatorTable &sources() {
  static const OperatorTable table{{"Constant", constant},    {"ConstantOfShape", constantOfShape},
                                   {"Range", range},          {"EyeLike", eyeLike},
                                   {"Bernoulli", random},     {"Multinomial", random},
                                   {"RandomNormal", random},  {"RandomNormalLike", random},
                                   {"RandomUniform", random}, {"RandomUniformLike", random}};
  return table;
}

} // namespace plim::importers
