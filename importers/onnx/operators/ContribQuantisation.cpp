// ONNX Runtime's operators of quantised numbers (Contrib.h). What is not a product is computed of the numbers that integers
// stand for, and quantised again.
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Products.h"
#include "importers/onnx/Quantisation.h"
#include "importers/onnx/Windows.h"

namespace plim::importers {

namespace {

/// What the input stands for; its scale and zero point, which may be left out, are the two behind it.
Value plain(Operator &op, size_t input) {
  const Value *zero = op.has(input + 2) ? &op.input(input + 2) : nullptr;
  return dequantised(op.emit, op.input(input), op.input(input + 1), zero);
}

/// By a scale and a zero point, which may be left out; of the type `type`.
Value requantised(Operator &op, const Value &x, size_t scale, ElementType type) {
  Emitter &e = op.emit;
  const Value zero = op.has(scale + 1) ? op.input(scale + 1) : e.splat({}, e.integer(type, 0));
  return quantised(e, x, op.input(scale), zero);
}

template <Scalar (Builder::*Apply)(const Scalar &, const Scalar &)> void binary(Operator &op) {
  Emitter &e = op.emit;
  const Value a = plain(op, 0), b = plain(op, 3);
  const Value y =
      e.elementwise(a.type, {a, b}, [&](const Scalars &in) { return (e.*Apply)(in[0], in[1]); });
  op.set(0, requantised(op, y, 6, op.input(0).type));
}

void activated(Operator &op, const Activation &f) {
  op.set(0, requantised(op, applied(op.emit, f, plain(op, 0)), 3, op.input(0).type));
}

void qLinearSigmoid(Operator &op) { activated(op, activationOf("Sigmoid")); }

void qLinearLeakyRelu(Operator &op) { activated(op, {"LeakyRelu", op.real("alpha", 0.01)}); }

void qLinearSoftmax(Operator &op) {
  const Value y = resultOf(op, "Softmax", op.integer("opset", 13), {plain(op, 0)});
  op.set(0, requantised(op, y, 3, op.input(0).type));
}

void qLinearReduceMean(Operator &op) {
  const Value y = resultOf(op, "ReduceMean", 13, {plain(op, 0)});
  op.set(0, requantised(op, y, 3, op.input(0).type));
}

void qLinearConcat(Operator &op) {
  if (op.inputs.size() % 3 != 2)
    invalid("each tensor must have a scale and a zero point");
  Values parts;
  for (size_t i = 2; i < op.inputs.size(); i += 3)
    parts.push_back(requantised(op, plain(op, i), 0, op.input(i).type));
  op.set(0, op.emit.concatenate(parts, op.axis(0, parts[0].rank())));
}

void qLinearWhere(Operator &op) {
  Emitter &e = op.emit;
  if (op.input(0).type != ElementType::I1)
    invalid("the condition is of " + onnxName(op.input(0).type));
  const Value x = plain(op, 1), y = plain(op, 4);
  const Value z = e.elementwise(x.type, {op.input(0), x, y},
                                [&](const Scalars &in) { return e.select(in[0], in[1], in[2]); });
  op.set(0, requantised(op, z, 7, op.input(1).type));
}

void pooled(Operator &op, const char *name) {
  Emitter &e = op.emit;
  const bool isLast = flag(op, "channels_last", false);
  const Value x = isLast ? channelsFirst(e, plain(op, 0)) : plain(op, 0);
  const Value y = requantised(op, resultOf(op, name, 11, {x}), 3, op.input(0).type);
  op.set(0, isLast ? channelsLast(e, y) : y);
}

void qLinearAveragePool(Operator &op) { pooled(op, "AveragePool"); }
void qLinearGlobalAveragePool(Operator &op) { pooled(op, "GlobalAveragePool"); }

/// As ONNX's, or with channels behind.
void qLinearConv(Operator &op) {
  Emitter &e = op.emit;
  const bool isLast = flag(op, "channels_last", false);
  Values inputs = op.inputs;
  if (isLast)
    inputs[0] = channelsFirst(e, op.input(0));
  const Value y = resultOf(op, "QLinearConv", 10, inputs);
  op.set(0, isLast ? channelsLast(e, y) : y);
}

/// A sum of products of integers times both scales, with a bias if there is one.
Value scaledSum(Operator &op, const Value &sum, const Value &scaleA, const Value &scaleB,
                size_t bias) {
  Emitter &e = op.emit;
  if (!e.count(scaleA).is(1))
    unsupported("with several scales of A");
  const ElementType type = scaleA.type;
  Values operands{sum, e.reshape(scaleA, {}), scaleB};
  if (op.has(bias))
    operands.push_back(op.input(bias));
  return e.elementwise(type, operands, [&](const Scalars &in) {
    const Scalar value = e.mul(e.convert(in[0], type), e.mul(in[1], in[2]));
    return in.size() == 4 ? e.add(value, in[3]) : value;
  });
}

void matMulIntegerToFloat(Operator &op) {
  const Value sum = product(op.emit, centred(op, op.input(0), 4, rowAxis),
                            centred(op, op.input(1), 5, columnAxis));
  op.set(0, scaledSum(op, sum, op.input(2), op.input(3), 6));
}

void dynamicQuantizeMatMul(Operator &op) {
  Emitter &e = op.emit;
  const Quantised a = dynamicallyQuantised(e, op.input(0));
  const Value sum =
      product(e, centred(e, a.value, a.zero), centred(op, op.input(1), 3, columnAxis));
  op.set(0, scaledSum(op, sum, a.scale, op.input(2), 4));
}

void qGemm(Operator &op) {
  Emitter &e = op.emit;
  Value a = op.input(0), b = op.input(3);
  if (a.rank() != 2 || b.rank() != 2)
    invalid("both factors must be matrices");
  if (flag(op, "transA", false))
    a = e.transpose(a, {1, 0});
  if (flag(op, "transB", false))
    b = e.transpose(b, {1, 0});
  Value sum = product(e, centred(op, a, 2, rowAxis), centred(op, b, 5, columnAxis));
  if (op.has(6))
    sum = e.elementwise(sum.type, {sum, op.input(6)},
                        [&](const Scalars &in) { return e.add(in[0], in[1]); });
  Value y = scaledSum(op, sum, op.input(1), op.input(4), anyNumber);
  if (const double alpha = op.real("alpha", 1); alpha != 1)
    y = e.elementwise(y.type, {y},
                      [&](const Scalars &in) { return e.mul(in[0], e.number(y.type, alpha)); });
  if (op.has(7) != op.has(8))
    invalid("y_scale and y_zero_point come together");
  op.set(0, op.has(7) ? quantised(e, y, op.input(7), op.input(8)) : y);
}

void mulInteger(Operator &op) {
  Emitter &e = op.emit;
  const Value a = centred(op, op.input(0), 1, std::nullopt),
              b = centred(op, op.input(2), 3, std::nullopt);
  op.set(0, e.elementwise(a.type, {a, b}, [&](const Scalars &in) { return e.mul(in[0], in[1]); }));
}

void reduceSumInteger(Operator &op) {
  Emitter &e = op.emit;
  const bool hasSign = !isUnsigned(op.input(0).type);
  const Value wide = e.convert(op.input(0), hasSign ? ElementType::I32 : ElementType::U32);
  op.set(0, resultOf(op, "ReduceSum", 11, {wide}));
}

} // namespace

const ContribTable &contribQuantisation() {
  static const ContribTable table{
      {"QuantizeLinear", {asOnnx<13>, 2, 3, 1, "axis"}},
      {"DequantizeLinear", {asOnnx<13>, 2, 3, 1, "axis"}},
      {"QLinearAdd", {binary<&Builder::add>, 7, 8, 1, ""}},
      {"QLinearMul", {binary<&Builder::mul>, 7, 8, 1, ""}},
      {"QLinearSigmoid", {qLinearSigmoid, 4, 5, 1, ""}},
      {"QLinearLeakyRelu", {qLinearLeakyRelu, 4, 5, 1, "alpha"}},
      {"QLinearSoftmax", {qLinearSoftmax, 5, 5, 1, "axis opset!"}},
      {"QLinearReduceMean", {qLinearReduceMean, 4, 5, 1, "axes! keepdims!"}},
      {"QLinearConcat", {qLinearConcat, 3, anyNumber, 1, "axis!"}},
      {"QLinearWhere", {qLinearWhere, 9, 9, 1, ""}},
      {"QLinearAveragePool",
       {qLinearAveragePool, 4, 5, 1,
        "auto_pad ceil_mode channels_last count_include_pad kernel_shape! pads strides"}},
      {"QLinearGlobalAveragePool", {qLinearGlobalAveragePool, 5, 5, 1, "channels_last"}},
      {"QLinearConv",
       {qLinearConv, 8, 9, 1, "auto_pad channels_last dilations group kernel_shape pads strides"}},
      {"MatMulIntegerToFloat", {matMulIntegerToFloat, 4, 7, 1, ""}},
      {"DynamicQuantizeMatMul", {dynamicQuantizeMatMul, 3, 5, 1, ""}},
      {"QGemm", {qGemm, 6, 9, 1, "alpha transA transB"}},
      {"MulInteger", {mulInteger, 3, 4, 1, ""}},
      {"ReduceSumInteger", {reduceSumInteger, 1, 1, 1, "axes! keepdims!"}}};
  return table;
}

} // namespace plim::importers
