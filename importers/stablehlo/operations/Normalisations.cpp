// Normalisations of batches. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

namespace {

struct Batch {
  size_t feature = 0;
  Axes others;
  Scalar count;   // of elements for each feature
  Scalars narrow; // extents of 1, but for the feature
};

Batch batchOf(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (!isFloat(x.type))
    invalid("its operand must be of floats");
  const int64_t feature = op.integer("feature_index");
  checkAxes({feature}, x.rank(), "feature_index");
  Batch b;
  b.feature = static_cast<size_t>(feature);
  b.count = e.index(1);
  b.narrow.assign(x.dims.size(), e.index(1));
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (i == b.feature) {
      b.narrow[i] = x.dims[i];
      continue;
    }
    b.others.push_back(static_cast<int64_t>(i));
    b.count = e.mul(b.count, x.dims[i]);
  }
  return b;
}

/// One number for each feature, beside the operand.
Value wide(Operator &op, const Batch &b, const Value &perFeature) {
  const Value &x = op.input(0);
  checkSameType(x, perFeature);
  if (perFeature.rank() != 1 || (perFeature.dims[0].known && x.dims[b.feature].known &&
                                 *perFeature.dims[0].known != *x.dims[b.feature].known))
    invalid("an operand must have one number for each feature");
  return op.emit.widened(op.emit.reshape(perFeature, b.narrow), x.dims);
}

Value sumOf(Operator &op, const Batch &b, const Value &x) {
  Emitter &e = op.emit;
  return e.reduce(x, b.others, false, e.number(x.type, 0),
                  [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
}

Scalar deviation(Operator &op, const Scalar &variance) {
  Emitter &e = op.emit;
  return e.math("sqrt", {e.add(variance, e.real(variance.type, op.real("epsilon")))});
}

Value normalised(Operator &op, const Batch &b, const Value &mean, const Value &variance) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  return elementwise(e, x.type,
                     {x, wide(op, b, op.input(1)), wide(op, b, op.input(2)), wide(op, b, mean),
                      wide(op, b, variance)},
                     [&](const Scalars &in) {
                       const Scalar centred = e.div(e.sub(in[0], in[3]), deviation(op, in[4]));
                       return e.add(e.mul(in[1], centred), in[2]);
                     });
}

void inference(Operator &op) { op.give(normalised(op, batchOf(op), op.input(3), op.input(4))); }

void training(Operator &op) {
  Emitter &e = op.emit;
  const Batch b = batchOf(op);
  const Value &x = op.input(0);
  auto divided = [&](const Value &sum) {
    return elementwise(e, x.type, {sum},
                       [&](const Scalars &in) { return e.div(in[0], e.convert(b.count, x.type)); });
  };
  const Value mean = divided(sumOf(op, b, x));
  const Value squares = elementwise(e, x.type, {x, wide(op, b, mean)}, [&](const Scalars &in) {
    const Scalar centred = e.sub(in[0], in[1]);
    return e.mul(centred, centred);
  });
  const Value variance = divided(sumOf(op, b, squares));
  op.give(normalised(op, b, mean, variance));
  op.give(mean);
  op.give(variance);
}

void gradient(Operator &op) {
  Emitter &e = op.emit;
  const Batch b = batchOf(op);
  const Value &x = op.input(0), &scale = op.input(1), &mean = op.input(2), &variance = op.input(3),
              &given = op.input(4);
  checkSameShape(x, given);
  const Value products =
      elementwise(e, x.type, {given, x, wide(op, b, mean)},
                  [&](const Scalars &in) { return e.mul(in[0], e.sub(in[1], in[2])); });
  const Value ofOffset = sumOf(op, b, given), centredSum = sumOf(op, b, products);
  op.give(elementwise(e, x.type,
                      {given, x, wide(op, b, mean), wide(op, b, variance), wide(op, b, scale),
                       wide(op, b, ofOffset), wide(op, b, centredSum)},
                      [&](const Scalars &in) {
                        const Scalar n = e.convert(b.count, x.type);
                        const Scalar spread = e.add(in[3], e.real(x.type, op.real("epsilon")));
                        const Scalar pulled = e.div(e.mul(in[6], e.sub(in[1], in[2])), spread);
                        const Scalar whole = e.sub(e.sub(e.mul(in[0], n), in[5]), pulled);
                        return e.mul(e.div(e.div(in[4], deviation(op, in[3])), n), whole);
                      }));
  op.give(elementwise(e, x.type, {centredSum, variance},
                      [&](const Scalars &in) { return e.div(in[0], deviation(op, in[1])); }));
  op.give(ofOffset);
}

} // namespace

const OperationTable &normalisations() {
  static const OperationTable table{{"stablehlo.batch_norm_grad", {gradient, 5, 5}},
                                    {"stablehlo.batch_norm_inference", {inference, 5, 5}},
                                    {"stablehlo.batch_norm_training", {training, 3, 3}}};
  return table;
}

} // namespace plim::importers::stablehlo
