// ONNX Runtime's attention of decoders (Contrib.h): grouped heads, a cache of keys and values, positions as angles.
#include "importers/onnx/Attention.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Normalisation.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// The input turned by the angles of positions, with its heads apart or not.
void rotate(Operator &op, const Position &position) {
  Emitter &e = op.emit;
  refuseFlag(op, "is_packed_batching");
  if (op.real("scale", 1) != 1)
    unsupported("with a scale of " + std::to_string(op.real("scale", 1)));
  const Value &x = op.input(0), &cos = op.input(2), &sin = op.input(3);
  int64_t heads = op.integer("num_heads", 0);
  if (x.rank() == 3) {
    if (op.integer("rotary_embedding_dim", 0) == 0 || heads == 0) {
      if (!x.dims.back().known || !cos.dims.back().known || *cos.dims.back().known == 0)
        unsupported("with heads whose number is not known");
      heads = *x.dims.back().known / (2 * *cos.dims.back().known);
    }
    if (heads < 1)
      invalid("the angles do not fit the input");
  }
  auto angles = [&](const Value &table) {
    return anglesAt(e, table, x.dims[0], lengthOf(x), position);
  };
  op.set(0, rotatedHeads(e, x, heads, angles(cos), angles(sin), flag(op, "interleaved", false)));
}

/// By positions of all tokens, or from one on.
void rotaryEmbedding(Operator &op) {
  Emitter &e = op.emit;
  const Value &ids = op.input(1);
  if (ids.rank() != 1 && ids.rank() != 2)
    invalid("position_ids of rank " + std::to_string(ids.rank()));
  const Scalar first = ids.rank() == 1 ? e.firstIndex(ids) : e.index(0);
  e.use(ids);
  rotate(op, [&](const Scalar &b, const Scalar &s, const Scalar &) {
    return ids.rank() == 1 ? e.add(first, s) : e.convert(e.at(ids, {b, s}), ElementType::Index);
  });
}

/// By three positions, of time, height and width: each for some of the pairs, one part after the other or in turn.
void mRotaryEmbedding(Operator &op) {
  Emitter &e = op.emit;
  const Value &ids = op.input(1);
  const Numbers sections = op.integers("mrope_section");
  if (ids.rank() != 3 || sections.size() != 3 ||
      std::any_of(sections.begin(), sections.end(),
                  [](int64_t each) { return each < 0 || each > int64_t(1) << 31; }))
    invalid("three positions of all tokens are needed, and three numbers of pairs");
  const bool inTurn = flag(op, "mrope_layout", false);
  e.use(ids);
  rotate(op, [&](const Scalar &b, const Scalar &s, const Scalar &pair) {
    auto isBelow = [&](int64_t bound) { return e.compare(Compare::Less, pair, e.index(bound)); };
    Scalar stream;
    if (inTurn) {
      const Scalar turn = e.rem(pair, e.index(3));
      auto takes = [&](int64_t i) {
        return e.both(e.compare(Compare::Equal, turn, e.index(i)),
                      isBelow(3 * sections[static_cast<size_t>(i)]));
      };
      stream = e.select(takes(1), e.index(1), e.select(takes(2), e.index(2), e.index(0)));
    } else {
      stream = e.select(isBelow(sections[0]), e.index(0),
                        e.select(isBelow(sections[0] + sections[1]), e.index(1), e.index(2)));
    }
    return e.convert(e.at(ids, {stream, b, s}), ElementType::Index);
  });
}

/// A cache of `length` tokens or as many as it has, with new ones at a place of each sequence. What is behind them is not
/// read: it stays.
Value cached(Emitter &e, const Value &past, const Value &fresh, const Value &places,
             const Scalar &length) {
  const Scalar zero = e.index(0);
  if (!past && sameExtent(length, fresh.dims[2]))
    return fresh;
  Scalars dims = fresh.dims, more(4, zero);
  dims[2] = length;
  Value cache;
  if (past) {
    dims[2] = e.max(length, past.dims[2]);
    more[2] = e.sub(dims[2], past.dims[2]);
    cache = e.withDims(e.pad(past, Scalars(4, zero), more, e.number(past.type, 0)), dims);
  } else {
    cache = e.fill(dims, e.number(fresh.type, 0));
  }
  e.use(fresh);
  e.use(places);
  return e.updateLoop(cache, {zero}, {dims[0]}, [&](const Value &so, const Scalars &b) {
    const Scalar place = e.convert(e.at(places, {b[0]}), ElementType::Index);
    const Value own =
        e.slice(fresh, {b[0], zero, zero, zero}, {e.index(1), dims[1], fresh.dims[2], dims[3]},
                Scalars(4, e.index(1)));
    return e.insert(own, so, {b[0], zero, place, zero});
  });
}

/// The features of this operator that no file of a decoder on a CPU has.
void refuseOthers(const Operator &op) {
  refuseFlag(op, "sliding_window_cache");
  refuseFlag(op, "kv_cache_bit_width");
  for (const char *name : {"k_quant_type", "v_quant_type"})
    if (op.choice(name, {"NONE", "PER_TENSOR", "PER_CHANNEL"}) != "NONE")
      unsupported(std::string("with ") + name + " = " + op.text(name, ""));
  refuseInput(op, 12, "k_scale");
  refuseInput(op, 13, "v_scale");
}

/// Each head over the root of its mean square.
Value headNorm(Operator &op, const Value &x, size_t weight) {
  if (!op.has(weight))
    return x;
  const double epsilon = op.real("qk_norm_epsilon", 1e-6);
  return scaled(op.emit, rootNormalised(op.emit, x, {3}, epsilon).value, op.input(weight), Value());
}

