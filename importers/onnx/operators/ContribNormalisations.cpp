// ONNX Runtime's normalisation (Contrib.h).
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Normalisation.h"
#include "importers/onnx/Quantisation.h"
#include "importers/onnx/Windows.h"

namespace plim::importers {

namespace {

Value sumOf(Emitter &e, const Value &a, const Value &b) {
  return e.elementwise(a.type, {a, b}, [&](const Scalars &in) { return e.add(in[0], in[1]); });
}

/// input + skip + bias, which the last output is, and its norm.
template <bool IsSimplified> void skipLayerNormalization(Operator &op) {
  Emitter &e = op.emit;
  const size_t bias = IsSimplified ? 3 : 4;
  Value sum = sumOf(e, op.input(0), op.input(1));
  if (!sameExtents(sum.dims, op.input(0).dims))
    sum = e.withDims(sum, op.input(0).dims);
  if (op.has(bias))
    sum = sumOf(e, sum, op.input(bias));
  const Axes last = axesFrom(sum.rank() - 1, sum.rank());
  const double epsilon = op.real("epsilon", 1e-12);
  const Normalised out =
      IsSimplified ? rootNormalised(e, sum, last, epsilon) : normalised(e, sum, last, epsilon);
  op.set(0, scaled(e, out.value, op.input(2), !IsSimplified && op.has(3) ? op.input(3) : Value()));
  op.set(1, out.mean);
  op.set(2, out.inverse);
  op.set(3, sum);
}

/// Rows of a table by their numbers.
Value rowsOf(Emitter &e, const Value &table, const Value &numbers) {
  if (table.rank() != 2)
    invalid("an embedding of rank " + std::to_string(table.rank()));
  Scalars dims = numbers.dims;
  dims.push_back(table.dims[1]);
  e.use(table);
  e.use(numbers);
  return e.generate(table.type, dims, [&](const Scalars &position) {
    const Scalar row = e.convert(e.at(numbers, position.without(1)), ElementType::Index);
    return e.at(table, {row, position.back()});
  });
}

/// How many words each sequence has; none without a mask.
Value lengths(Operator &op, size_t mask) {
  Emitter &e = op.emit;
  const Scalar none = e.integer(ElementType::I32, 0);
  if (!op.has(mask))
    return e.splat({op.input(0).dims[0]}, none);
  return e.reduce(op.input(mask), {1}, false, none, [&](const Scalar &so, const Scalar &element) {
    const Scalar one = e.integer(ElementType::I32, 1);
    return e.select(e.compare(Compare::Equal, element, one), e.add(so, one), so);
  });
}

/// Of words, their places and their sentences, each with a table.
struct Embedding {
  Value word, position, segment; // the last one may be none
};

Value sumOf(Operator &op, const Embedding &tables, size_t places) {
  Emitter &e = op.emit;
  const Value &ids = op.input(0);
  if (ids.rank() != 2)
    invalid("input_ids of rank " + std::to_string(ids.rank()));
  Value position;
  if (op.has(places))
    position = rowsOf(e, tables.position, op.input(places));
  else
    position = e.sliceAxis(tables.position, 0, e.index(0), ids.dims[1]);
  const Value sum = sumOf(e, rowsOf(e, tables.word, ids), position);
  if (op.has(1) != bool(tables.segment))
    invalid("segment_ids and segment_embedding come together");
  return tables.segment ? sumOf(e, sum, rowsOf(e, tables.segment, op.input(1))) : sum;
}

void embedLayerNormalization(Operator &op) {
  Emitter &e = op.emit;
  const int64_t kind = op.integer("mask_index_type", 0);
  if (kind != 0 && kind != 1)
    invalid("mask_index_type is " + std::to_string(kind) + ", neither 0 nor 1");
  const Embedding tables{op.input(2), op.input(3), op.has(4) ? op.input(4) : Value()};
  const Value sum = sumOf(op, tables, 8);
  const Normalised out = normalised(e, sum, {2}, op.real("epsilon", 1e-12));
  op.set(0, scaled(e, out.value, op.input(5), op.input(6)));
  op.set(1, lengths(op, 7));
  op.set(2, sum);
}

/// The same with tables of integers, which stand in front of their scales and zero points.
void qEmbedLayerNormalization(Operator &op) {
  Emitter &e = op.emit;
  auto table = [&](size_t values, size_t scale, size_t zero) {
    return dequantised(e, op.input(values), op.input(scale), &op.input(zero));
  };
  const Embedding tables{table(2, 8, 13), table(3, 9, 14), op.has(4) ? table(4, 10, 15) : Value()};
  const Value sum = sumOf(op, tables, anyNumber);
  const Normalised out = normalised(e, sum, {2}, op.real("epsilon", 1e-12));
  op.set(0, scaled(e, out.value, table(5, 11, 16), table(6, 12, 17)));
  op.set(1, lengths(op, 7));
}

/// Of [N, C, ...]; `activation` is 0, or 1 for x sigmoid(x).
Value groupNormOf(Operator &op, const Value &x) {
  Emitter &e = op.emit;
  const bool isActivated = flag(op, "activation", false);
  const Value out = groupNormalised(e, x, countOf(op, "groups"), op.real("epsilon", 1e-5));
  Value y = scaled(e, out, perChannel(e, op.input(1), x), perChannel(e, op.input(2), x));
  if (!isActivated)
    return y;
  return e.elementwise(x.type, {y}, [&](const Scalars &in) { return swish(e, in[0], 1); });
}

void groupNorm(Operator &op) {
  Emitter &e = op.emit;
  const bool isLast = flag(op, "channels_last", true);
  const Value y = groupNormOf(op, isLast ? channelsFirst(e, op.input(0)) : op.input(0));
  op.set(0, isLast ? channelsLast(e, y) : y);
}

/// x + skip + bias, which the second output is.
void skipGroupNorm(Operator &op) {
  Emitter &e = op.emit;
  const bool isLast = flag(op, "channels_last", true);
  auto first = [&](const Value &x) { return isLast ? channelsFirst(e, x) : x; };
  auto back = [&](const Value &x) { return isLast ? channelsLast(e, x) : x; };
  const Value x = first(op.input(0));
  Value skip = op.input(3);
  if (skip.rank() == 2) {
    Scalars dims(x.dims.size(), e.index(1));
    dims[0] = skip.dims[0];
    dims[1] = skip.dims[1];
    skip = e.reshape(skip, dims);
  } else {
    skip = first(skip);
  }
  Value sum = sumOf(e, x, skip);
  if (op.has(4))
    sum = sumOf(e, sum, perChannel(e, op.input(4), x));
  op.set(0, back(groupNormOf(op, sum)));
  op.set(1, back(sum));
}

/// Of each C elements, where C is the length of the scale, times gate sigmoid(gate).
void gatedRmsNorm(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &scale = op.input(1);
  const Scalar &count = scale.dims[0];
  Scalars parts = x.dims.without(1);
  parts.push_back(e.div(x.dims.back(), count));
  parts.push_back(count);
  const ElementType wide = bitsOf(x.type) < 32 ? ElementType::F32 : x.type;
  const Value rows = e.convert(e.reshape(x, parts), wide);
  const Value out = rootNormalised(e, rows, {rows.rank() - 1}, op.real("epsilon", 1e-5)).value;
  const Value y =
      e.elementwise(x.type, {out, scale, e.reshape(op.input(2), parts)}, [&](const Scalars &in) {
        const Scalar gate = swish(e, e.convert(in[2], wide), 1);
        const Scalar own = e.mul(in[0], e.convert(in[1], wide));
        return e.convert(e.mul(own, gate), x.type);
      });
  op.set(0, e.reshape(y, x.dims));
}

} // namespace

const ContribTable &contribNormalisations() {
  static const ContribTable table{
      {"SkipLayerNormalization", {skipLayerNormalization<false>, 3, 5, 4, "epsilon"}},
      {"SkipSimplifiedLayerNormalization", {skipLayerNormalization<true>, 3, 4, 4, "epsilon"}},
      {"EmbedLayerNormalization", {embedLayerNormalization, 7, 9, 3, "epsilon mask_index_type"}},
      {"QEmbedLayerNormalization", {qEmbedLayerNormalization, 18, 18, 2, "epsilon"}},
      {"GroupNorm", {groupNorm, 3, 3, 1, "activation! channels_last epsilon groups!"}},
      {"SkipGroupNorm", {skipGroupNorm, 4, 5, 2, "activation! channels_last epsilon groups!"}},
      {"GatedRMSNorm", {gatedRmsNorm, 3, 3, 1, "epsilon"}}};
  return table;
}

} // namespace plim::importers
