// Attention of several heads, in the operations that the compiler makes one dispatch of.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

/// [B, S, heads * H] as [B, S, heads, H]; and that as [B, heads, S, H].
Value splitHeads(Emitter &emit, const Value &x, int64_t heads);
Value headsFirst(Emitter &emit, const Value &x);

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
  Value sink; // for each head a score more that nothing is read for, [N]; or none
};

struct Attended {
  Value out;                   // [B, S, N * V]
  Value scores, probabilities; // [B, N, S, T]
};

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

} // namespace plim::importers
