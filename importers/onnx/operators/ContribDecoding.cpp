// What ONNX Runtime's decoders of text ask of tokens (Contrib.h).
#include "importers/onnx/Contrib.h"

namespace plim::importers {

namespace {

Scalar asIndex(Emitter &e, const Scalar &x) { return e.convert(x, ElementType::Index); }

/// Are `count` elements of two lists equal, from these places on?
Scalar areEqual(Emitter &e, const std::function<Scalar(const Scalar &)> &a,
                const std::function<Scalar(const Scalar &)> &b, const Scalar &count) {
  return e.loops({e.index(0)}, {count}, {e.truth(true)},
                 [&](const Scalars &i, const Scalars &so) -> Scalars {
                   return {e.both(so[0], e.compare(Compare::Equal, a(i[0]), b(i[0])))};
                 })[0];
}

/// -inf for tokens that would repeat the last tokens of a sequence as they stood there before.
void nGramRepeatBlock(Operator &op) {
  Emitter &e = op.emit;
  const Value &ids = op.input(0), &scores = op.input(1);
  const int64_t size = countOf(op, "ngram_size");
  if (ids.rank() != 2 || scores.rank() != 2)
    invalid("ids and scores must have rank 2");
  const Scalar behind = e.index(size - 1), zero = e.index(0), length = ids.dims[1];
  const Scalar places = e.max(zero, e.sub(length, behind));
  e.use(ids);
  op.set(0,
         e.updateLoop(
             scores, {zero, zero}, {ids.dims[0], places}, [&](const Value &so, const Scalars &at) {
               const Scalar same = areEqual(
                   e, [&](const Scalar &i) { return e.at(ids, {at[0], e.add(at[1], i)}); },
                   [&](const Scalar &i) {
                     return e.at(ids, {at[0], e.add(e.sub(length, behind), i)});
                   },
                   behind);
               const Scalar token = asIndex(e, e.at(ids, {at[0], e.add(at[1], behind)}));
               const Scalar old = e.at(so, {at[0], token});
               return e.withElement(so, {at[0], token}, e.select(same, e.lowest(so.type), old));
             }));
}

/// Tokens that were predicted, as far as they are those of the source and one more; and where the source goes on from the last
/// of them: behind the one place where it has these.
void bifurcationDetector(Operator &op) {
  Emitter &e = op.emit;
  const Value &source = op.input(0), &current = op.input(1);
  const int64_t least = countOf(op, "min_ngram_size", 1), most = countOf(op, "max_ngram_size", 3);
  if (most < least)
    invalid("n-grams of " + std::to_string(least) + " to " + std::to_string(most) + " tokens");
  if (source.rank() != 1 || current.rank() != 1)
    invalid("the tokens must be lists");
  const Scalar zero = e.index(0), one = e.index(1), none = e.index(-1), length = source.dims[0];
  Value tokens = current;
  e.use(source);
  if (op.has(3)) {
    const Value &predicted = op.input(3);
    e.use(predicted);
    const Scalar from = e.firstIndex(op.input(2)), rest = e.sub(length, from);
    const Scalar same =
        e.loops({zero}, {rest}, {zero}, [&](const Scalars &i, const Scalars &so) -> Scalars {
          const Scalar equal =
              e.compare(Compare::Equal, e.at(predicted, {i[0]}), e.at(source, {e.add(i[0], from)}));
          const Scalar isNext = e.both(equal, e.compare(Compare::Equal, so[0], i[0]));
          return {e.select(isNext, e.add(so[0], one), so[0])};
        })[0];
    const Scalar more = e.max(zero, e.add(same, one));
    tokens = e.concatenate({current, e.sliceAxis(predicted, 0, zero, more)}, 0);
  }
  op.set(0, tokens);
  e.use(tokens);
  const Scalar count = tokens.dims[0];
  // Longer and longer ends, until one does not stand in the source; none if the last one stands there twice.
  const Scalars found = e.loops(
      {e.index(least)}, {e.index(most + 1)}, {none, e.truth(true)},
      [&](const Scalars &size, const Scalars &so) -> Scalars {
        const Scalar fits = e.both(so[1], e.compare(Compare::LessEqual, size[0], count));
        return e.branch(
            fits,
            [&]() -> Scalars {
              const Scalar places = e.max(zero, e.add(e.sub(length, size[0]), one));
              const Scalars matches = e.loops(
                  {zero}, {places}, {zero, none},
                  [&](const Scalars &p, const Scalars &m) -> Scalars {
                    const Scalar is = areEqual(
                        e, [&](const Scalar &i) { return e.at(source, {e.add(p[0], i)}); },
                        [&](const Scalar &i) {
                          return e.at(tokens, {e.add(e.sub(count, size[0]), i)});
                        },
                        size[0]);
                    const Scalar isFirst = e.both(is, e.compare(Compare::Equal, m[0], zero));
                    return {e.select(is, e.add(m[0], one), m[0]), e.select(isFirst, p[0], m[1])};
                  });
              const Scalar isThere = e.compare(Compare::Greater, matches[0], zero);
              const Scalar behind = e.add(matches[1], size[0]);
              const Scalar isLast = e.compare(Compare::GreaterEqual, behind, length);
              const Scalar isOne = e.compare(Compare::LessEqual, matches[0], one);
              const Scalar place = e.select(e.either(isOne, isLast), behind, none);
              return {e.select(isThere, place, so[0]), e.both(isThere, e.negation(isLast))};
            },
            [&]() -> Scalars { return {so[0], e.truth(false)}; });
      });
  op.set(1, e.reshape(e.scalar(e.convert(found[0], ElementType::I64)),
                      Scalars(op.input(2).dims.size(), one)));
}

} // namespace

const ContribTable &contribDecoding() {
  static const ContribTable table{
      {"NGramRepeatBlock", {nGramRepeatBlock, 2, 2, 1, "ngram_size!"}},
      {"BifurcationDetector", {bifurcationDetector, 3, 4, 2, "max_ngram_size min_ngram_size"}}};
  return table;
}

} // namespace plim::importers
