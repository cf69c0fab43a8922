#include "importers/onnx/Attention.h"

#include "importers/onnx/Normalisation.h"

#include <cmath>
#include <limits>

namespace plim::importers {

namespace {

/// softmaxOver along the last axis, and 0 where that has no number: in rows of -inf only.
Value softmaxOrNothing(Emitter &e, const Value &x) {
  const Axes last{x.rank() - 1};
  const double least = x.type == ElementType::F64 ? std::numeric_limits<double>::lowest()
                                                  : std::numeric_limits<float>::lowest();
  const Value most =
      e.reduce(x, last, true, e.number(x.type, least),
               [&](const Scalar &so, const Scalar &element) { return e.max(so, element); });
  const Value powers = e.elementwise(
      x.type, {x, most}, [&](const Scalars &in) { return e.math("exp", {e.sub(in[0], in[1])}); });
  // One of the powers is 1, or none is more than 0.
  const Value sum =
      e.reduce(powers, last, true, e.number(x.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  return e.elementwise(x.type, {powers, sum}, [&](const Scalars &in) {
    return e.div(in[0], e.max(in[1], e.number(x.type, 1)));
  });
}

/// Where a loop is.
Scalar loopIndex(Emitter &e, const Scalar &extent, size_t loop) {
  if (extent.is(1))
    return e.index(0);
  return {ElementType::Index, e.define("linalg.index " + std::to_string(loop) + " : index"), {}};
}

/// softmaxOver along the last axis with one score more, `sink`.
Value softmaxBeside(Emitter &e, const Value &x, const Value &sink) {
  const Axes last{x.rank() - 1};
  const Value own =
      e.reduce(x, last, true, e.lowest(x.type),
               [&](const Scalar &so, const Scalar &element) { return e.max(so, element); });
  const Value most =
      e.elementwise(x.type, {own, sink}, [&](const Scalars &in) { return e.max(in[0], in[1]); });
  const Value powers = e.elementwise(
      x.type, {x, most}, [&](const Scalars &in) { return e.math("exp", {e.sub(in[0], in[1])}); });
  const Value sum =
      e.reduce(powers, last, true, e.number(x.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  const Value all = e.elementwise(x.type, {sum, sink, most}, [&](const Scalars &in) {
    return e.add(in[0], e.math("exp", {e.sub(in[1], in[2])}));
  });
  return e.elementwise(x.type, {powers, all},
                       [&](const Scalars &in) { return e.div(in[0], in[1]); });
}

} // namespace

Value splitHeads(Emitter &e, const Value &x, int64_t heads) {
  if (x.rank() != 3)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " where one of rank 3 is needed");
  const Scalar &width = x.dims[2];
  if (heads < 1 || (width.known && *width.known % heads != 0))
    invalid((width.known ? std::to_string(*width.known) : "?") + " elements are not " +
            std::to_string(heads) + " heads");
  return e.reshape(x, {x.dims[0], x.dims[1], e.index(heads), e.div(width, e.index(heads))});
}

Value headsFirst(Emitter &e, const Value &x) { return e.transpose(x, {0, 2, 1, 3}); }

ElementType scoreType(ElementType type) { return bitsOf(type) < 32 ? ElementType::F32 : type; }

Scalar scaleOf(Emitter &e, const Value &q, std::optional<double> given) {
  const ElementType type = scoreType(q.type);
  if (given)
    return e.number(type, *given);
  if (const Scalar &depth = q.dims[3]; depth.known)
    return e.number(type, 1 / std::sqrt(static_cast<double>(*depth.known)));
  return e.div(e.number(type, 1), e.math("sqrt", {e.convert(q.dims[3], type)}));
}

Scalar softcapped(Emitter &e, const Scalar &score, double cap) {
  if (cap <= 0)
    return score;
  const Scalar bound = e.number(score.type, cap);
  return e.mul(bound, e.math("tanh", {e.div(score, bound)}));
}

Value behind(Emitter &e, const Value &past, const Value &fresh) {
  return past ? e.concatenate({past, fresh}, 2) : fresh;
}

Attended attend(Emitter &e, const Attention &a) {
  const Scalar batch = a.q.dims[0], heads = a.q.dims[1], rows = a.q.dims[2], depth = a.q.dims[3];
  const Scalar groups = a.k.dims[1], columns = a.k.dims[2], width = a.v.dims[3];
  const ElementType type = a.q.type, wide = scoreType(type);
  const bool isGrouped = !sameExtent(heads, groups);
  const Scalar each = e.div(heads, groups);
  // In groups the heads are two loops.
  auto grouped = [&](Value x) {
    if (!isGrouped)
      return x;
    const bool isOne = x.dims[1].is(1);
    Scalars dims{x.dims[0], isOne ? e.index(1) : groups, isOne ? e.index(1) : each};
    dims.insert(dims.end(), x.dims.begin() + 2, x.dims.end());
    return e.reshape(x, dims);
  };
  const Scalars front = isGrouped ? Scalars{batch, groups, each} : Scalars{batch, heads};
  const auto n = static_cast<int64_t>(front.size());
  Axes own, shared{0, 1};
  for (int64_t i = 0; i < n; ++i)
    own.push_back(i);
  auto loops = [](Axes axes, int64_t first, int64_t second) {
    axes.push_back(first);
    axes.push_back(second);
    return axes;
  };
  auto extents = [&](const Scalar &x, const Scalar &y, const Scalar &z) {
    Scalars all = front;
    all.insert(all.end(), {x, y, z});
    return all;
  };
  const Value products =
      e.contract(grouped(a.q), loops(own, n, n + 2), a.k, loops(shared, n + 1, n + 2),
                 loops(own, n, n + 1), extents(rows, columns, depth), e.number(wide, 0));
  Values operands{products};
  for (const Value &each : a.beside)
    operands.push_back(grouped(each));
  const ElementType inner = a.softmax.value_or(wide);
  const Value scores = e.elementwiseTo(inner, products.dims, operands, [&](const Scalars &in) {
    const auto loop = static_cast<size_t>(n);
    return e.convert(a.score(in, {loopIndex(e, batch, 0), loopIndex(e, rows, loop),
                                  loopIndex(e, columns, loop + 1)}),
                     inner);
  });
  Value probabilities;
  if (a.sink) {
    const Scalar one = e.index(1);
    const Value sink = grouped(e.reshape(a.sink, {one, heads, one, one}));
    probabilities = softmaxBeside(e, scores, e.convert(sink, inner));
  } else {
    probabilities =
        a.isHidable ? softmaxOrNothing(e, scores) : softmaxOver(e, scores, scores.rank() - 1);
  }
  probabilities = e.convert(probabilities, type);
  const Value sums =
      e.contract(probabilities, loops(own, n, n + 2), a.v, loops(shared, n + 2, n + 1),
                 loops(own, n, n + 1), extents(rows, width, columns), e.number(wide, 0));
  const Value out = e.reshape(e.convert(sums, type), {batch, heads, rows, width});
  const Scalars all{batch, heads, rows, columns};
  return {e.reshape(headsFirst(e, out), {batch, rows, e.mul(heads, width)}), out,
          e.reshape(products, all), e.reshape(e.convert(scores, type), all),
          e.reshape(probabilities, all)};
}

Value addedMask(Emitter &e, const Value &mask, const Attention &a, double filter) {
  const Scalar one = e.index(1), &batch = a.q.dims[0], &columns = a.k.dims[2];
  const ElementType type = scoreType(a.q.type);
  const Scalar hidden = e.number(type, filter), seen = e.number(type, 0);
  if (mask.rank() == 2 || mask.rank() == 3) { // 0 hides
    Scalars dims{mask.dims[0], one, mask.rank() == 3 ? mask.dims[1] : one, mask.dims.back()};
    if (mask.dims.back().known && columns.known && *mask.dims.back().known != *columns.known)
      invalid("a mask for " + std::to_string(*mask.dims.back().known) + " columns of " +
              std::to_string(*columns.known));
    dims[3] = columns;
    return e.elementwise(type, {e.reshape(mask, dims)}, [&](const Scalars &in) {
      return e.select(e.compare(Compare::Greater, in[0], e.number(mask.type, 0)), seen, hidden);
    });
  }
  if (mask.rank() != 1)
    unsupported("with a mask of rank " + std::to_string(mask.rank()));
  // The end of each sequence, and if there are twice as many, behind all of them the beginnings.
  const Scalars each{batch, one, one, one};
  const bool hasOnlyEnds = sameExtent(mask.dims[0], batch);
  const Scalar hasStarts = hasOnlyEnds
                               ? e.truth(false)
                               : e.compare(Compare::Equal, mask.dims[0], e.mul(batch, e.index(2)));
  if (hasStarts.is(0) && !hasOnlyEnds)
    unsupported("with a list that is neither as long as the batch nor twice as long");
  e.use(mask);
  Values bounds{
      e.generate(mask.type, each, [&](const Scalars &at) { return e.at(mask, {at[0]}); })};
  if (!hasStarts.is(0))
    bounds.push_back(e.generate(mask.type, each, [&](const Scalars &at) {
      const Scalar last = e.sub(mask.dims[0], one);
      const Scalar start = e.at(mask, {e.min(e.add(at[0], batch), last)});
      return e.select(hasStarts, start, e.number(mask.type, 0));
    }));
  return e.elementwiseTo(type, {batch, one, one, columns}, bounds, [&](const Scalars &in) {
    const Scalar at = loopIndex(e, columns, 3);
    auto bound = [&](size_t i) { return e.convert(in[i], ElementType::Index); };
    Scalar isHidden = e.compare(Compare::GreaterEqual, at, bound(0));
    if (in.size() == 2)
      isHidden = e.either(isHidden, e.compare(Compare::Less, at, bound(1)));
    return e.select(isHidden, hidden, seen);
  });
}

Value rotated(Emitter &e, const Value &x, const Value &cos, const Value &sin, bool isInterleaved) {
  const int64_t last = x.rank() - 1;
  const Scalar half = cos.dims.back(), turning = e.mul(half, e.index(2)), zero = e.index(0),
               one = e.index(1);
  if (turning.known && x.dims.back().known && *turning.known > *x.dims.back().known)
    invalid("angles for " + std::to_string(*half.known) + " pairs of " +
            std::to_string(*x.dims.back().known) + " elements");
  const Value part = e.sliceAxis(x, last, zero, turning);
  Scalars pairs = x.dims, halves = x.dims;
  halves.back() = half;
  pairs.back() = half;
  pairs.push_back(isInterleaved ? e.index(2) : one);
  auto side = [&](int64_t i) {
    return isInterleaved ? e.pick(e.reshape(part, pairs), last + 1, e.index(i))
                         : e.sliceAxis(part, last, i ? half : zero, half);
  };
  const Values operands{side(0), side(1), cos, sin};
  const Value first = e.elementwise(x.type, operands, [&](const Scalars &in) {
    return e.sub(e.mul(in[0], in[2]), e.mul(in[1], in[3]));
  });
  const Value second = e.elementwise(x.type, operands, [&](const Scalars &in) {
    return e.add(e.mul(in[1], in[2]), e.mul(in[0], in[3]));
  });
  Values parts{first, second};
  if (isInterleaved) {
    pairs.back() = one;
    parts = {e.reshape(e.concatenate({e.reshape(first, pairs), e.reshape(second, pairs)}, last + 1),
                       part.dims)};
  }
  if (const Scalar rest = e.sub(x.dims.back(), turning); !rest.is(0))
    parts.push_back(e.sliceAxis(x, last, turning, rest));
  return e.withDims(e.concatenate(parts, last), x.dims);
}

Scalar lengthOf(const Value &x) { return x.dims[x.rank() == 4 ? 2 : 1]; }

Value rotatedHeads(Emitter &e, const Value &x, int64_t heads, const Value &cos, const Value &sin,
                   bool isInterleaved) {
  const bool hasHeads = x.rank() == 4;
  const Value y =
      rotated(e, hasHeads ? headsFirst(e, x) : splitHeads(e, x, heads), cos, sin, isInterleaved);
  return hasHeads ? headsFirst(e, y) : e.reshape(y, x.dims);
}

Value anglesAt(Emitter &e, const Value &table, const Scalar &batch, const Scalar &length,
               const Position &position) {
  if (table.rank() != 2)
    invalid("cos_cache and sin_cache must have rank 2");
  const Scalars dims{batch, length, e.index(1), table.dims[1]};
  e.use(table);
  return e.generate(table.type, dims, [&](const Scalars &at) {
    return e.at(table, {position(at[0], at[1], at[3]), at[3]});
  });
}

} // namespace plim::importers
