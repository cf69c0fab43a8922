// Quantised numbers. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Quantisation.h"
#include "importers/onnx/Convolution.h"
#include "importers/onnx/Products.h"

#include <algorithm>

namespace plim::importers {

namespace {

Value zeroOf(Emitter &e) { return e.constant(makeTensor(ElementType::U8, {}, {std::byte{0}})); }

int64_t axisFor(Operator &op, const Value &x) {
  return x.rank() ? op.axis(x.rank() > 1 ? 1 : 0, x.rank()) : 0;
}

void quantizeLinear(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = axisFor(op, x);
  const Value zero = op.has(2) ? along(e, op.input(2), x, axis) : zeroOf(e);
  if (bitsOf(zero.type) > 16)
    unsupported("to " + onnxName(zero.type));
  op.set(0, quantised(e, x, along(e, op.input(1), x, axis), zero));
}

void dequantizeLinear(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = axisFor(op, x);
  const Value scale = along(e, op.input(1), x, axis);
  const Value zero = op.has(2) ? along(e, op.input(2), x, axis) : Value();
  op.set(0, dequantised(e, x, scale, zero ? &zero : nullptr));
}

void matMulInteger(Operator &op) {
  op.set(0, product(op.emit, centred(op, op.input(0), 2, rowAxis),
                    centred(op, op.input(1), 3, columnAxis)));
}

/// An input that is taken away from x.
const Value &zeroPoint(Operator &op, const Value &x, size_t input) {
  const Value &zero = op.input(input);
  if (zero.type != x.type)
    invalid("a zero point is " + onnxName(zero.type) + ", its tensor " + onnxName(x.type));
  return zero;
}

/// Sums over windows of the first input, whose zero point is input 2, with weights. The border is
/// padded before the numbers are made wider, so that sums read narrow numbers.
Value windowSums(Operator &op, const Value &weights) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Scalar outside = op.has(2) ? e.only(zeroPoint(op, x, 2)) : e.integer(x.type, 0);
  return convolution(op, x, weights, ElementType::I32, outside,
                     [&](const Value &padded) { return centred(op, padded, 2, std::nullopt); });
}

void convInteger(Operator &op) {
  op.set(0, windowSums(op, centred(op, op.input(1), 3, filterAxis)));
}

/// The scale of a product of quantised numbers, over that of its result.
Value rescaled(Emitter &e, const Value &sum, const Value &scaleA, const Value &scaleB,
               const Value &scaleY, const Value &zero) {
  return e.elementwise(zero.type, {sum, scaleA, scaleB, scaleY, zero}, [&](const Scalars &in) {
    const Scalar scale = e.div(e.mul(in[1], in[2]), in[3]);
    const Scalar value = e.math("roundeven", {e.mul(e.convert(in[0], ElementType::F32), scale)});
    const Scalar shifted = e.add(value, e.convert(in[4], ElementType::F32));
    const bool noSign = isUnsigned(zero.type);
    const Scalar least = e.number(ElementType::F32, noSign ? 0 : -128),
                 most = e.number(ElementType::F32, noSign ? 255 : 127);
    return e.convert(e.max(least, e.min(most, shifted)), zero.type);
  });
}

void qLinearMatMul(Operator &op) {
  Emitter &e = op.emit;
  const Value a = centred(op, op.input(0), 2, rowAxis), b = centred(op, op.input(3), 5, columnAxis);
  const Value sum = product(e, a, b);
  Value scaleA = op.input(1);
  if (scaleA.rank() == 1 && !scaleA.dims[0].is(1))
    scaleA = e.reshape(scaleA, {scaleA.dims[0], e.index(1)});
  op.set(0, rescaled(e, sum, scaleA, op.input(4), op.input(6), op.input(7)));
}

void qLinearConv(Operator &op) {
  Emitter &e = op.emit;
  Value sum = windowSums(op, centred(op, op.input(3), 5, filterAxis));
  auto byChannel = [&](const Value &list) { return along(e, list, sum, 1); };
  if (op.has(8))
    sum = e.elementwise(ElementType::I32, {sum, byChannel(op.input(8))},
                        [&](const Scalars &in) { return e.add(in[0], in[1]); });
  op.set(0, rescaled(e, sum, op.input(1), byChannel(op.input(4)), op.input(6), op.input(7)));
}

} // namespace

Value along(Emitter &e, const Value &list, const Value &x, int64_t axis) {
  if (list.rank() == 0 || (list.rank() == 1 && list.dims[0].is(1)) || list.rank() != 1)
    return list.rank() == 1 ? e.reshape(list, {}) : list;
  Scalars dims(static_cast<size_t>(x.rank() - axis), e.index(1));
  dims[0] = list.dims[0];
  return e.reshape(list, dims);
}

