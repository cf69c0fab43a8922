// ONNX Runtime's weights of few bits, quantised block by block (Contrib.h).
#include "importers/onnx/Blocks.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Products.h"

#include <array>
#include <span>

namespace plim::importers {

namespace {

/// The number of `bits` bits at a place of a byte, the lowest first.
Scalar partOf(Emitter &e, const Scalar &byte, const Scalar &place, int64_t bits) {
  if (bits == 8)
    return e.convert(byte, ElementType::I32);
  const Scalar wide = e.convert(byte, ElementType::I32);
  const Scalar shift = e.mul(e.convert(place, ElementType::I32), e.integer(ElementType::I32, bits));
  const Scalar low{ElementType::I32,
                   e.define("arith.shrui " + e.use(wide) + ", " + e.use(shift) + " : i32"),
                   {}};
  return e.both(low, e.integer(ElementType::I32, (int64_t(1) << bits) - 1));
}

Scalar plainNumber(Emitter &e, const Scalar &number, const Scalar &scale, const Scalar &zero) {
  return e.mul(e.sub(e.convert(number, scale.type), e.convert(zero, scale.type)), scale);
}

void matMulNBits(Operator &op) {
  Emitter &e = op.emit;
  refuseFlag(op, "weight_prepacked");
  const int64_t bits = bitsOfWeights(op, "bits"), size = blockSize(op, 0);
  const int64_t k = countOf(op, "K"), n = countOf(op, "N"), blocks = (k + size - 1) / size;
  const int64_t level = op.integer("accuracy_level", 0);
  if (level < 0 || level > 4)
    invalid("accuracy_level is " + std::to_string(level) + ", none of 0 to 4");
  const Value &a = op.input(0);
  const ElementType type = a.type;
  const Scalar rows = e.index(n), columns = e.index(k), width = e.index(size),
               count = e.index(blocks);
  const Value bytes = e.reshape(op.input(1), {rows, e.index(blocks * size * bits / 8)});
  const Value scales = e.reshape(op.input(2), {rows, count});
  Value zeros =
      e.splat({rows, count}, e.number(type, static_cast<double>(int64_t(1) << (bits - 1))));
  if (op.has(3) && isFloat(op.input(3).type))
    zeros = e.reshape(op.input(3), {rows, count});
  else if (op.has(3))
    zeros = e.sliceAxis(
        unpacked(e, e.reshape(op.input(3), {rows, e.index((blocks * bits + 7) / 8)}), bits), 1,
        e.index(0), count);
  const Value numbers = unpacked(e, bytes, bits);
  Value weights;
  if (op.has(4)) { // which block each column has
    const Value &block = op.input(4);
    e.use(numbers);
    e.use(scales);
    e.use(zeros);
    e.use(block);
    weights = e.generate(type, {rows, columns}, [&](const Scalars &at) {
      const Scalars from{at[0], e.convert(e.at(block, {at[1]}), ElementType::Index)};
      return plainNumber(e, e.at(numbers, at), e.at(scales, from), e.at(zeros, from));
    });
  } else {
    weights = e.sliceAxis(ofBlocks(e, numbers, scales, zeros, size), 1, e.index(0), columns);
  }
  // At level 4 bytes are as good as the model needs its rows.
  Value y = product(e, a, e.transpose(weights, {1, 0}), level == 4 ? "plim.round_rows" : "");
  if (op.has(5))
    y = e.elementwise(type, {y, op.input(5)},
                      [&](const Scalars &in) { return e.add(in[0], in[1]); });
  op.set(0, y);
}

/// What 4 bits stand for: floats of 4 bits, or quantiles of the normal distribution, both up to 1.
/// https://arxiv.org/abs/2305.14314, appendix E.
constexpr std::array<float, 16> floats{
    0,    0.00520833333F,  0.66666667F,  1,  0.33333333F,  0.5F,  0.16666667F,  0.25F,
    -0.F, -0.00520833333F, -0.66666667F, -1, -0.33333333F, -0.5F, -0.16666667F, -0.25F};
constexpr std::array<float, 16> quantiles{-1,           -0.69619280F, -0.52507305F, -0.39491749F,
                                          -0.28444138F, -0.18477343F, -0.09105004F, 0,
                                          0.07958030F,  0.16093020F,  0.24611230F,  0.33791524F,
                                          0.44070983F,  0.56261700F,  0.72295684F,  1};

void matMulBnb4(Operator &op) {
  Emitter &e = op.emit;
  const int64_t kind = op.integer("quant_type", 0), size = blockSize(op, 0);
  if (kind != 0 && kind != 1)
    invalid("quant_type is " + std::to_string(kind) + ", neither 0 nor 1");
  refuseFlag(op, "training_mode");
  const int64_t k = countOf(op, "K"), n = countOf(op, "N");
  const Value &a = op.input(0), &bytes = op.input(1), &most = op.input(2);
  const auto content = std::as_bytes(std::span(kind == 1 ? quantiles : floats));
  const Value table =
      e.constant(makeTensor(ElementType::F32, {16}, {content.begin(), content.end()}));
  e.use(table);
  e.use(bytes);
  e.use(most);
  const Value weights = e.generate(a.type, {e.index(n), e.index(k)}, [&](const Scalars &at) {
    const Scalar flat = e.add(e.mul(at[0], e.index(k)), at[1]), two = e.index(2);
    const Scalar byte = e.at(bytes, {e.div(flat, two)});
    const Scalar code =
        partOf(e, byte, e.sub(e.index(1), e.rem(flat, two)), 4); // the upper half first
    const Scalar number = e.at(table, {e.convert(code, ElementType::Index)});
    return e.mul(e.convert(number, a.type), e.at(most, {e.div(flat, e.index(size))}));
  });
  op.set(0, product(e, a, flag(op, "transB", true) ? e.transpose(weights, {1, 0}) : weights));
}

/// Rows, or what else lies along an axis, by their numbers; 0 for what is not there.
void gatherBlockQuantized(Operator &op) {
  Emitter &e = op.emit;
  const Value &data = op.input(0), &indices = op.input(1), &scales = op.input(2);
  const bool isApart = data.type == ElementType::I4 || data.type == ElementType::U4;
  if (!isApart && data.type != ElementType::U8)
    unsupported("of " + onnxName(data.type));
  const int64_t bits = bitsOfWeights(op, "bits"), each = isApart ? 1 : 8 / bits, rank = data.rank();
  const Scalar size = e.index(blockSize(op, 128));
  const int64_t gathered = Operator::axisOf(op.integer("gather_axis", 0), rank);
  const auto blocked = static_cast<size_t>(Operator::axisOf(op.integer("quantize_axis", 1), rank));
  if (gathered != 0)
    unsupported("along axis " + std::to_string(gathered));
  Scalars whole = data.dims; // of the numbers
  whole.back() = e.mul(whole.back(), e.index(each));
  Scalars dims = indices.dims;
  dims.insert(dims.end(), whole.begin() + 1, whole.end());
  const bool hasZeros = op.has(3);
  e.use(data);
  e.use(indices);
  e.use(scales);
  if (hasZeros)
    e.use(op.input(3));
  auto numberAt = [&](const Value &bytes, Scalars at) {
    if (isApart)
      return e.convert(e.at(bytes, at), ElementType::I32);
    const Scalar place = e.rem(at.back(), e.index(each));
    at.back() = e.div(at.back(), e.index(each));
    return partOf(e, e.at(bytes, at), place, bits);
  };
  op.set(0, e.generate(scales.type, dims, [&](const Scalars &position) {
    const auto middle = position.begin() + indices.rank();
    const Scalar given =
        e.convert(e.at(indices, Scalars(position.begin(), middle)), ElementType::Index);
    const Scalar row =
        e.select(e.compare(Compare::Less, given, e.index(0)), e.add(given, whole[0]), given);
    const Scalar isThere = e.both(e.compare(Compare::GreaterEqual, row, e.index(0)),
                                  e.compare(Compare::Less, row, whole[0]));
    return e.branch(
        isThere,
        [&]() -> Scalars {
          Scalars at{row};
          at.insert(at.end(), middle, position.end());
          Scalars block = at;
          block[blocked] = e.div(block[blocked], size);
          const ElementType wide = ElementType::I32;
          const Scalar zero = hasZeros ? numberAt(op.input(3), block)
                                       : e.integer(wide, isApart ? 0 : int64_t(1) << (bits - 1));
          return {
              e.mul(e.convert(e.sub(numberAt(data, at), zero), scales.type), e.at(scales, block))};
        },
        [&]() -> Scalars { return {e.number(scales.type, 0)}; })[0];
  }));
}

} // namespace

int64_t bitsOfWeights(const Operator &op, const char *attribute) {
  const int64_t bits = op.integer(attribute, 4);
  if (bits != 2 && bits != 4 && bits != 8)
    unsupported("of " + std::to_string(bits) + " bits");
  return bits;
}

int64_t blockSize(const Operator &op, int64_t otherwise) {
  const int64_t size = op.integer("block_size", otherwise);
  if (size < 16 || size > int64_t(1) << 31 || (size & (size - 1)) != 0)
    invalid("block_size is " + std::to_string(size) + ", no power of 2 from 16 on");
  return size;
}

Value unpacked(Emitter &e, const Value &bytes, int64_t bits) {
  const Scalar each = e.index(8 / bits), one = e.index(1);
  const Value apart = e.reshape(bytes, {bytes.dims[0], bytes.dims[1], one});
  const Value numbers = e.elementwiseTo(
      ElementType::U8, {bytes.dims[0], bytes.dims[1], each}, {apart}, [&](const Scalars &in) {
        const Scalar place{ElementType::Index, e.define("linalg.index 2 : index"), {}};
        return e.convert(partOf(e, in[0], place, bits), ElementType::U8);
      });
  return e.reshape(numbers, {bytes.dims[0], e.mul(bytes.dims[1], each)});
}

Value constantOf(Emitter &e, const TensorPtr &data) {
  if (!data->isPacked)
    return e.constant(data);
  const auto bits = static_cast<int64_t>(bitsOf(data->type));
  auto bytes = std::make_shared<Tensor>(*data);
  bytes->type = ElementType::U8;
  bytes->shape = {1, static_cast<int64_t>(data->bytes.size())};
  bytes->isPacked = false;
  Value numbers = unpacked(e, e.constant(bytes), bits);
  numbers = e.sliceAxis(numbers, 1, e.index(0), e.index(data->elementCount()));
  Scalars dims;
  for (int64_t extent : data->shape)
    dims.push_back(e.index(extent));
  numbers = e.reshape(numbers, dims);
  if (asByte(data->type) != ElementType::I8) {
    numbers.type = data->type;
    return numbers;
  }
  // With their sign: (n + half) % (2 * half) - half.
  const Scalar half = e.integer(ElementType::I32, int64_t(1) << (bits - 1)),
               ones = e.integer(ElementType::I32, (int64_t(1) << bits) - 1);
  Value withSign = e.elementwise(ElementType::I8, {numbers}, [&](const Scalars &in) {
    const Scalar moved = e.both(e.add(e.convert(in[0], ElementType::I32), half), ones);
    return e.convert(e.sub(moved, half), ElementType::I8);
  });
  withSign.type = data->type;
  return withSign;
}

Value ofBlocks(Emitter &e, const Value &numbers, const Value &scales, const Value &zeros,
               int64_t size) {
  const Scalar rows = numbers.dims[0], blocks = scales.dims[1];
  auto each = [&](const Value &x) { return e.reshape(x, {rows, blocks, e.index(1)}); };
  const Value apart = e.reshape(numbers, {rows, blocks, e.index(size)});
  const Value all =
      e.elementwise(scales.type, {apart, each(scales), each(zeros)},
                    [&](const Scalars &in) { return plainNumber(e, in[0], in[1], in[2]); });
  return e.reshape(all, numbers.dims);
}

const ContribTable &contribBlocks() {
  static const ContribTable table{
      {"MatMulNBits",
       {matMulNBits, 3, 6, 1, "K! N! accuracy_level bits block_size! weight_prepacked"}},
      {"MatMulBnb4", {matMulBnb4, 3, 3, 1, "K! N! block_size! quant_type! training_mode transB"}},
      {"GatherBlockQuantized",
       {gatherBlockQuantized, 3, 4, 1, "bits block_size gather_axis quantize_axis"}}};
  return table;
}

} // namespace plim::importers
