// Attention, and positions as angles: ONNX's own operators since opset 23, which libonnx does not
// know.
#include "importers/onnx/Attention.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// A mask with the extents of scores, or 1 where it repeats: truth values, which say what is seen,
/// or floats, which are added. Columns that it lacks are hidden.
Value fullMask(Emitter &e, Value mask, const Attention &a) {
  const int64_t rank = mask.rank();
  if (rank < 2 || rank > 4)
    invalid("attn_mask of rank " + std::to_string(rank));
  if (mask.type != ElementType::I1 && !isFloat(mask.type))
    mask = e.convert(mask, ElementType::F32);
  const Scalar one = e.index(1), zero = e.index(0), columns = a.k.dims[2];
  Scalars dims = mask.dims;
  dims.insert(dims.begin(), static_cast<size_t>(4 - rank), one);
  mask = e.reshape(mask, dims);
  if (!sameExtent(dims[3], columns)) {
    e.require(e.compare(Compare::LessEqual, dims[3], columns),
              "attn_mask has more columns than there are keys");
    Scalars more(4, zero);
    more[3] = e.sub(columns, dims[3]);
    mask = e.pad(mask, Scalars(4, zero), more, e.lowest(mask.type));
    dims[3] = columns;
    mask = e.withDims(mask, dims);
  }
  // Extents of which only a run knows whether they are 1 are made equal.
  for (size_t i = 0; i < 3; ++i) {
    const Scalar &wanted = a.q.dims[i];
    if (dims[i].is(1) || sameExtent(dims[i], wanted))
      continue;
    e.require(e.either(e.compare(Compare::Equal, dims[i], one),
                       e.compare(Compare::Equal, dims[i], wanted)),
              "attn_mask fits no scores");
    dims[i] = wanted;
  }
  return e.broadcast(mask, dims);
}

/// Queries, keys or values as [B, heads, S, H].
Value withHeads(Operator &op, size_t input, const char *attribute) {
  Emitter &e = op.emit;
  const Value &x = op.input(input);
  if (x.rank() != op.input(0).rank() || (x.rank() != 3 && x.rank() != 4))
    invalid("queries, keys and values must all have rank 3, or all rank 4");
  if (x.rank() == 3) {
    if (!op.hasAttribute(attribute))
      invalid(std::string("the attribute '") + attribute + "' is missing");
    return headsFirst(e, splitHeads(e, x, countOf(op, attribute)));
  }
  if (!op.hasAttribute(attribute))
    return x;
  Scalars dims = x.dims;
  dims[1] = e.index(countOf(op, attribute));
  return e.withDims(x, dims);
}

/// Of extents that must be equal one that is known, or the first.
Scalar knownOf(const Scalars &extents) {
  for (const Scalar &extent : extents)
    if (extent.known)
      return extent;
  return extents[0];
}

/// What a row sees beside what the mask says.
struct Sight {
  bool isCausal;
  Scalar past;   // columns in front of the first row's own
  Value lengths; // of sequences: how many keys of each there are, if not all. Or none.
};

/// The output of products and scores that the attribute asks for.
Value shownScores(Operator &op, const Attended &attended, const Scalar &scale, double softcap) {
  Emitter &e = op.emit;
  const int64_t mode = op.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    invalid("qk_matmul_output_mode is " + std::to_string(mode) + ", none of 0 to 3");
  if (mode > 1)
    return mode == 2 ? attended.scores : attended.probabilities;
  const ElementType type = op.input(0).type;
  return e.elementwise(type, {attended.products}, [&](const Scalars &in) {
    return e.convert(softcapped(e, e.mul(in[0], scale), mode == 1 ? softcap : 0), type);
  });
}

Attended attendSeen(Operator &op, Attention &a, const Sight &sight) {
  Emitter &e = op.emit;
  std::optional<double> given;
  if (op.hasAttribute("scale"))
    given = op.real("scale", 0);
  if (given && *given < 0)
    invalid("scale is less than 0");
  const Scalar scale = scaleOf(e, a.q, given);
  const double softcap = op.real("softcap", 0);
  const bool hasMask = op.has(3), hasLengths = bool(sight.lengths);
  if (hasMask)
    a.beside.push_back(fullMask(e, op.input(3), a));
  if (hasLengths)
    e.use(sight.lengths);
  a.isHidable = hasMask || hasLengths;
  const Scalar rows = a.q.dims[2];
  a.score = [&e, &sight, scale, softcap, hasMask, hasLengths, rows](const Scalars &in,
                                                                    const Place &at) {
    Scalar score = softcapped(e, e.mul(in[0], scale), softcap);
    const Scalar hidden = e.lowest(score.type);
    if (hasMask)
      score = in[1].type == ElementType::I1 ? e.select(in[1], score, hidden)
                                            : e.add(score, e.convert(in[1], score.type));
    Scalar length;
    if (hasLengths) {
      length = e.convert(e.at(sight.lengths, {at.batch}), ElementType::Index);
      score = e.select(e.compare(Compare::GreaterEqual, at.column, length), hidden, score);
    }
    if (!sight.isCausal)
      return score;
    const Scalar first = hasLengths ? e.sub(length, rows) : sight.past;
    return e.select(e.compare(Compare::Greater, at.column, e.add(first, at.row)), hidden, score);
  };
  const Attended attended = attend(e, a);
  if (op.wants(3))
    op.set(3, shownScores(op, attended, scale, softcap));
  return attended;
}