Value quantised(Emitter &e, const Value &x, const Value &scale, const Value &zero) {
  return e.elementwise(zero.type, {x, scale, zero}, [&](const Scalars &in) {
    const ElementType type = in[1].type;
    const Scalar ratio = e.math("roundeven", {e.div(e.convert(in[0], type), in[1])});
    const Scalar shifted = e.add(ratio, e.convert(in[2], type));
    const int64_t bits = static_cast<int64_t>(bitsOf(zero.type));
    const double least = isUnsigned(zero.type) ? 0 : -static_cast<double>(int64_t(1) << (bits - 1));
    const double most = isUnsigned(zero.type) ? static_cast<double>((int64_t(1) << bits) - 1)
                                              : static_cast<double>((int64_t(1) << (bits - 1)) - 1);
    return e.convert(e.max(e.number(type, least), e.min(e.number(type, most), shifted)), zero.type);
  });
}

Value dequantised(Emitter &e, const Value &x, const Value &scale, const Value *zero) {
  Values operands{x, scale};
  if (zero)
    operands.push_back(*zero);
  return e.elementwise(scale.type, operands, [&](const Scalars &in) {
    const ElementType wide = bitsOf(x.type) < 32 ? ElementType::I32 : x.type;
    const Scalar raw = e.convert(in[0], wide);
    const Scalar centred = zero ? e.sub(raw, e.convert(in[2], wide)) : raw;
    return e.mul(e.convert(centred, scale.type), in[1]);
  });
}

Value centred(Emitter &e, const Value &x, const Value &zero) {
  return e.elementwise(ElementType::I32, {x, zero}, [&](const Scalars &in) {
    return e.sub(e.convert(in[0], ElementType::I32), e.convert(in[1], ElementType::I32));
  });
}

Value centred(Operator &op, const Value &x, size_t zeroInput, std::optional<int64_t> axis) {
  Emitter &e = op.emit;
  if (!op.has(zeroInput))
    return e.convert(x, ElementType::I32);
  Value zero = zeroPoint(op, x, zeroInput);
  const std::string wrong = "a zero point does not fit its tensor";
  const Scalar one = e.index(1);
  if (zero.rank() == 1 && !zero.dims[0].is(1) && axis && *axis + x.rank() >= 0) {
    Scalars dims(x.dims.size(), one);
    dims[static_cast<size_t>(Operator::axisOf(*axis, x.rank()))] = zero.dims[0];
    zero = e.reshape(zero, dims);
  } else if (zero.rank() == 1) {
    e.require(e.compare(Compare::Equal, zero.dims[0], one), wrong);
    zero = e.scalar(e.only(zero));
  }
  if (zero.rank() > x.rank())
    invalid(wrong);
  for (size_t i = 0; i < zero.dims.size(); ++i) {
    const Scalar &own = zero.dims[i], &all = x.dims[x.dims.size() - zero.dims.size() + i];
    if (!own.is(1) && !sameExtent(own, all))
      e.require(e.either(e.compare(Compare::Equal, own, all), e.compare(Compare::Equal, own, one)),
                wrong);
  }
  const std::optional<Numbers> numbers = e.known(zero);
  if (numbers && std::all_of(numbers->begin(), numbers->end(), [](int64_t z) { return z == 0; }))
    return e.convert(x, ElementType::I32);
  return e.elementwiseTo(ElementType::I32, x.dims, {x, zero}, [&](const Scalars &in) {
    return e.sub(e.convert(in[0], ElementType::I32), e.convert(in[1], ElementType::I32));
  });
}

Quantised dynamicallyQuantised(Emitter &e, const Value &x) {
  Axes all;
  for (int64_t i = 0; i < x.rank(); ++i)
    all.push_back(i);
  auto number = [&](double value) { return e.number(x.type, value); };
  const Value least =
      e.reduce(x, all, false, number(0),
               [&](const Scalar &so, const Scalar &element) { return e.min(so, element); });
  const Value most =
      e.reduce(x, all, false, number(0),
               [&](const Scalar &so, const Scalar &element) { return e.max(so, element); });
  Quantised out;
  out.scale = e.elementwise(x.type, {least, most}, [&](const Scalars &in) {
    const Scalar scale = e.div(e.sub(in[1], in[0]), number(255));
    return e.select(e.compare(Compare::Equal, scale, number(0)), number(1), scale);
  });
  out.zero = e.elementwise(ElementType::U8, {least, out.scale}, [&](const Scalars &in) {
    const Scalar zero = e.math("roundeven", {e.neg(e.div(in[0], in[1]))});
    return e.convert(e.max(number(0), e.min(number(255), zero)), ElementType::U8);
  });
  out.value = quantised(e, x, out.scale, out.zero);
  return out;
}

const OperatorTable &quantisation() {
  static const OperatorTable table{
      {"QuantizeLinear", quantizeLinear}, {"DequantizeLinear", dequantizeLinear},
      {"MatMulInteger", matMulInteger},   {"ConvInteger", convInteger},
      {"QLinearMatMul", qLinearMatMul},   {"QLinearConv", qLinearConv}};
  return table;
}

} // namespace plim::importers
