// Attention of several heads, in the operations that the compiler makes one dispatch of.
#pragma once

#include "importers/onnx/Operator.h"

#include <functional>
#include <optional>

namespace plim::importers {

/// [B, S, heads * H] as [B, S, heads, H]; and that as [B, heads, S, H].
Value splitHeads(Emitter &emit, const Value &x, int64_t heads);
Value headsFirst(Emitter &emit, const Value &x);
/// S of [B, heads, S, H], or of [B, S, heads * H].
Scalar lengthOf(const Value &x);

/// Where a score stands.
struct Place {
  Scalar batch, row, column;
};

/// A score from what stands in the operands beside it: the first of `in` is Q K^T.
using Score = std::function<Scalar(const Scalars &in, const Place &at)>;

/// B batch, N heads of queries, K heads of keys, S and T rows of queries and of keys, H and V
/// elements of one.
struct Attention {
  Value q;       // [B, N, S, H]
  Value k, v;    // [B, K, T, H] and [B, K, T, V], each for N / K heads of q
  Values beside; // operands of `score`, [B or 1, N or 1, S or 1, T or 1]
  Score score;
  Value sink;             // for each head a score more that nothing is read for, [N]; or none
  bool isHidable = false; // a row that sees nothing reads 0, not what is no number
  /// What the softmax is computed in, if not in the type of scores.
  std::optional<ElementType> softmax = std::nullopt;
};

struct Attended {
  Value out;                             // [B, S, N * V]
  Value heads;                           // the same as [B, N, S, V]
  Value products, scores, probabilities; // [B, N, S, T]; the products of the type of scores
};

/// What scores are computed in for elements of a type: f32 or wider.
ElementType scoreType(ElementType type);

/// What Q K^T is multiplied with: `given`, or 1 / sqrt(elements of a head).
Scalar scaleOf(Emitter &emit, const Value &q, std::optional<double> given);

/// A score brought between -cap and cap; as it is if cap is 0.
Scalar softcapped(Emitter &emit, const Scalar &score, double cap);

/// Keys, or values, behind those that came before, [B, K, T, H]; `past` may be none.
Value behind(Emitter &emit, const Value &past, const Value &fresh);

/// softmax(score(q k^T)) v. Throws ImportError for shapes that do not fit.
Attended attend(Emitter &emit, const Attention &attention);

/// What is added to scores, [B, 1, S or 1, T]: `filter` where ONNX Runtime's mask hides a column,
/// and 0.
Value addedMask(Emitter &emit, const Value &mask, const Attention &attention, double filter);

/// Pairs of the last dimension turned by angles, of which `cos` and `sin` have as many as there are
/// pairs that turn: halves of what turns, or neighbours. Both are broadcast to the other
/// dimensions.
Value rotated(Emitter &emit, const Value &x, const Value &cos, const Value &sin,
              bool isInterleaved);
/// The same of [B, N, S, H], or of [B, S, heads * H], by angles of tokens, [B, S, 1, pairs].
Value rotatedHeads(Emitter &emit, const Value &x, int64_t heads, const Value &cos, const Value &sin,
                   bool isInterleaved);

/// Of a token: its sequence, its place there, and which pair of elements turns.
using Position = std::function<Scalar(const Scalar &, const Scalar &, const Scalar &)>;

/// Rows of a table of angles for the positions of tokens, [B, S, 1, pairs].
Value anglesAt(Emitter &emit, const Value &table, const Scalar &batch, const Scalar &length,
               const Position &position);

} // namespace plim::importers
