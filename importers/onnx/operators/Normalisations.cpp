// Normalisation and softmax. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/emit/Sorting.h"
#include "importers/onnx/Normalisation.h"

#include <algorithm>
#include <numeric>

namespace plim::importers {

namespace {

/// Along all dimensions from the axis on.
Value from(Emitter &e, const Value &x, int64_t axis,
           Value (*function)(Emitter &, const Value &, int64_t)) {
  Scalar before = e.index(1), after = e.index(1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    Scalar &part = i < axis ? before : after;
    part = e.mul(part, x.dims[static_cast<size_t>(i)]);
  }
  return e.reshape(function(e, e.reshape(x, {before, after}), 1), x.dims);
}

/// Before opset 13 all dimensions from the axis on were one.
Value alongAxis(Operator &op, Value (*function)(Emitter &, const Value &, int64_t)) {
  const Value &x = op.input(0);
  if (op.opset >= 13)
    return function(op.emit, x, op.axis(-1, x.rank()));
  const int64_t axis = op.integer("axis", 1);
  return from(op.emit, x, axis == x.rank() ? axis : Operator::axisOf(axis, x.rank()), function);
}

/// The first of the greatest gets 1.
Value hardmaxOver(Emitter &e, const Value &x, int64_t axis) {
  const auto a = static_cast<size_t>(axis);
  const Value best = placeOf(e, x, axis, Compare::Greater, false);
  return e.generate(x.type, x.dims, [&](const Scalars &position) {
    Scalars at = position;
    at.erase(at.begin() + axis);
    const Scalar first = e.convert(e.at(best, at), ElementType::Index);
    return e.select(e.compare(Compare::Equal, first, position[a]), e.number(x.type, 1),
                    e.number(x.type, 0));
  });
}

void softmax(Operator &op) { op.set(0, alongAxis(op, softmaxOver)); }
void logSoftmax(Operator &op) { op.set(0, alongAxis(op, logSoftmaxOver)); }
void hardmax(Operator &op) { op.set(0, alongAxis(op, hardmaxOver)); }

void batchNormalization(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const double epsilon = op.real("epsilon", 1e-5);
  Value mean = op.input(3), variance = op.input(4);
  if (op.opset < 9 && op.opset >= 7 && op.integer("spatial", 1) == 0)
    unsupported("with spatial = 0");
  const bool training =
      op.opset >= 14 ? op.integer("training_mode", 0) != 0 : op.wants(1) && op.opset >= 7;
  if (training) {
    if (op.opset < 14)
      unsupported("in training mode, before opset 14");
    Axes axes = axesFrom(2, x.rank());
    axes.insert(axes.begin(), 0);
    const Value now = meanOver(e, x, axes);
    const Value square = e.elementwise(x.type, {x, now}, [&](const Scalars &in) {
      const Scalar off = e.sub(in[0], in[1]);
      return e.mul(off, off);
    });
    const Value spread = meanOver(e, square, axes);
    const Value flatMean = e.reshape(now, mean.dims), flatSpread = e.reshape(spread, mean.dims);
    const double momentum = op.real("momentum", 0.9);
    auto running = [&](const Value &old, const Value &fresh) {
      return e.elementwise(old.type, {old, fresh}, [&](const Scalars &in) {
        return e.add(e.mul(in[0], e.number(old.type, momentum)),
                     e.mul(e.convert(in[1], old.type), e.number(old.type, 1 - momentum)));
      });
    };
    op.set(1, running(mean, flatMean));
    op.set(2, running(variance, flatSpread));
    mean = flatMean;
    variance = flatSpread;
  }
  // What depends on the channel only is computed of it alone, mostly at the load.
  const ElementType type = variance.type;
  const Value factor = e.elementwise(type, {op.input(1), variance}, [&](const Scalars &in) {
    return e.div(e.convert(in[0], type), e.math("sqrt", {e.add(in[1], e.number(type, epsilon))}));
  });
  const Values operands{x, perChannel(e, factor, x), perChannel(e, op.input(2), x),
                        perChannel(e, mean, x)};
  op.set(0, e.elementwise(x.type, operands, [&](const Scalars &in) {
    const Scalar centred = e.sub(e.convert(in[0], type), in[3]);
    return e.convert(e.add(e.mul(centred, in[1]), e.convert(in[2], type)), x.type);
  }));
}

void instanceNormalization(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Normalised out = normalised(e, x, axesFrom(2, x.rank()), op.real("epsilon", 1e-5));
  op.set(0, scaled(e, out.value, perChannel(e, op.input(1), x), perChannel(e, op.input(2), x)));
}

void groupNormalization(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t groups = op.integer("num_groups", 1);
  const Value out = groupNormalised(e, x, groups, op.real("epsilon", 1e-5));
  if (op.opset >= 21)
    return op.set(0, scaled(e, out, perChannel(e, op.input(1), x), perChannel(e, op.input(2), x)));
  // Before there was one factor for each group.
  Scalars dims{x.dims[0], e.index(groups), e.div(x.dims[1], e.index(groups))};
  dims.insert(dims.end(), x.dims.begin() + 2, x.dims.end());
  const Value parts = e.reshape(out, dims);
  op.set(0, e.reshape(scaled(e, parts, perChannel(e, op.input(1), parts),
                             perChannel(e, op.input(2), parts)),
                      x.dims));
}

void layerNormalization(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Normalised out =
      normalised(e, x, axesFrom(op.axis(-1, x.rank()), x.rank()), op.real("epsilon", 1e-5));
  op.set(0, scaled(e, out.value, op.input(1), op.has(2) ? op.input(2) : Value()));
  op.set(1, out.mean);
  op.set(2, out.inverse);
}

void rmsNormalization(Operator &op) {
  const Value &x = op.input(0);
  const Normalised out = rootNormalised(op.emit, x, axesFrom(op.axis(-1, x.rank()), x.rank()),
                                        op.real("epsilon", 1e-5));
  op.set(0, scaled(op.emit, out.value, op.input(1), Value()));
  op.set(1, out.inverse); // of SimplifiedLayerNormalization
}

/// Divided by what the channels around it have.
void lrn(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t size = op.integer("size", 1);
  const Scalar before = e.index((size - 1) / 2), after = e.index(size / 2 + 1);
  e.use(x);
  op.set(0, e.generate(x.type, x.dims, [&](const Scalars &position) {
    const Scalar from = e.max(e.index(0), e.sub(position[1], before));
    const Scalar to = e.min(x.dims[1], e.add(position[1], after));
    const Scalar sum = e.loops({from}, {to}, {e.number(x.type, 0)},
                               [&](const Scalars &i, const Scalars &so) -> Scalars {
                                 Scalars at = position;
                                 at[1] = i[0];
                                 const Scalar here = e.at(x, at);
                                 return {e.add(so[0], e.mul(here, here))};
                               })[0];
    const Scalar scale = e.number(x.type, op.real("alpha", 0.0001) / static_cast<double>(size));
    const Scalar base = e.add(e.number(x.type, op.real("bias", 1)), e.mul(scale, sum));
    return e.div(e.at(x, position),
                 e.math("powf", {base, e.number(x.type, op.real("beta", 0.75))}));
  }));
}

void lpNormalization(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool first = op.integer("p", 2) == 1;
  const Value sum = e.reduce(x, {op.axis(-1, x.rank())}, true, e.number(x.type, 0),
                             [&](const Scalar &so, const Scalar &element) {
                               return e.add(so, first ? e.abs(element) : e.mul(element, element));
                             });
  op.set(0, e.elementwise(x.type, {x, sum}, [&](const Scalars &in) {
    return e.div(in[0], first ? in[1] : e.math("sqrt", {in[1]}));
  }));
}

void dropout(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  if (op.has(2)) {
    const auto training = e.known(op.input(2));
    const auto ratio = op.has(1) ? e.knownReals(op.input(1)) : std::optional(Reals{0.5});
    const bool none = ratio && !ratio->empty() && (*ratio)[0] == 0;
    if (!none && (!training || (*training)[0] != 0))
      unsupported("in training mode: it is random");
  }
  op.set(0, x);
  op.set(1, e.fill(x.dims, e.truth(true)));
}

} // namespace

Axes axesFrom(int64_t first, int64_t rank) {
  if (rank < first)
    invalid("a tensor of rank " + std::to_string(rank) + " has too few dimensions");
  Axes axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Value perChannel(Emitter &e, const Value &list, const Value &x) {
  if (x.rank() < 2)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no channels");
  Scalars dims(x.dims.size() - 1, e.index(1));
  dims[0] = list.dims[0];
  return e.reshape(list, dims);
}

Value meanOver(Emitter &e, const Value &x, const Axes &axes) {
  const Value sum =
      e.reduce(x, axes, true, e.number(x.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  Scalar count = e.index(1);
  for (int64_t axis : axes)
    count = e.mul(count, x.dims[static_cast<size_t>(axis)]);
  return e.elementwise(x.type, {sum},
                       [&](const Scalars &in) { return e.div(in[0], e.convert(count, x.type)); });
}

namespace {

/// Sums of 16 bits would be too coarse.
Value widened(Emitter &e, const Value &x) {
  return bitsOf(x.type) < 32 ? e.convert(x, ElementType::F32) : x;
}

/// 1 / sqrt(x + epsilon)
Value inverseRoot(Emitter &e, const Value &x, double epsilon) {
  return e.elementwise(x.type, {x}, [&](const Scalars &in) {
    return e.div(e.number(x.type, 1), e.math("sqrt", {e.add(in[0], e.number(x.type, epsilon))}));
  });
}

} // namespace

Normalised normalised(Emitter &e, const Value &x, const Axes &axes, double epsilon) {
  const Value wide = widened(e, x);
  Normalised out;
  out.mean = meanOver(e, wide, axes);
  const Value centred = e.elementwise(wide.type, {wide, out.mean},
                                      [&](const Scalars &in) { return e.sub(in[0], in[1]); });
  const Value square =
      e.elementwise(wide.type, {centred}, [&](const Scalars &in) { return e.mul(in[0], in[0]); });
  out.inverse = inverseRoot(e, meanOver(e, square, axes), epsilon);
  out.value = e.elementwise(x.type, {centred, out.inverse}, [&](const Scalars &in) {
    return e.convert(e.mul(in[0], in[1]), x.type);
  });
  return out;
}

Normalised rootNormalised(Emitter &e, const Value &x, const Axes &axes, double epsilon) {
  const Value wide = widened(e, x);
  const Value square =
      e.elementwise(wide.type, {wide}, [&](const Scalars &in) { return e.mul(in[0], in[0]); });
  Normalised out;
  out.inverse = inverseRoot(e, meanOver(e, square, axes), epsilon);
  out.value = e.elementwise(x.type, {wide, out.inverse}, [&](const Scalars &in) {
    return e.convert(e.mul(in[0], in[1]), x.type);
  });
  return out;
}

Value groupNormalised(Emitter &e, const Value &x, int64_t groups, double epsilon) {
  if (groups < 1 || x.rank() < 3)
    invalid("groups of a tensor of rank " + std::to_string(x.rank()));
  if (x.dims[1].known && *x.dims[1].known % groups != 0)
    invalid(std::to_string(*x.dims[1].known) + " channels are not " + std::to_string(groups) +
            " groups of as many");
  Scalars dims{x.dims[0], e.index(groups), e.div(x.dims[1], e.index(groups))};
  dims.insert(dims.end(), x.dims.begin() + 2, x.dims.end());
  const Value parts = e.reshape(x, dims);
  return e.reshape(normalised(e, parts, axesFrom(2, parts.rank()), epsilon).value, x.dims);
}

Value scaled(Emitter &e, const Value &x, const Value &scale, const Value &bias) {
  Values operands{x, scale};
  if (bias)
    operands.push_back(bias);
  return e.elementwise(x.type, operands, [&](const Scalars &in) {
    const Scalar product = e.mul(in[0], e.convert(in[1], x.type));
    return in.size() == 3 ? e.add(product, e.convert(in[2], x.type)) : product;
  });
}

Value softmaxFrom(Emitter &e, const Value &x, int64_t axis) {
  return from(e, x, axis, softmaxOver);
}

Value softmaxOver(Emitter &e, const Value &x, int64_t axis) {
  const Value most =
      e.reduce(x, {axis}, true, e.lowest(x.type),
               [&](const Scalar &so, const Scalar &element) { return e.max(so, element); });
  const Value powers = e.elementwise(
      x.type, {x, most}, [&](const Scalars &in) { return e.math("exp", {e.sub(in[0], in[1])}); });
  const Value sum =
      e.reduce(powers, {axis}, true, e.number(x.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  return e.elementwise(x.type, {powers, sum},
                       [&](const Scalars &in) { return e.div(in[0], in[1]); });
}

Value logSoftmaxOver(Emitter &e, const Value &x, int64_t axis) {
  const Value most =
      e.reduce(x, {axis}, true, e.lowest(x.type),
               [&](const Scalar &so, const Scalar &element) { return e.max(so, element); });
  const Value shifted =
      e.elementwise(x.type, {x, most}, [&](const Scalars &in) { return e.sub(in[0], in[1]); });
  const Value sum = e.reduce(
      shifted, {axis}, true, e.number(x.type, 0),
      [&](const Scalar &so, const Scalar &element) { return e.add(so, e.math("exp", {element})); });
  return e.elementwise(x.type, {shifted, sum},
                       [&](const Scalars &in) { return e.sub(in[0], e.math("log", {in[1]})); });
}

const OperatorTable &normalisations() {
  static const OperatorTable table{{"Softmax", softmax},
                                   {"LogSoftmax", logSoftmax},
                                   {"Hardmax", hardmax},
                                   {"BatchNormalization", batchNormalization},
                                   {"InstanceNormalization", instanceNormalization},
                                   {"GroupNormalization", groupNormalization},
                                   {"LayerNormalization", layerNormalization},
                                   {"RMSNormalization", rmsNormalization},
                                   {"SimplifiedLayerNormalization", rmsNormalization},
                                   {"LRN", lrn},
                                   {"LpNormalization", lpNormalization},
                                   {"Dropout", dropout}};
  return table;
}

} // namespace plim::importers
