// Quantised numbers. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Quantisation.h"
#include "importers/onnx/Blocks.h"
#include "importers/onnx/Convolution.h"
#include "importers/onnx/Products.h"

#include <algorithm>

namespace plim::importers {

namespace {

int64_t axisFor(Operator &op, const Value &x) {
  return x.rank() ? op.axis(x.rank() > 1 ? 1 : 0, x.rank()) : 0;
}

/// What `body` makes of x and of lists with an element for each block of so many along an axis: both
/// with the blocks as a dimension of their own, or with an element of the lists for each of x where the
/// last block is shorter, or only a call knows whether it is.
Value byBlocks(Operator &op, const Value &x, Values lists, int64_t axis, int64_t size,
               const std::function<Value(const Value &, const Values &)> &body) {
  Emitter &e = op.emit;
  const auto a = static_cast<size_t>(axis);
  const Scalar &extent = x.dims[a];
  for (const Value &list : lists)
    for (size_t i = 0; i < x.dims.size(); ++i) {
      const Scalar wanted =
          i == a ? e.div(e.add(extent, e.index(size - 1)), e.index(size)) : x.dims[i];
      const Scalar fits = e.compare(Compare::Equal, list.dims[i], wanted);
      if (fits.known && *fits.known == 0)
        invalid("a scale or zero point has " + std::to_string(*list.dims[i].known) +
                " along axis " + std::to_string(i) + ", which needs " +
                std::to_string(*wanted.known));
      e.require(fits, "a scale or zero point does not fit blocks of " + std::to_string(size));
    }
  if (!extent.known || *extent.known % size != 0) {
    for (Value &list : lists) {
      e.use(list);
      list = e.generate(list.type, x.dims, [&](Scalars at) {
        at[a] = e.div(at[a], e.index(size));
        return e.at(list, at);
      });
    }
    return body(x, lists);
  }
  auto apart = [&](const Value &value, const Scalar &blocks, const Scalar &each) {
    Scalars dims = value.dims;
    dims[a] = blocks;
    dims.insert(dims.begin() + axis + 1, each);
    return e.reshape(value, dims);
  };
  for (Value &list : lists)
    list = apart(list, list.dims[a], e.index(1));
  const Value whole = apart(x, e.index(*extent.known / size), e.index(size));
  return e.reshape(body(whole, lists), x.dims);
}

/// A scale and a zero point, if there is one, for x: of blocks, or of an axis or all.
Value scaled(Operator &op, const Value &x, const Values &lists,
             const std::function<Value(const Value &, const Values &)> &body) {
  const int64_t axis = axisFor(op, x), size = op.integer("block_size", 0);
  if (size < 0)
    invalid("block_size is " + std::to_string(size));
  if (size > 0) {
    for (const Value &list : lists)
      if (list.rank() != x.rank())
        invalid("a scale or zero point of blocks has rank " + std::to_string(list.rank()) +
                ", its tensor " + std::to_string(x.rank()));
    return byBlocks(op, x, lists, axis, size, body);
  }
  Values broadcast;
  for (const Value &list : lists)
    broadcast.push_back(along(op.emit, list, x, axis));
  return body(x, broadcast);
}

/// That an attribute names; 0 stands for none.
std::optional<ElementType> typeGiven(const Operator &op, const char *attribute) {
  const auto number = static_cast<int32_t>(op.integer(attribute, 0));
  return number == 0 ? std::nullopt : std::optional(readElementType(number, attribute));
}

void quantizeLinear(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const auto given = typeGiven(op, "output_dtype"), precision = typeGiven(op, "precision");
  Values lists{op.input(1)};
  Value zero;
  if (op.has(2)) {
    zero = op.input(2);
    lists.push_back(zero);
    if (given && *given != zero.type)
      invalid("output_dtype is " + onnxName(*given) + ", the zero point " + onnxName(zero.type));
  } else {
    zero = constantOf(e, zeroOf(protoElementType(given.value_or(ElementType::U8)), "output_dtype"));
  }
  if (!isSmallFloat(zero.type) && (!isInteger(zero.type) || bitsOf(zero.type) > 16))
    unsupported("to " + onnxName(zero.type));
  if (zero.type == ElementType::F8E8M0 || zero.type == ElementType::I1)
    invalid("to " + onnxName(zero.type));
  if (precision && (!isFloat(*precision) || isSmallFloat(*precision)))
    invalid("precision is " + onnxName(*precision));
  const Rounding rounding{flag(op, "saturate", true)};
  op.set(0, scaled(op, x, lists, [&](const Value &whole, const Values &each) {
           return quantised(e, whole, each[0], each.size() > 1 ? each[1] : zero, precision,
                            rounding);
         }));
}

void dequantizeLinear(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Values lists{op.input(1)};
  if (op.has(2))
    lists.push_back(op.input(2));
  const Value y = scaled(op, x, lists, [&](const Value &whole, const Values &each) {
    return dequantised(e, whole, each[0], each.size() > 1 ? &each[1] : nullptr);
  });
  const auto given = typeGiven(op, "output_dtype");
  if (!given && isSmallFloat(op.input(1).type))
    invalid("the attribute 'output_dtype' is missing, and the scale is " +
            onnxName(op.input(1).type));
  op.set(0, given ? e.convert(y, *given) : y);
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

Value quantised(Emitter &e, const Value &x, const Value &scale, const Value &zero,
                std::optional<ElementType> precision, const Rounding &rounding) {
  return e.elementwise(zero.type, {x, scale, zero}, [&](const Scalars &in) {
    const ElementType own = isSmallFloat(in[1].type) ? ElementType::F32 : in[1].type;
    const ElementType type = precision.value_or(own);
    const ElementType wide =
        bitsOf(type) < 32 ? ElementType::F32 : type; // has all integers of 16 bits
    const Scalar ratio = e.div(e.convert(in[0], type), e.convert(in[1], type));
    if (isSmallFloat(zero.type)) {
      const Scalar shifted = e.add(e.convert(ratio, wide), e.convert(in[2], wide));
      return toSmallFloat(e, shifted, zero.type, rounding);
    }
    const Scalar whole = e.convert(e.math("roundeven", {ratio}), wide);
    const Scalar shifted = e.add(whole, e.convert(in[2], wide));
    const auto bits = static_cast<int64_t>(bitsOf(zero.type));
    const double least = isUnsigned(zero.type) ? 0 : -static_cast<double>(int64_t(1) << (bits - 1));
    const double most = isUnsigned(zero.type) ? static_cast<double>((int64_t(1) << bits) - 1)
                                              : static_cast<double>((int64_t(1) << (bits - 1)) - 1);
    const Scalar inside = e.max(e.number(wide, least), e.min(e.number(wide, most), shifted));
    return e.bitcast(e.convert(inside, asByte(zero.type)), zero.type);
  });
}

Value dequantised(Emitter &e, const Value &x, const Value &scale, const Value *zero) {
  Values operands{x, scale};
  if (zero)
    operands.push_back(*zero);
  const ElementType out = isSmallFloat(scale.type) ? ElementType::F32 : scale.type;
  // Integers of 8 bits are all in f16; the product of others is rounded to it.
  const bool isExact = bitsOf(x.type) <= 8 || bitsOf(out) > 16;
  const ElementType type = isExact ? out : ElementType::F32;
  return e.elementwise(out, operands, [&](const Scalars &in) {
    const ElementType wide = isSmallFloat(x.type)  ? ElementType::F32
                             : bitsOf(x.type) < 32 ? ElementType::I32
                                                   : x.type;
    const Scalar raw = e.convert(in[0], wide);
    const Scalar centred = zero ? e.sub(raw, e.convert(in[2], wide)) : raw;
    return e.convert(e.mul(e.convert(centred, type), e.convert(in[1], type)), out);
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
