// ONNX Runtime's activations and sums with biases (Contrib.h).
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Normalisation.h"

namespace plim::importers {

namespace {

Value sumOf(Emitter &e, const Values &all) {
  return e.elementwise(all[0].type, all, [&](const Scalars &in) {
    Scalar sum = in[0];
    for (size_t i = 1; i < in.size(); ++i)
      sum = e.add(sum, in[i]);
    return sum;
  });
}

/// The inputs that are there, from the first to one before `end`.
Values given(const Operator &op, size_t end) {
  Values out;
  for (size_t i = 0; i < end; ++i)
    if (op.has(i))
      out.push_back(op.input(i));
  return out;
}

void quickGelu(Operator &op) {
  const Value &x = op.input(0);
  const double alpha = op.real("alpha", 1.702);
  op.set(0, op.emit.elementwise(x.type, {x},
                                [&](const Scalars &in) { return swish(op.emit, in[0], alpha); }));
}

/// With a bias or without.
template <bool IsApproximate> void biasGelu(Operator &op) {
  Emitter &e = op.emit;
  const Values all = given(op, 2);
  op.set(0, e.elementwise(all[0].type, all, [&](const Scalars &in) {
    return gelu(e, in.size() == 2 ? e.add(in[0], in[1]) : in[0], IsApproximate);
  }));
}

void addAll(Operator &op) { op.set(0, sumOf(op.emit, given(op, 3))); }

/// The left half times GELU of the right one.
void biasSplitGelu(Operator &op) {
  Emitter &e = op.emit;
  const Value sum = sumOf(e, {op.input(0), op.input(1)});
  const Scalar half = e.div(sum.dims.back(), e.index(2));
  const Value left = e.sliceAxis(sum, sum.rank() - 1, e.index(0), half);
  const Value right = e.sliceAxis(sum, sum.rank() - 1, half, half);
  op.set(0, e.elementwise(sum.type, {left, right},
                          [&](const Scalars &in) { return e.mul(in[0], gelu(e, in[1], false)); }));
}

/// Whether the bias repeats inside or outside is in its extents of 1 too.
void biasSoftmax(Operator &op) {
  const Value &x = op.input(0), &bias = op.input(1);
  flag(op, "is_inner_broadcast", false);
  if (bias.rank() > x.rank())
    invalid("the bias has more dimensions than the scores");
  op.set(0, softmaxFrom(op.emit, sumOf(op.emit, {x, bias}), op.axis(1, x.rank())));
}

/// Dropout of nothing: data, bias and residual are added. The mask is of truth values, or of bits.
template <size_t Addends, bool IsPacked> void dropout(Operator &op) {
  Emitter &e = op.emit;
  if (op.has(Addends + 1)) {
    const auto training = e.known(op.input(Addends + 1));
    if (!training || training->empty() || (*training)[0] != 0)
      unsupported("in training mode: it is random");
  }
  const Value out = sumOf(e, given(op, Addends));
  op.set(0, out);
  if (!IsPacked)
    return op.set(1, e.splat(out.dims, e.truth(true)));
  const Scalar words = e.ceilDiv(e.count(out), e.index(32));
  op.set(1, e.splat({words}, e.integer(ElementType::U32, 0xFFFFFFFF)));
}

void gatedAdd(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  op.set(0, e.elementwise(x.type, {x, op.input(1), op.input(2)},
                          [&](const Scalars &in) { return e.add(in[0], e.mul(in[1], in[2])); }));
}

/// Pairs of a real and an imaginary part in the last dimension; the second factor is conjugated or not.
template <bool IsConjugated> void complexMul(Operator &op) {
  Emitter &e = op.emit;
  const Value &a = op.input(0), &b = op.input(1);
  if (a.rank() < 1 || !a.dims.back().is(2) || !b.dims.back().is(2))
    invalid("the last extent must be 2");
  auto part = [&](const Value &x, int64_t i) {
    return e.sliceAxis(x, x.rank() - 1, e.index(i), e.index(1));
  };
  const Values parts{part(a, 0), part(a, 1), part(b, 0), part(b, 1)};
  const Value real = e.elementwise(a.type, parts, [&](const Scalars &in) {
    const Scalar own = e.mul(in[0], in[2]), other = e.mul(in[1], in[3]);
    return IsConjugated ? e.add(own, other) : e.sub(own, other);
  });
  const Value imaginary = e.elementwise(a.type, parts, [&](const Scalars &in) {
    const Scalar first = e.mul(in[1], in[2]), second = e.mul(in[0], in[3]);
    return IsConjugated ? e.sub(first, second) : e.add(first, second);
  });
  op.set(0, e.concatenate({real, imaginary}, real.rank() - 1));
}

} // namespace

const ContribTable &contribActivations() {
  static const ContribTable table{
      {"Gelu", {biasGelu<false>, 1, 1, 1, ""}},
      {"QuickGelu", {quickGelu, 1, 1, 1, "alpha"}},
      {"BiasGelu", {biasGelu<false>, 2, 2, 1, ""}},
      {"FastGelu", {biasGelu<true>, 1, 2, 1, ""}},
      {"BiasAdd", {addAll, 3, 3, 1, ""}},
      {"BiasSplitGelu", {biasSplitGelu, 2, 2, 1, ""}},
      {"BiasSoftmax", {biasSoftmax, 2, 2, 1, "axis is_inner_broadcast!"}},
      {"BiasDropout", {dropout<3, false>, 2, 5, 2, "seed"}},
      {"BitmaskDropout", {dropout<1, true>, 1, 3, 2, "seed"}},
      {"BitmaskBiasDropout", {dropout<3, true>, 2, 5, 2, "seed"}},
      {"GatedAdd", {gatedAdd, 3, 3, 1, ""}},
      {"ComplexMul", {complexMul<false>, 2, 2, 1, ""}},
      {"ComplexMulConj", {complexMul<true>, 2, 2, 1, ""}}};
  return table;
}

} // namespace plim::importers
