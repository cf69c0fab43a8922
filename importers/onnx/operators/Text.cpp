// Counts of sequences of tokens: https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html. Strings are refused.
#include "importers/onnx/Operator.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// One n-gram that is counted.
struct Gram {
  Numbers tokens;
  int64_t column;
  double weight;
};

void tfIdfVectorizer(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (op.hasAttribute("pool_strings"))
    unsupported("of strings");
  const Numbers pool = op.integers("pool_int64s"), starts = op.integers("ngram_counts");
  const Numbers columns = op.integers("ngram_indexes");
  const Reals weights = op.reals("weights");
  const int64_t least = op.integer("min_gram_length", 1), most = op.integer("max_gram_length", 1);
  const int64_t skips = op.integer("max_skip_count", 0);
  const std::string mode = op.choice("mode", {"TF", "IDF", "TFIDF"});
  std::vector<Gram> grams;
  int64_t width = 0;
  size_t number = 0;
  for (size_t n = 0; n < starts.size(); ++n) {
    const int64_t end = n + 1 < starts.size() ? starts[n + 1] : static_cast<int64_t>(pool.size());
    const auto length = static_cast<int64_t>(n + 1);
    for (int64_t at = starts[n]; at + length <= end; at += length, ++number) {
      if (at < 0 || number >= columns.size() || static_cast<size_t>(at + length) > pool.size())
        invalid("its pool, counts and indexes do not fit");
      width = std::max(width, columns[number] + 1);
      if (length >= least && length <= most)
        grams.push_back({{pool.begin() + at, pool.begin() + at + length},
                         columns[number],
                         number < weights.size() ? weights[number] : 1});
    }
  }
  if (width > 4096 || grams.size() > 4096)
    unsupported("of more than 4096 n-grams");
  const bool batched = x.rank() == 2;
  const Value rows = batched ? x : e.reshape(x, {e.index(1), e.count(x)});
  const Scalar length = rows.dims[1];
  e.use(rows);
  const ElementType type = ElementType::F32;
  const Value counts =
      e.generate(type, {rows.dims[0], e.index(width)}, [&](const Scalars &position) {
        Scalar total = e.number(type, 0);
        for (const Gram &gram : grams) {
          const auto size = static_cast<int64_t>(gram.tokens.size());
          Scalar count = e.index(0);
          // A single token has no gaps.
          for (int64_t gap = 1; gap <= (size == 1 ? 1 : skips + 1); ++gap) {
            const Scalar reach = e.index((size - 1) * gap);
            count = e.loops(
                {e.index(0)}, {e.sub(length, reach)}, {count},
                [&](const Scalars &i, const Scalars &so) -> Scalars {
                  Scalar fits = e.truth(true);
                  for (int64_t k = 0; k < size; ++k) {
                    const Scalar token =
                        e.convert(e.at(rows, {position[0], e.add(i[0], e.index(k * gap))}),
                                  ElementType::Index);
                    fits = e.both(fits, e.compare(Compare::Equal, token,
                                                  e.index(gram.tokens[static_cast<size_t>(k)])));
                  }
                  return {e.select(fits, e.add(so[0], e.index(1)), so[0])};
                })[0];
          }
          Scalar value = e.convert(count, type);
          if (mode != "TF") {
            const Scalar one = e.number(type, mode == "IDF" ? gram.weight : gram.weight);
            const Scalar there = e.compare(Compare::Greater, count, e.index(0));
            value = mode == "IDF" ? e.select(there, one, e.number(type, 0)) : e.mul(value, one);
          }
          total = e.select(e.compare(Compare::Equal, position[1], e.index(gram.column)),
                           e.add(total, value), total);
        }
        return total;
      });
  op.set(0, batched ? counts : e.reshape(counts, {e.index(width)}));
}

void strings(Operator &) { unsupported("strings are not supported"); }

} // namespace

const OperatorTable &text() {
  static const OperatorTable table{{"TfIdfVectorizer", tfIdfVectorizer},
                                   {"StringNormalizer", strings}};
  return table;
}

} // namespace plim::importers
