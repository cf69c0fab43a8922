// Resize and Upsample: https://onnx.ai/onnx/operators/onnx__Resize.html, onnx__Upsample.html.
#include "importers/onnx/Operator.h"

#include <algorithm>

namespace plim::importers {

namespace {

constexpr ElementType wide = ElementType::F64; // of coordinates

/// How one dimension is resized.
struct Dimension {
  Scalar in, out; // extents
  Scalar scale;
  Scalar start, end; // of the region
  bool stays = false;
};

struct Resize {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool excludeOutside = false;
  std::vector<Dimension> dims;
};

/// What an element of the result is a sum of, along one dimension.
struct Taps {
  Scalars positions, weights; // weights are empty for one tap
  Scalar outside;             // of the region, for tf_crop_and_resize
};

Scalar originalCoordinate(Emitter &e, const Resize &r, const Dimension &d, const Scalar &position) {
  auto number = [&](double value) { return e.number(wide, value); };
  const Scalar x = e.convert(position, wide), in = e.convert(d.in, wide), one = number(1);
  const Scalar half = number(0.5), length = e.mul(d.scale, in);
  const std::string &mode = r.coordinates;
  Scalar halfPixel = e.sub(e.div(e.add(x, half), d.scale), half);
  if (mode == "half_pixel")
    return halfPixel;
  if (mode == "asymmetric")
    return e.div(x, d.scale);
  if (mode == "tf_half_pixel_for_nn")
    return e.div(e.add(x, half), d.scale);
  if (mode == "half_pixel_symmetric") {
    const Scalar adjusted = e.div(e.convert(d.out, wide), length);
    const Scalar offset = e.mul(e.div(in, number(2)), e.sub(one, adjusted));
    return e.add(offset, halfPixel);
  }
  if (mode == "pytorch_half_pixel")
    return e.select(e.compare(Compare::Greater, length, one), halfPixel, number(0));
  if (mode == "align_corners") {
    const Scalar single = e.compare(Compare::Equal, length, one);
    return e.select(single, number(0), e.div(e.mul(x, e.sub(in, one)), e.sub(length, one)));
  }
  if (mode == "tf_crop_and_resize") {
    const Scalar last = e.sub(in, one), single = e.compare(Compare::LessEqual, length, one);
    const Scalar step = e.div(e.mul(e.sub(d.end, d.start), last), e.sub(length, one));
    return e.select(single, e.mul(e.mul(half, e.add(d.start, d.end)), last),
                    e.add(e.mul(d.start, last), e.mul(x, step)));
  }
  unsupported("coordinate_transformation_mode '" + mode + "'");
}

Scalar nearestPosition(Emitter &e, const std::string &mode, const Scalar &x) {
  const Scalar half = e.number(wide, 0.5);
  if (mode == "floor")
    return e.math("floor", {x});
  if (mode == "ceil")
    return e.math("ceil", {x});
  if (mode == "round_prefer_ceil")
    return e.math("floor", {e.add(x, half)});
  return e.math("ceil", {e.sub(x, half)}); // round_prefer_floor
}

/// Weights of four neighbours, the first one before the element's left one.
Scalars cubicWeights(Emitter &e, double a, const Scalar &ratio) {
  auto number = [&](double value) { return e.number(wide, value); };
  auto near = [&](const Scalar &t) { // ((a + 2) t - (a + 3)) t^2 + 1
    const Scalar inner = e.sub(e.mul(number(a + 2), t), number(a + 3));
    return e.add(e.mul(e.mul(inner, t), t), number(1));
  };
  auto far = [&](const Scalar &t) { // ((a t - 5 a) t + 8 a) t - 4 a
    const Scalar inner = e.sub(e.mul(number(a), t), number(5 * a));
    return e.sub(e.mul(e.add(e.mul(inner, t), number(8 * a)), t), number(4 * a));
  };
  const Scalar one = number(1), rest = e.sub(one, ratio);
  return {far(e.add(ratio, one)), near(ratio), near(rest), far(e.add(rest, one))};
}

Taps tapsOf(Emitter &e, const Resize &r, const Dimension &d, const Scalar &position) {
  const Scalar last = e.sub(d.in, e.index(1)), zero = e.index(0);
  auto clamped = [&](const Scalar &at) { return e.max(zero, e.min(last, at)); };
  Taps taps;
  taps.outside = e.truth(false);
  if (d.stays) {
    taps.positions = {position};
    return taps;
  }
  const Scalar x = originalCoordinate(e, r, d, position);
  if (r.coordinates == "tf_crop_and_resize")
    taps.outside = e.either(e.compare(Compare::Less, x, e.number(wide, 0)),
                            e.compare(Compare::Greater, x, e.convert(last, wide)));
  if (r.mode == "nearest") {
    taps.positions = {clamped(e.convert(nearestPosition(e, r.nearest, x), ElementType::Index))};
    return taps;
  }
  const Scalar floor = e.math("floor", {x}), ratio = e.sub(x, floor);
  const Scalar left = e.convert(floor, ElementType::Index);
  Scalars weights, places;
  if (r.mode == "linear") {
    weights = {e.sub(e.number(wide, 1), ratio), ratio};
    places = {left, e.add(left, e.index(1))};
  } else {
    weights = cubicWeights(e, r.cubic, ratio);
    for (int64_t i = -1; i < 3; ++i)
      places.push_back(e.add(left, e.index(i)));
  }
  if (r.excludeOutside) {
    Scalar sum = e.number(wide, 0);
    for (size_t i = 0; i < places.size(); ++i) {
      const Scalar inside = e.both(e.compare(Compare::GreaterEqual, places[i], zero),
                                   e.compare(Compare::LessEqual, places[i], last));
      weights[i] = e.select(inside, weights[i], e.number(wide, 0));
      sum = e.add(sum, weights[i]);
    }
    for (Scalar &weight : weights)
      weight = e.div(weight, sum);
  }
  for (const Scalar &place : places)
    taps.positions.push_back(clamped(place));
  taps.weights = weights;
  return taps;
}

/// The i-th of a few, where a loop counts.
Scalar chosen(Emitter &e, const Scalars &few, const Scalar &i) {
  Scalar out = few.back();
  for (size_t k = few.size() - 1; k-- > 0;)
    out = e.select(e.compare(Compare::Equal, i, e.index(static_cast<int64_t>(k))), few[k], out);
  return out;
}

Value resized(Operator &op, const Value &x, const Resize &r) {
  Emitter &e = op.emit;
  Scalars dims;
  bool same = true;
  for (const Dimension &d : r.dims) {
    dims.push_back(d.out);
    same &= d.stays;
  }
  if (same)
    return x;
  const Scalar extrapolated = e.number(x.type, op.real("extrapolation_value", 0));
  e.use(x);
  return e.generate(x.type, dims, [&](const Scalars &position) {
    std::vector<Taps> taps;
    Scalars upper;
    Scalar outside = e.truth(false);
    for (size_t i = 0; i < r.dims.size(); ++i) {
      taps.push_back(tapsOf(e, r, r.dims[i], position[i]));
      upper.push_back(e.index(static_cast<int64_t>(taps[i].positions.size())));
      outside = e.either(outside, taps[i].outside);
    }
    Scalar value;
    if (r.mode == "nearest") {
      Scalars at;
      for (const Taps &tap : taps)
        at.push_back(tap.positions[0]);
      value = e.at(x, at);
    } else {
      const Scalar sum =
          e.loops(Scalars(upper.size(), e.index(0)), upper, {e.number(wide, 0)},
                  [&](const Scalars &i, const Scalars &so) -> Scalars {
                    Scalars at;
                    Scalar weight = e.number(wide, 1);
                    for (size_t d = 0; d < taps.size(); ++d) {
                      at.push_back(chosen(e, taps[d].positions, i[d]));
                      if (!taps[d].weights.empty())
                        weight = e.mul(weight, chosen(e, taps[d].weights, i[d]));
                    }
                    return {e.add(so[0], e.mul(weight, e.convert(e.at(x, at), wide)))};
                  })[0];
      value = e.convert(sum, x.type);
    }
    return e.select(outside, extrapolated, value);
  });
}

/// Extents and scales of the dimensions that `axes` names; all others stay.
void setDimensions(Operator &op, Resize &r, const Value &x, const Scalars &scales,
                   const Scalars &sizes) {
  Emitter &e = op.emit;
  Numbers axes = op.integers("axes");
  if (axes.empty())
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  const Scalars &given = sizes.empty() ? scales : sizes;
  if (given.size() != axes.size())
    invalid("there are " + std::to_string(given.size()) + " scales or sizes, not " +
            std::to_string(axes.size()));
  for (const Scalar &dim : x.dims)
    r.dims.push_back({dim, dim, e.number(wide, 1), e.number(wide, 0), e.number(wide, 1), true});
  for (size_t k = 0; k < axes.size(); ++k) {
    Dimension &d = r.dims[static_cast<size_t>(Operator::axisOf(axes[k], x.rank()))];
    const Scalar in = e.convert(d.in, wide);
    if (!sizes.empty()) {
      d.out = sizes[k];
      d.scale = e.div(e.convert(d.out, wide), in);
    } else {
      d.scale = e.convert(scales[k], wide);
      d.out = e.convert(e.math("floor", {e.mul(in, d.scale)}), ElementType::Index);
    }
    d.stays = sameExtent(d.in, d.out) && r.coordinates != "tf_crop_and_resize";
  }
}

/// Known scales as numbers: extents become known too.
bool setKnown(Operator &op, Resize &r, const Value &x, const Reals &scales) {
  Emitter &e = op.emit;
  Numbers axes = op.integers("axes");
  if (axes.empty())
    for (int64_t i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  if (scales.size() != axes.size())
    return false;
  for (const Scalar &dim : x.dims)
    r.dims.push_back({dim, dim, e.number(wide, 1), e.number(wide, 0), e.number(wide, 1), true});
  for (size_t k = 0; k < axes.size(); ++k) {
    Dimension &d = r.dims[static_cast<size_t>(Operator::axisOf(axes[k], x.rank()))];
    if (!(scales[k] > 0 && scales[k] < 1e6))
      invalid("a scale of " + std::to_string(scales[k]));
    d.scale = e.number(wide, scales[k]);
    d.stays = scales[k] == 1 && r.coordinates != "tf_crop_and_resize";
    if (d.stays)
      continue;
    if (d.in.known)
      d.out = e.index(static_cast<int64_t>(static_cast<double>(*d.in.known) * scales[k]));
    else
      d.out =
          e.convert(e.math("floor", {e.mul(e.convert(d.in, wide), d.scale)}), ElementType::Index);
  }
  return true;
}

void resize(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const bool first = op.opset < 11; // with fewer inputs, and coordinates of one kind
  Resize r;
  r.mode = op.text("mode", "nearest");
  r.coordinates = first ? "asymmetric" : op.text("coordinate_transformation_mode", "half_pixel");
  r.nearest = first ? "floor" : op.text("nearest_mode", "round_prefer_floor");
  r.cubic = op.real("cubic_coeff_a", -0.75);
  r.excludeOutside = op.integer("exclude_outside", 0) != 0;
  if (op.integer("antialias", 0) != 0)
    unsupported("with antialias");
  const size_t scalesInput = first ? 1 : 2;
  auto isThere = [&](size_t i) {
    return op.has(i) && !(op.input(i).rank() == 1 && op.input(i).dims[0].is(0));
  };
  if (!first && isThere(3)) {
    Scalars sizes = e.elements(op.input(3));
    const std::string policy = op.text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch")
      unsupported("keep_aspect_ratio_policy '" + policy + "'");
    setDimensions(op, r, x, {}, sizes);
  } else if (isThere(scalesInput)) {
    const Value &scales = op.input(scalesInput);
    const auto known = e.knownReals(scales);
    if (!known || !setKnown(op, r, x, *known))
      setDimensions(op, r, x, e.elements(scales), {});
  } else {
    invalid("scales and sizes are missing");
  }
  if (r.coordinates == "tf_crop_and_resize") {
    if (!isThere(1))
      invalid("roi is missing");
    const Scalars roi = e.elements(op.input(1));
    if (roi.size() != 2 * r.dims.size())
      unsupported("a roi of " + std::to_string(roi.size()) + " numbers");
    for (size_t i = 0; i < r.dims.size(); ++i) {
      r.dims[i].start = e.convert(roi[i], wide);
      r.dims[i].end = e.convert(roi[i + r.dims.size()], wide);
    }
  }
  op.set(0, resized(op, x, r));
}

void upsample(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Resize r;
  r.mode = op.text("mode", "nearest");
  if (r.mode == "bilinear")
    r.mode = "linear";
  r.coordinates = "asymmetric";
  r.nearest = "floor";
  std::optional<Reals> known;
  if (op.opset >= 9)
    known = e.knownReals(op.input(1));
  else
    known = op.reals("scales");
  if (!known || !setKnown(op, r, x, *known))
    setDimensions(op, r, x, e.elements(op.input(1)), {});
  op.set(0, resized(op, x, r));
}

} // namespace

const OperatorTable &resizing() {
  static const OperatorTable table{{"Resize", resize}, {"Upsample", upsample}};
  return table;
}

} // namespace plim::importers
