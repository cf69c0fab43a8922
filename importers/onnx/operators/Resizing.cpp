// Resize and Upsample: https://onnx.ai/onnx/operators/onnx__Resize.html, onnx__Upsample.html.
#include "importers/onnx/Operator.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace plim::importers {

namespace {

constexpr ElementType wide = ElementType::F64; // of coordinates
constexpr int64_t mostReach = 64;              // of a filter
constexpr int64_t mostKnown = 1 << 16;         // elements whose coordinates are computed now

/// How one dimension is resized.
struct Dimension {
  Scalar in, out; // extents
  Scalar scale;
  Scalar start, end; // of the region
  bool stays = false;
  int64_t whole = 0; // the scale, if it is known and a whole number
};

struct Resize {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool excludeOutside = false;
  bool antialias = false;
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
  // What has its extent already stays, also if only the call knows.
  if (mode == "tf_half_pixel_for_nn")
    return e.select(e.compare(Compare::Equal, d.scale, one), x, e.div(e.add(x, half), d.scale));
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
  // tf_crop_and_resize; in this order the last one is where the region ends
  const Scalar last = e.sub(in, one), single = e.compare(Compare::LessEqual, length, one);
  const Scalar way = e.div(e.mul(e.mul(x, e.sub(d.end, d.start)), last), e.sub(length, one));
  return e.select(single, e.mul(e.mul(half, e.add(d.start, d.end)), last),
                  e.add(e.mul(d.start, last), way));
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

/// How many neighbours count in front of the left one of an element, and behind the right one: more
/// if the filter is stretched over what an element of a smaller result covers.
int64_t reachOf(const Resize &r, const Dimension &d) {
  const int64_t own = r.mode == "cubic" ? 1 : 0;
  if (!r.antialias)
    return own;
  const double scale = std::min(1.0, *d.scale.real);
  return -static_cast<int64_t>(std::floor(static_cast<double>(-own - 1) / scale)) - 1;
}

/// Weights of the neighbours, from the first one that counts on.
Scalars stretchedWeights(Emitter &e, const Resize &r, const Dimension &d, const Scalar &ratio) {
  auto number = [&](double value) { return e.number(wide, value); };
  const Scalar scale = number(std::min(1.0, *d.scale.real)), one = number(1);
  const int64_t reach = reachOf(r, d);
  Scalars weights;
  for (int64_t i = -reach; i <= reach + 1; ++i) {
    // By comparisons, which are done now where the numbers are known.
    const Scalar off = e.mul(e.sub(number(static_cast<double>(i)), ratio), scale);
    const Scalar t = e.select(e.compare(Compare::Less, off, number(0)), e.sub(number(0), off), off);
    if (r.mode == "linear") {
      weights.push_back(e.select(e.compare(Compare::Less, t, one), e.sub(one, t), number(0)));
      continue;
    }
    const double a = r.cubic;
    const Scalar near =
        e.add(e.mul(e.mul(e.sub(e.mul(number(a + 2), t), number(a + 3)), t), t), one);
    const Scalar far =
        e.sub(e.mul(e.add(e.mul(e.sub(e.mul(number(a), t), number(5 * a)), t), number(8 * a)), t),
              number(4 * a));
    weights.push_back(e.select(e.compare(Compare::LessEqual, t, one), near,
                               e.select(e.compare(Compare::Less, t, number(2)), far, number(0))));
  }
  return weights;
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
  if (r.antialias)
    weights = stretchedWeights(e, r, d, ratio);
  else if (r.mode == "linear")
    weights = {e.sub(e.number(wide, 1), ratio), ratio};
  else
    weights = cubicWeights(e, r.cubic, ratio);
  const int64_t reach = reachOf(r, d);
  for (int64_t i = -reach; i <= reach + 1; ++i)
    places.push_back(e.add(left, e.index(i)));
  if (r.excludeOutside || r.antialias) {
    Scalar sum = e.number(wide, 0);
    for (size_t i = 0; i < places.size(); ++i) {
      if (!r.excludeOutside) {
        sum = e.add(sum, weights[i]);
        continue;
      }
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

/// Where the elements of the result come from along one dimension, made once for all of the others.
struct Tables {
  Values positions, weights; // one of each tap; no weights for one tap
};

/// Constants, if all taps are known.
std::optional<Tables> knownTables(Emitter &e, const std::vector<Taps> &all, size_t taps,
                                  ElementType type) {
  const auto extent = static_cast<int64_t>(all.size());
  Tables tables;
  for (size_t i = 0; i < taps; ++i) {
    std::vector<std::byte> positions(all.size() * sizeof(int64_t)),
        weights(all.size() * bitsOf(type) / 8);
    for (size_t k = 0; k < all.size(); ++k) {
      const Scalar &position = all[k].positions[i];
      if (!position.known || (taps > 1 && !all[k].weights[i].real))
        return std::nullopt;
      std::memcpy(&positions[k * sizeof(int64_t)], &*position.known, sizeof(int64_t));
      if (taps == 1)
        continue;
      const double weight = *all[k].weights[i].real;
      const auto narrow = static_cast<float>(weight);
      if (type == ElementType::F32)
        std::memcpy(&weights[k * sizeof narrow], &narrow, sizeof narrow);
      else
        std::memcpy(&weights[k * sizeof weight], &weight, sizeof weight);
    }
    tables.positions.push_back(
        e.constant(makeTensor(ElementType::I64, {extent}, std::move(positions))));
    if (taps > 1)
      tables.weights.push_back(e.constant(makeTensor(type, {extent}, std::move(weights))));
  }
  return tables;
}

/// Weights are of `type`, F32 or F64.
Tables tablesOf(Emitter &e, const Resize &r, const Dimension &d, ElementType type) {
  if (r.antialias && !d.scale.real)
    unsupported("with antialias by a scale that is not known");
  const int64_t reach = r.mode == "nearest" ? 0 : reachOf(r, d);
  if (reach > mostReach)
    unsupported("with antialias by a scale of " + std::to_string(*d.scale.real));
  const size_t taps = r.mode == "nearest" ? 1 : static_cast<size_t>(2 * reach + 2);
  const bool isKnown = d.out.known && d.in.known && d.scale.real && d.start.real && d.end.real;
  if (isKnown && *d.out.known <= mostKnown) {
    std::vector<Taps> all;
    for (int64_t position = 0; position < *d.out.known; ++position)
      all.push_back(tapsOf(e, r, d, e.index(position)));
    if (std::optional<Tables> known = knownTables(e, all, taps, type))
      return *std::move(known);
  }
  auto table = [&](ElementType of, const std::function<Scalar(const Taps &)> &chosen) {
    return e.generate(of, {d.out}, [&](const Scalars &position) {
      return e.convert(chosen(tapsOf(e, r, d, position[0])), of);
    });
  };
  Tables tables;
  for (size_t i = 0; i < taps; ++i) {
    tables.positions.push_back(
        table(ElementType::I64, [&](const Taps &all) { return all.positions[i]; }));
    if (taps > 1)
      tables.weights.push_back(table(type, [&](const Taps &all) { return all.weights[i]; }));
  }
  return tables;
}

/// Is each element of the result the one at its position divided by a whole scale? The same for the positions of every element.
bool onlyRepeats(const Resize &r, const Dimension &d) {
  if (r.mode != "nearest" || d.whole < 2)
    return false;
  double shift = 0, back = 0; // of the coordinate (position + shift) / scale - back
  if (r.coordinates == "half_pixel" || r.coordinates == "pytorch_half_pixel" ||
      r.coordinates == "half_pixel_symmetric")
    shift = back = 0.5;
  else if (r.coordinates == "tf_half_pixel_for_nn")
    shift = 0.5;
  else if (r.coordinates != "asymmetric")
    return false;
  for (int64_t position = 0; position < d.whole; ++position) {
    const double x = (static_cast<double>(position) + shift) / static_cast<double>(d.whole) - back;
    const double nearest = r.nearest == "floor"               ? std::floor(x)
                           : r.nearest == "ceil"              ? std::ceil(x)
                           : r.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                              : std::ceil(x - 0.5);
    if (nearest != 0)
      return false;
  }
  return true;
}

/// Each element so often along each dimension.
Value repeated(Emitter &e, const Value &x, const Numbers &times) {
  Scalars narrow, wider, dims;
  for (size_t axis = 0; axis < times.size(); ++axis) {
    narrow.push_back(x.dims[axis]);
    wider.push_back(x.dims[axis]);
    dims.push_back(e.mul(x.dims[axis], e.index(times[axis])));
    if (times[axis] == 1)
      continue;
    narrow.push_back(e.index(1));
    wider.push_back(e.index(times[axis]));
  }
  return e.reshape(e.broadcast(e.reshape(x, narrow), wider), dims);
}

/// One dimension of it.
Value resizedAlong(Emitter &e, const Value &x, const Resize &r, size_t axis, ElementType type) {
  Tables tables = tablesOf(e, r, r.dims[axis], type);
  for (Value &table : tables.positions)
    e.use(table);
  for (Value &table : tables.weights)
    e.use(table);
  Scalars dims = x.dims;
  dims[axis] = r.dims[axis].out;
  e.use(x);
  Value out =
      e.generate(tables.weights.empty() ? x.type : type, dims, [&](const Scalars &position) {
        auto tap = [&](size_t i) {
          Scalars from = position;
          from[axis] = e.convert(e.at(tables.positions[i], {position[axis]}), ElementType::Index);
          return e.at(x, from);
        };
        if (tables.weights.empty())
          return tap(0);
        std::optional<Scalar> sum;
        for (size_t i = 0; i < tables.weights.size(); ++i) {
          const Scalar term =
              e.mul(e.at(tables.weights[i], {position[axis]}), e.convert(tap(i), type));
          sum = sum ? e.add(*sum, term) : term;
        }
        return *sum;
      });
  return out;
}

/// `inside`, but `value` where the region that is cropped is not.
Value extrapolated(Emitter &e, const Value &inside, const Resize &r, const Scalar &value) {
  Values outside; // of each dimension, with as many as the result has
  for (size_t i = 0; i < r.dims.size(); ++i) {
    Value flags = e.generate(ElementType::I1, {r.dims[i].out}, [&](const Scalars &position) {
      return tapsOf(e, r, r.dims[i], position[0]).outside;
    });
    Scalars dims(r.dims.size(), e.index(1));
    dims[i] = r.dims[i].out;
    outside.push_back(e.reshape(flags, dims));
  }
  Values operands{inside};
  for (const Value &flags : outside)
    operands.push_back(flags);
  return e.elementwiseTo(inside.type, inside.dims, operands, [&](const Scalars &elements) {
    Scalar out = elements[0];
    for (size_t i = 1; i < elements.size(); ++i)
      out = e.select(elements[i], value, out);
    return out;
  });
}

/// Along one dimension after the other, the last one, whose elements lie side by side, at the end.
Value resized(Operator &op, const Value &x, const Resize &r) {
  Emitter &e = op.emit;
  const bool isNearest = r.mode == "nearest";
  // Sums of what is narrower are in 32 bits; integers are cut off behind the sum, so that its last digits count.
  const ElementType sums =
      x.type == ElementType::F32 || x.type == ElementType::F16 || x.type == ElementType::BF16
          ? ElementType::F32
          : ElementType::F64;
  Value out = x;
  Numbers times(r.dims.size(), 1);
  for (size_t axis = 0; axis < r.dims.size(); ++axis)
    if (onlyRepeats(r, r.dims[axis]))
      times[axis] = r.dims[axis].whole;
    else if (!r.dims[axis].stays)
      out = resizedAlong(e, out, r, axis, sums);
  out = repeated(e, out, times);
  if (!isNearest && out.type != x.type)
    out = e.convert(out, x.type);
  if (r.coordinates != "tf_crop_and_resize")
    return out;
  return extrapolated(e, out, r, e.number(x.type, op.real("extrapolation_value", 0)));
}

/// Sizes that one scale for all of them gives: the smallest that any needs, or the greatest.
void keepAspectRatio(Emitter &e, Resize &r, const Numbers &axes, bool smallest) {
  std::optional<Scalar> scale;
  for (int64_t axis : axes) {
    const Scalar &own = r.dims[static_cast<size_t>(axis)].scale;
    scale = !scale ? own
                   : e.select(e.compare(smallest ? Compare::Less : Compare::Greater, own, *scale),
                              own, *scale);
  }
  for (int64_t axis : axes) {
    Dimension &d = r.dims[static_cast<size_t>(axis)];
    d.scale = *scale;
    const Scalar size = e.add(e.mul(*scale, e.convert(d.in, wide)), e.number(wide, 0.5));
    d.out = e.convert(e.math("floor", {size}), ElementType::Index);
    d.stays = scale->real && *scale->real == 1 && r.coordinates != "tf_crop_and_resize";
  }
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
  const std::string policy =
      op.choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  if (policy == "stretch" || sizes.empty())
    return;
  for (int64_t &axis : axes)
    axis = Operator::axisOf(axis, x.rank());
  keepAspectRatio(e, r, axes, policy == "not_larger");
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
    if (scales[k] == std::floor(scales[k]))
      d.whole = static_cast<int64_t>(scales[k]);
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
  r.mode = op.choice("mode", {"nearest", "linear", "cubic"});
  r.coordinates =
      first
          ? "asymmetric"
          : op.choice("coordinate_transformation_mode",
                      {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                       "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  r.nearest = first ? "floor"
                    : op.choice("nearest_mode",
                                {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  r.cubic = op.real("cubic_coeff_a", -0.75);
  r.excludeOutside = op.integer("exclude_outside", 0) != 0;
  r.antialias = op.integer("antialias", 0) != 0 && r.mode != "nearest";
  const size_t scalesInput = first ? 1 : 2;
  auto isThere = [&](size_t i) {
    return op.has(i) && !(op.input(i).rank() == 1 && op.input(i).dims[0].is(0));
  };
  if (!first && isThere(3)) {
    Scalars sizes = e.elements(op.input(3));
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
    Scalars roi;
    if (const auto known = e.knownReals(op.input(1)))
      for (double number : *known)
        roi.push_back(e.number(wide, number));
    else
      for (const Scalar &number : e.elements(op.input(1)))
        roi.push_back(e.convert(number, wide));
    Numbers axes = op.integers("axes");
    if (axes.empty())
      for (int64_t i = 0; i < x.rank(); ++i)
        axes.push_back(i);
    if (roi.size() != 2 * axes.size())
      invalid("roi has " + std::to_string(roi.size()) + " numbers, not " +
              std::to_string(2 * axes.size()));
    for (size_t k = 0; k < axes.size(); ++k) {
      Dimension &d = r.dims[static_cast<size_t>(Operator::axisOf(axes[k], x.rank()))];
      d.start = roi[k];
      d.end = roi[k + axes.size()];
    }
  }
  op.set(0, resized(op, x, r));
}

void upsample(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  Resize r;
  r.mode = op.choice("mode", {"nearest", "linear", "bilinear"});
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