void groupQueryAttention(Operator &op) {
  Emitter &e = op.emit;
  refuseOthers(op);
  const int64_t heads = countOf(op, "num_heads"), groups = countOf(op, "kv_num_heads");
  if (heads % groups != 0)
    invalid(std::to_string(heads) + " heads are not " + std::to_string(groups) +
            " groups of as many");
  // Each as [B, S, heads, H].
  Value q, k, v;
  if (op.has(1) != op.has(2))
    invalid("key and value come together");
  if (op.has(1)) {
    q = splitHeads(e, op.input(0), heads);
    k = splitHeads(e, op.input(1), groups);
    v = splitHeads(e, op.input(2), groups);
  } else {
    const Value all = splitHeads(e, op.input(0), heads + 2 * groups);
    q = e.sliceAxis(all, 2, e.index(0), e.index(heads));
    k = e.sliceAxis(all, 2, e.index(heads), e.index(groups));
    v = e.sliceAxis(all, 2, e.index(heads + groups), e.index(groups));
  }
  const Scalar batch = q.dims[0], length = q.dims[1], zero = e.index(0), one = e.index(1);
  if (op.has(14) != op.has(15))
    invalid("q_norm_weight and k_norm_weight come together");
  q = headNorm(op, q, 14);
  k = headNorm(op, k, 15);

  // How many tokens of each sequence are in the cache already: its length, which the input has less 1, without the new ones.
  const ElementType whole = ElementType::I32;
  const Value lengths = e.reshape(op.input(5), {batch});
  const Scalar newer = e.convert(e.sub(length, one), whole);
  const Value places = e.elementwise(whole, {lengths}, [&](const Scalars &in) {
    return e.max(e.integer(whole, 0), e.sub(in[0], newer));
  });
  e.use(places);
  if (flag(op, "do_rotary", false)) {
    if (op.has(9))
      e.use(op.input(9));
    auto position = [&](const Scalar &b, const Scalar &s, const Scalar &) {
      return op.has(9) ? e.convert(e.at(op.input(9), {b, s}), ElementType::Index)
                       : e.add(e.convert(e.at(places, {b}), ElementType::Index), s);
    };
    const Value cos = anglesAt(e, op.input(7), batch, length, position);
    const Value sin = anglesAt(e, op.input(8), batch, length, position);
    const bool isInterleaved = flag(op, "rotary_interleaved", false);
    q = rotated(e, q, cos, sin, isInterleaved);
    k = rotated(e, k, cos, sin, isInterleaved);
  }
  if (op.has(3) != op.has(4))
    invalid("past_key and past_value come together");
  const Scalar total = e.firstIndex(op.input(6));
  auto present = [&](size_t past, const Value &fresh) {
    return cached(e, op.has(past) ? op.input(past) : Value(), headsFirst(e, fresh), places, total);
  };
  k = present(3, k);
  v = present(4, v);
  op.set(1, k);
  op.set(2, v);

  // What a row sees ends at its own column, or without causality where its sequence does.
  const bool isCausal = flag(op, "causal", true);
  const Value ends = isCausal ? places : lengths;
  e.use(ends);
  Attention a{
      headsFirst(e, q), e.sliceAxis(k, 2, zero, total), e.sliceAxis(v, 2, zero, total), {}, {}, {}};
  const ElementType type = scoreType(q.type);
  const double softcap = op.real("softcap", 0), given = op.real("scale", 0);
  const int64_t window = std::min(op.integer("local_window_size", -1), int64_t(1) << 31);
  const bool hasBias = op.has(10);
  if (!isCausal && window > 0)
    invalid("local_window_size does not go with causal = 0");
  const Scalar scale = scaleOf(e, q, given != 0 ? std::optional(given) : std::nullopt);
  if (hasBias)
    a.beside.push_back(op.input(10));
  if (op.has(11))
    a.sink = op.input(11);
  else if (flag(op, "smooth_softmax", false))
    a.sink = e.splat({e.index(heads)}, e.number(q.type, 0));
  a.score = [&](const Scalars &in, const Place &at) {
    Scalar score = softcapped(e, e.mul(in[0], scale), softcap);
    if (hasBias)
      score = e.add(score, e.convert(in[1], type));
    const Scalar end = e.convert(e.at(ends, {at.batch}), ElementType::Index);
    const Scalar own = isCausal ? e.add(end, at.row) : end;
    Scalar isHidden = e.compare(Compare::Greater, at.column, own);
    if (window > 0)
      isHidden =
          e.either(isHidden, e.compare(Compare::LessEqual, at.column, e.sub(own, e.index(window))));
    return e.select(isHidden, e.lowest(type), score);
  };
  const Attended out = attend(e, a);
  op.set(0, out.out);
  const int64_t shown = op.integer("qk_output", 0);
  if (shown < 0 || shown > 2)
    invalid("qk_output is " + std::to_string(shown) + ", none of 0 to 2");
  if (shown != 0)
    op.set(3, shown == 1 ? out.scores : out.probabilities);
}

} // namespace

const ContribTable &contribDecoders() {
  static const ContribTable table{
      {"RotaryEmbedding",
       {rotaryEmbedding, 4, 4, 1,
        "interleaved is_packed_batching num_heads rotary_embedding_dim scale"}},
      {"MRotaryEmbedding",
       {mRotaryEmbedding, 4, 4, 1,
        "interleaved is_packed_batching mrope_layout mrope_section! num_heads "
        "rotary_embedding_dim scale"}},
      {"GroupQueryAttention",
       {groupQueryAttention, 7, 16, 4,
        "causal do_rotary k_quant_type kv_cache_bit_width kv_num_heads! local_window_size "
        "num_heads! qk_norm_epsilon qk_output rotary_interleaved scale sliding_window_cache "
        "smooth_softmax softcap v_quant_type"}}};
  return table;
}

} // namespace plim::importers