/// The type that a softmax of these elements is computed in, if the node asks for more than scores
/// have anyway.
std::optional<ElementType> precisionOf(const Operator &op, ElementType type) {
  switch (op.integer("softmax_precision", 1)) {
  case 1:  // f32
  case 10: // f16
  case 16: // bf16
    return std::nullopt;
  case 11:
    return scoreType(type) == ElementType::F64 ? std::nullopt : std::optional(ElementType::F64);
  default:
    invalid("softmax_precision is " + std::to_string(op.integer("softmax_precision", 1)) +
            ", no type of floats");
  }
}

void attention(Operator &op) {
  Emitter &e = op.emit;
  const bool hasPast = op.has(4), hasLengths = op.has(6);
  if (hasLengths)
    needOpset(op, 24, "the input 'nonpad_kv_seqlen'");
  if (hasPast != op.has(5))
    invalid("past_key and past_value come together");
  if (hasPast && hasLengths)
    invalid("nonpad_kv_seqlen does not go with past_key");
  Value q = withHeads(op, 0, "q_num_heads"), k = withHeads(op, 1, "kv_num_heads"),
        v = withHeads(op, 2, "kv_num_heads");
  for (size_t i = 0; i < 3; ++i)
    if (!isFloat(op.input(i).type) || op.input(i).type != q.type)
      unsupported("with queries, keys or values of " + onnxName(op.input(i).type) +
                  (isFloat(op.input(i).type) ? " beside others" : ""));
  if (q.dims[1].known && k.dims[1].known &&
      (*k.dims[1].known == 0 || *q.dims[1].known % *k.dims[1].known != 0))
    invalid(std::to_string(*q.dims[1].known) + " heads are not " +
            std::to_string(*k.dims[1].known) + " groups of as many");
  auto ofRank = [&](size_t i, int64_t rank, const char *name) {
    if (op.input(i).rank() != rank)
      invalid(std::string(name) + " of rank " + std::to_string(op.input(i).rank()));
    return op.input(i);
  };
  // One fresh row sees one fresh key, and all that came before.
  const bool isLast = q.dims[2].is(1) && k.dims[2].is(1);
  Sight sight{flag(op, "is_causal", false) && (hasLengths || !isLast), e.index(0), {}};
  if (hasPast) {
    const Value keys = ofRank(4, 4, "past_key"), values = ofRank(5, 4, "past_value");
    sight.past = keys.dims[2];
    k = behind(e, keys, k);
    v = behind(e, values, v);
  }
  const Scalar batch = knownOf({q.dims[0], k.dims[0], v.dims[0]});
  const Scalar groups = knownOf({k.dims[1], v.dims[1]}), columns = knownOf({k.dims[2], v.dims[2]});
  const Scalar depth = knownOf({q.dims[3], k.dims[3]});
  q = e.withDims(q, {batch, q.dims[1], q.dims[2], depth});
  k = e.withDims(k, {batch, groups, columns, depth});
  v = e.withDims(v, {batch, groups, columns, v.dims[3]});
  if (hasLengths) {
    const Value lengths = ofRank(6, 1, "nonpad_kv_seqlen");
    sight.lengths = e.withDims(lengths, {batch});
  }
  op.set(1, k);
  op.set(2, v);
  Attention a{q, k, v, {}, {}, {}};
  a.softmax = precisionOf(op, q.type);
  const Attended attended = attendSeen(op, a, sight);
  op.set(0, op.input(0).rank() == 4 ? attended.heads : attended.out);
}

/// By angles of positions in a table, or of all tokens.
void rotaryEmbedding(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &cos = op.input(1), &sin = op.input(2);
  if (x.rank() != 3 && x.rank() != 4)
    invalid("an input of rank " + std::to_string(x.rank()));
  if (x.rank() == 3 && !op.hasAttribute("num_heads"))
    invalid("the attribute 'num_heads' is missing");
  const int64_t heads = x.rank() == 3 ? countOf(op, "num_heads") : 0;
  const Scalar length = lengthOf(x), pairs = cos.dims.empty() ? e.index(0) : cos.dims.back();
  const bool hasIds = op.has(3);
  if (hasIds)
    e.use(op.input(3));
  auto angles = [&](const Value &table) {
    if (hasIds)
      return anglesAt(e, table, x.dims[0], length,
                      [&](const Scalar &b, const Scalar &s, const Scalar &) {
                        return e.convert(e.at(op.input(3), {b, s}), ElementType::Index);
                      });
    if (table.rank() != 3)
      invalid("without position_ids cos_cache and sin_cache must have rank 3");
    const Value all = e.withDims(table, {x.dims[0], length, pairs});
    return e.reshape(all, {x.dims[0], length, e.index(1), pairs});
  };
  if (hasIds && op.input(3).rank() != 2)
    invalid("position_ids of rank " + std::to_string(op.input(3).rank()));
  const int64_t part = op.integer("rotary_embedding_dim", 0);
  if (part < 0 || part > int64_t(1) << 31)
    invalid("rotary_embedding_dim is " + std::to_string(part));
  const Scalar width = x.rank() == 4 ? x.dims[3] : splitHeads(e, x, heads).dims[3];
  e.require(e.compare(Compare::Equal, e.mul(pairs, e.index(2)), part ? e.index(part) : width),
            "the angles do not fit the input");
  const Value cosines = angles(cos), sines = angles(sin);
  op.set(0, rotatedHeads(e, x, heads, cosines, sines, flag(op, "interleaved", false)));
}

} // namespace

const DescribedTable &attentions() {
  static const DescribedTable table{
      {"Attention",
       {since<23, attention>, 3, 7, 4,
        "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap "
        "softmax_precision"}},
      {"RotaryEmbedding",
       {since<23, rotaryEmbedding>, 3, 4, 1, "interleaved num_heads rotary_embedding_dim"}}};
  return table;
}

} // namespace plim::importers
