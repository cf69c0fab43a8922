// ONNX Runtime's products of matrices (Contrib.h).
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Products.h"

#include <numeric>

namespace plim::importers {

namespace {

/// A factor as it is multiplied. With `byBatch` its first dimension is one of the matrix, and those behind it the batch.
Value factor(Emitter &e, const Value &x, bool isTransposed, bool byBatch) {
  if (x.rank() < 2)
    return x;
  Axes order(x.dims.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.end() - 1;
  if (byBatch)
    std::rotate(order.begin(), order.begin() + 1, last);
  if (isTransposed)
    std::swap(*(last - 1), *last);
  return e.transpose(x, order);
}

void fusedMatMul(Operator &op) {
  Emitter &e = op.emit;
  const Value a = factor(e, op.input(0), flag(op, "transA", false), flag(op, "transBatchA", false));
  const Value b = factor(e, op.input(1), flag(op, "transB", false), flag(op, "transBatchB", false));
  const Value sum = product(e, a, b);
  const double alpha = op.real("alpha", 1);
  op.set(0, alpha == 1 ? sum : e.elementwise(sum.type, {sum}, [&](const Scalars &in) {
    return e.mul(in[0], e.number(sum.type, alpha));
  }));
}

/// What the attributes of a product name.
Activation fusedActivation(Operator &op) {
  Activation f = activationOf(op.text("activation", ""));
  f.alpha = op.real("activation_alpha", f.alpha);
  f.beta = op.real("activation_beta", f.beta);
  f.gamma = op.real("activation_gamma", f.gamma);
  return f;
}

void fusedGemm(Operator &op) {
  const Value sum = resultOf(op, "Gemm", 13, op.inputs);
  const Activation f = fusedActivation(op);
  op.set(0, f.name.empty() ? sum : applied(op.emit, f, sum));
}

/// With the bias in front of GELU.
void gemmFastGelu(Operator &op) {
  Emitter &e = op.emit;
  Values all{product(e, op.input(0), op.input(1))};
  if (op.has(2))
    all.push_back(op.input(2));
  op.set(0, e.elementwise(all[0].type, all, [&](const Scalars &in) {
    return gelu(e, in.size() == 2 ? e.add(in[0], in[1]) : in[0], true);
  }));
}

/// Of 16 bits, to sums of 32.
void matMulInteger16(Operator &op) {
  Emitter &e = op.emit;
  const bool hasSign = !isUnsigned(op.input(0).type) || !isUnsigned(op.input(1).type);
  const ElementType sum = hasSign ? ElementType::I32 : ElementType::U32;
  op.set(0, product(e, e.convert(op.input(0), sum), e.convert(op.input(1), sum)));
}

/// By elimination with pivots, one matrix after the other, beside one that becomes the inverse.
void inverse(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (x.rank() < 2)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no matrices");
  const Scalar n = x.dims.back(), zero = e.index(0), one = e.index(1);
  if (!sameExtent(n, x.dims[x.dims.size() - 2]))
    invalid("the matrices are not square");
  const ElementType type = bitsOf(x.type) < 32 ? ElementType::F32 : x.type;
  const Scalars batch = x.dims.without(2);
  Scalar count = one;
  for (const Scalar &extent : batch)
    count = e.mul(count, extent);
  const Value all = e.convert(e.reshape(x, {count, n, n}), type);
  e.use(all);
  const Scalar width = e.mul(n, e.index(2));
  const Value start = e.generate(type, {count, n, width}, [&](const Scalars &at) {
    const Scalar isLeft = e.compare(Compare::Less, at[2], n);
    return e.branch(
        isLeft, [&]() -> Scalars { return {e.at(all, at)}; },
        [&]() -> Scalars {
          const Scalar isOne = e.compare(Compare::Equal, e.sub(at[2], n), at[1]);
          return {e.select(isOne, e.number(type, 1), e.number(type, 0))};
        })[0];
  });
  // Column by column: the row with the greatest element comes up, and the others lose their share of it.
  const Value done = e.updateLoop(start, {zero}, {n}, [&](const Value &so, const Scalars &column) {
    const Scalar &k = column[0];
    e.use(so);
    const Value pivots = e.generate(ElementType::I64, {count}, [&](const Scalars &b) {
      const Scalars best =
          e.loops({k}, {n}, {k, e.number(type, -1)},
                  [&](const Scalars &i, const Scalars &found) -> Scalars {
                    const Scalar here = e.abs(e.at(so, {b[0], i[0], k}));
                    const Scalar isMore = e.compare(Compare::Greater, here, found[1]);
                    return {e.select(isMore, i[0], found[0]), e.select(isMore, here, found[1])};
                  });
      return e.convert(best[0], ElementType::I64);
    });
    return e.generate(type, so.dims, [&](const Scalars &at) {
      const Scalar pivot = e.convert(e.at(pivots, {at[0]}), ElementType::Index);
      auto isAt = [&](const Scalar &row) { return e.compare(Compare::Equal, at[1], row); };
      const Scalar from = e.select(isAt(k), pivot, e.select(isAt(pivot), k, at[1]));
      const Scalar top = e.div(e.at(so, {at[0], pivot, at[2]}), e.at(so, {at[0], pivot, k}));
      const Scalar share = e.mul(e.at(so, {at[0], from, k}), top);
      return e.select(isAt(k), top, e.sub(e.at(so, {at[0], from, at[2]}), share));
    });
  });
  op.set(0, e.convert(e.reshape(e.sliceAxis(done, 2, n, n), x.dims), x.type));
}

/// Distances of rows.
void cdist(Operator &op) {
  Emitter &e = op.emit;
  const std::string metric = op.choice(
      "metric", {"sqeuclidean", "euclidean",      "braycurtis", "canberra",    "chebyshev",
                 "cityblock",   "correlation",    "cosine",     "dice",        "hamming",
                 "jaccard",     "jensenshannon",  "kulsinski",  "mahalanobis", "matching",
                 "minkowski",   "rogerstanimoto", "russellrao", "seuclidean",  "sokalmichener",
                 "sokalsneath", "wminkowski",     "yule"});
  if (metric != "sqeuclidean" && metric != "euclidean")
    unsupported("with the metric '" + metric + "'");
  const Value &a = op.input(0), &b = op.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    invalid("both inputs must be matrices");
  const Scalar one = e.index(1);
  const Value left = e.reshape(a, {a.dims[0], one, a.dims[1]}),
              right = e.reshape(b, {one, b.dims[0], b.dims[1]});
  const Value squares = e.elementwise(a.type, {left, right}, [&](const Scalars &in) {
    const Scalar off = e.sub(in[0], in[1]);
    return e.mul(off, off);
  });
  const Value sum =
      e.reduce(squares, {2}, false, e.number(a.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  op.set(0, metric == "sqeuclidean" ? sum : e.elementwise(a.type, {sum}, [&](const Scalars &in) {
    return e.math("sqrt", {in[0]});
  }));
}

} // namespace

const ContribTable &contribProducts() {
  static const ContribTable table{
      {"FusedMatMul", {fusedMatMul, 2, 2, 1, "alpha transA transB transBatchA transBatchB"}},
      {"TransposeMatMul", {fusedMatMul, 2, 2, 1, "alpha transA transB"}},
      {"FusedGemm",
       {fusedGemm, 2, 3, 1,
        "activation activation_alpha activation_beta activation_gamma alpha beta transA transB"}},
      {"GemmFastGelu", {gemmFastGelu, 2, 3, 1, ""}},
      {"MatMulInteger16", {matMulInteger16, 2, 2, 1, ""}},
      {"Inverse", {inverse, 1, 1, 1, ""}},
      {"CDist", {cdist, 2, 2, 1, "metric"}}};
  return table;
}

} // namespace plim::importers
