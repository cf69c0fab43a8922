// ONNX Runtime's attention (Contrib.h) of queries, keys and values, or of what they are computed of.
#include "importers/onnx/Attention.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Products.h"
#include "importers/onnx/Quantisation.h"

namespace plim::importers {

namespace {

struct Masks {
  Value mask, bias; // or none
  Scalar past;      // columns in front of the first row's own
};

/// scale Q K^T + bias + mask; columns behind a row's own are nothing if the attribute says so.
Attended attendMasked(Operator &op, Attention a, const Masks &masks) {
  Emitter &e = op.emit;
  const bool isCausal = flag(op, "unidirectional", false) && !a.q.dims[2].is(1);
  const double given = op.real("scale", 0);
  const Scalar scale = scaleOf(e, a.q, given != 0 ? std::optional(given) : std::nullopt);
  if (masks.mask)
    a.beside.push_back(addedMask(e, masks.mask, a, op.real("mask_filter_value", -10000)));
  if (masks.bias) {
    if (masks.bias.rank() != 4)
      invalid("attention_bias of rank " + std::to_string(masks.bias.rank()));
    a.beside.push_back(masks.bias);
  }
  a.score = [&e, isCausal, scale, past = masks.past](const Scalars &in, const Place &at) {
    Scalar score = e.mul(in[0], scale);
    for (size_t i = 1; i < in.size(); ++i)
      score = e.add(score, e.convert(in[i], score.type));
    if (!isCausal)
      return score;
    const Scalar isLater = e.compare(Compare::Greater, at.column, e.add(past, at.row));
    return e.select(isLater, e.lowest(score.type), score);
  };
  return attend(e, a);
}

/// The part of a list of biases that one operand has, added to it.
Value withBias(Emitter &e, const Value &x, const Value &bias, const Scalar &from) {
  const Value part = e.sliceAxis(bias, 0, from, x.dims.back());
  return e.elementwise(x.type, {x, part}, [&](const Scalars &in) { return e.add(in[0], in[1]); });
}

/// Attention of a product with queries, keys and values one beside the other, [B, S, widths]; `past` has keys and values.
void ofProjection(Operator &op, const Value &all, const Scalars &widths, const Value &mask,
                  const Value &past, const Value &bias) {
  Emitter &e = op.emit;
  const int64_t heads = countOf(op, "num_heads");
  const Scalar zero = e.index(0), one = e.index(1);
  auto part = [&](const Scalar &from, const Scalar &width) {
    return headsFirst(e, splitHeads(e, e.sliceAxis(all, 2, from, width), heads));
  };
  const Scalar third = e.add(widths[0], widths[1]);
  Value k = part(widths[0], widths[1]), v = part(third, widths[2]);
  if (past) {
    if (past.rank() != 5)
      invalid("past of rank " + std::to_string(past.rank()));
    k = behind(e, e.pick(past, 0, zero), k);
    v = behind(e, e.pick(past, 0, one), v);
  }
  if (op.wants(1)) {
    auto stacked = [&](const Value &x) {
      Scalars dims = x.dims;
      dims.insert(dims.begin(), one);
      return e.reshape(x, dims);
    };
    op.set(1, e.concatenate({stacked(k), stacked(v)}, 0));
  }
  const Attention a{part(zero, widths[0]), k, v, {}, {}, {}};
  op.set(0, attendMasked(op, a, {mask, bias, past ? past.dims[3] : zero}).out);
}

void attention(Operator &op) {
  Emitter &e = op.emit;
  refuseFlag(op, "do_rotary");
  refuseFlag(op, "past_present_share_buffer");
  refuseInput(op, 6, "past_sequence_length");
  const Value &weights = op.input(1);
  if (weights.rank() != 2 || op.input(0).rank() != 3)
    invalid("the input must have rank 3, and the weights rank 2");
  Scalars widths(3, e.div(weights.dims[1], e.index(3)));
  if (const Numbers given = op.integers("qkv_hidden_sizes"); !given.empty())
    widths = {e.index(given.at(0)), e.index(given.at(1)), e.index(given.at(2))};
  Value all = product(e, op.input(0), weights);
  if (op.has(2))
    all = withBias(e, all, op.input(2), e.index(0));
  auto optional = [&](size_t i) { return op.has(i) ? op.input(i) : Value(); };
  ofProjection(op, all, widths, optional(3), optional(4), optional(5));
}

void qAttention(Operator &op) {
  Emitter &e = op.emit;
  refuseFlag(op, "do_rotary");
  refuseFlag(op, "past_present_share_buffer");
  const Value &weights = op.input(1), &scale = op.input(3);
  if (weights.rank() != 2 || op.input(0).rank() != 3)
    invalid("the input must have rank 3, and the weights rank 2");
  const Value sum =
      product(e, centred(op, op.input(0), 6, std::nullopt), centred(op, weights, 7, columnAxis));
  const Values operands{sum, e.reshape(scale, {}), op.input(4), op.input(2)};
  const Value all = e.elementwise(scale.type, operands, [&](const Scalars &in) {
    return e.add(e.mul(e.convert(in[0], scale.type), e.mul(in[1], in[2])), in[3]);
  });
  auto optional = [&](size_t i) { return op.has(i) ? op.input(i) : Value(); };
  ofProjection(op, all, Scalars(3, e.div(weights.dims[1], e.index(3))), optional(5), optional(8),
               Value());
}

void multiHeadAttention(Operator &op) {
  Emitter &e = op.emit;
  refuseInput(op, 8, "past_sequence_length");
  refuseInput(op, 9, "cache_indirection");
  const int64_t heads = countOf(op, "num_heads");
  const Scalar zero = e.index(0);
  // Each as [B, S, N, H], or keys and values with the heads in front.
  Value q = op.input(0), k = op.has(1) ? op.input(1) : Value(),
        v = op.has(2) ? op.input(2) : Value();
  auto packed = [&](const Value &x, int64_t i) { return e.pick(x, 3, e.index(i)); };
  if (!k && q.rank() == 5) {
    v = packed(q, 2);
    k = packed(q, 1);
    q = packed(q, 0);
  } else if (k && k.rank() == 5) {
    v = packed(k, 1);
    k = packed(k, 0);
  }
  if (!k || !v)
    invalid("keys or values are missing");
  const bool isReady = k.rank() == 4 && op.has(2); // of other tokens, with the heads in front
  if (op.has(3)) {
    if (isReady)
      invalid("a bias does not go with keys that have heads");
    auto flat = [&](const Value &x) {
      return x.rank() == 3 ? x : e.reshape(x, {x.dims[0], x.dims[1], e.mul(x.dims[2], x.dims[3])});
    };
    const Value flatQ = flat(q), flatK = flat(k);
    const Scalar second = flatQ.dims[2], third = e.add(second, flatK.dims[2]);
    q = withBias(e, flatQ, op.input(3), zero);
    k = withBias(e, flatK, op.input(3), second);
    v = withBias(e, flat(v), op.input(3), third);
  }
  auto split = [&](const Value &x) {
    return headsFirst(e, x.rank() == 4 ? x : splitHeads(e, x, heads));
  };
  q = split(q);
  if (!isReady) {
    k = split(k);
    v = split(v);
  }
  Scalar past = zero;
  if (op.has(6) != op.has(7))
    invalid("past_key and past_value come together");
  if (op.has(6)) {
    if (isReady)
      invalid("past keys do not go with keys that have heads");
    past = op.input(6).dims[2];
    k = behind(e, op.input(6), k);
    v = behind(e, op.input(7), v);
  }
  op.set(1, k);
  op.set(2, v);
  const Masks masks{op.has(4) ? op.input(4) : Value(), op.has(5) ? op.input(5) : Value(), past};
  const Attended out = attendMasked(op, {q, k, v, {}, {}, {}}, masks);
  op.set(0, out.out);
  op.set(3, out.scores);
}

} // namespace

const ContribTable &contribAttention() {
  static const ContribTable table{
      {"Attention",
       {attention, 2, 7, 2,
        "do_rotary mask_filter_value num_heads! past_present_share_buffer qkv_hidden_sizes "
        "rotary_embedding_dim scale unidirectional"}},
      {"QAttention",
       {qAttention, 5, 9, 2,
        "do_rotary mask_filter_value num_heads! past_present_share_buffer scale unidirectional"}},
      {"MultiHeadAttention",
       {multiHeadAttention, 1, 10, 4, "mask_filter_value num_heads! scale unidirectional"}}};
  return table;
}

} // namespace plim::importers
