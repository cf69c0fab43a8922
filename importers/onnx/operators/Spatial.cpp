// Samples of images. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Operator.h"

namespace plim::importers {

namespace {

/// A coordinate of -1 to 1 as one of pixels.
Scalar pixel(Emitter &e, const Scalar &x, const Scalar &extent, bool alignCorners) {
  const Scalar size = e.convert(extent, x.type), one = e.number(x.type, 1),
               half = e.number(x.type, 0.5);
  if (alignCorners)
    return e.mul(e.mul(e.add(x, one), half), e.sub(size, one));
  return e.mul(e.sub(e.mul(e.add(x, one), size), one), half);
}

/// Mirrored into [low, high], as often as it takes.
Scalar mirrored(Emitter &e, const Scalar &x, const Scalar &low, const Scalar &high) {
  const ElementType t = x.type;
  const Scalar range = e.sub(high, low), zero = e.number(t, 0);
  const Scalar isEmpty = e.compare(Compare::LessEqual, range, zero);
  const Scalar safe = e.select(isEmpty, e.number(t, 1), range);
  const Scalar off = e.abs(e.sub(x, low));
  const Scalar period = e.mul(safe, e.number(t, 2));
  const Scalar phase = e.sub(off, e.mul(period, e.math("floor", {e.div(off, period)})));
  const Scalar folded = e.min(phase, e.sub(period, phase));
  return e.select(isEmpty, low, e.add(low, folded));
}

struct Sampler {
  Operator &op;
  Emitter &e;
  const Value &x;
  std::string padding;
  bool alignCorners;

  /// The position of an element, brought inside as the padding says.
  Scalar place(const Scalar &at, const Scalar &extent) {
    const Scalar size = e.convert(extent, at.type), one = e.number(at.type, 1),
                 half = e.number(at.type, 0.5);
    Scalar p = at;
    if (padding == "reflection")
      p = alignCorners ? mirrored(e, p, e.number(at.type, 0), e.sub(size, one))
                       : mirrored(e, p, e.neg(half), e.sub(size, half));
    if (padding != "zeros")
      p = e.max(e.number(at.type, 0), e.min(e.sub(size, one), p));
    return p;
  }

  /// An element of whole coordinates; zero outside with the padding "zeros".
  Scalar element(const Scalars &front, const Scalars &at) {
    Scalars places;
    Scalar inside = e.truth(true);
    for (size_t i = 0; i < at.size(); ++i) {
      const Scalar p = place(at[i], x.dims[i + 2]);
      inside =
          e.both(inside, e.both(e.compare(Compare::GreaterEqual, p, e.number(p.type, 0)),
                                e.compare(Compare::Less, p, e.convert(x.dims[i + 2], p.type))));
      places.push_back(p);
    }
    return e.branch(
        inside,
        [&]() -> Scalars {
          Scalars from{front[0], front[1]};
          for (const Scalar &p : places)
            from.push_back(e.convert(p, ElementType::Index));
          return {e.at(x, from)};
        },
        [&]() -> Scalars { return {e.number(x.type, 0)}; })[0];
  }
};

Scalars cubicWeights(Emitter &e, const Scalar &t) {
  const double a = -0.75;
  auto number = [&](double value) { return e.number(t.type, value); };
  auto near = [&](const Scalar &d) {
    return e.add(e.mul(e.mul(e.sub(e.mul(number(a + 2), d), number(a + 3)), d), d), number(1));
  };
  auto far = [&](const Scalar &d) {
    return e.sub(
        e.mul(e.add(e.mul(e.sub(e.mul(number(a), d), number(5 * a)), d), number(8 * a)), d),
        number(4 * a));
  };
  const Scalar one = number(1), rest = e.sub(one, t);
  return {far(e.add(t, one)), near(t), near(rest), far(e.add(rest, one))};
}

void gridSample(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &grid = op.input(1);
  const size_t n = x.dims.size() < 2 ? 0 : x.dims.size() - 2;
  if (n != 2 && n != 3)
    unsupported("but of images with two or three dimensions");
  if (grid.rank() != x.rank())
    invalid("the grid has rank " + std::to_string(grid.rank()) + ", not " +
            std::to_string(x.rank()));
  std::string mode = op.choice("mode", {"bilinear", "linear", "nearest", "bicubic", "cubic"});
  if (mode == "linear")
    mode = "bilinear";
  if (mode == "cubic")
    mode = "bicubic";
  if (mode == "bicubic" && n != 2)
    unsupported("cubic but of images with two dimensions");
  Sampler sampler{op, e, x, op.choice("padding_mode", {"zeros", "border", "reflection"}),
                  op.integer("align_corners", 0) != 0};
  e.use(x);
  e.use(grid);
  Scalars dims{x.dims[0], x.dims[1]};
  dims.insert(dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  op.set(0, e.generate(x.type, dims, [&](const Scalars &position) {
    const bool cubic = mode == "bicubic";
    Scalars first;                // the neighbour before it
    std::vector<Scalars> weights; // of the neighbours along each dimension
    // The grid has the last dimension first.
    for (size_t k = 0; k < n; ++k) {
      const Scalar &extent = x.dims[n + 1 - k];
      Scalars from = position;
      from.erase(from.begin() + 1);
      from.push_back(e.index(static_cast<int64_t>(k)));
      Scalar p = pixel(e, e.convert(e.at(grid, from), x.type), extent, sampler.alignCorners);
      if (mode == "bilinear") // brought inside as a whole, before it is taken apart
        p = sampler.place(p, extent);
      const Scalar low = e.math(mode == "nearest" ? "roundeven" : "floor", {p});
      first.insert(first.begin(), low);
      if (mode == "nearest")
        continue;
      const Scalar rest = e.sub(p, low), one = e.number(x.type, 1);
      weights.insert(weights.begin(),
                     cubic ? cubicWeights(e, rest) : Scalars{e.sub(one, rest), rest});
    }
    if (mode == "nearest")
      return sampler.element(position, first);
    const size_t taps = cubic ? 4 : 2;
    size_t all = 1;
    for (size_t i = 0; i < n; ++i)
      all *= taps;
    Scalar sum = e.number(x.type, 0);
    for (size_t neighbour = 0; neighbour < all; ++neighbour) {
      Scalars at(n);
      std::optional<Scalar> weight;
      size_t rest = all;
      for (size_t i = 0; i < n; ++i) {
        rest /= taps;
        const size_t tap = neighbour / rest % taps;
        at[i] = e.add(first[i], e.number(x.type, static_cast<double>(tap) - (cubic ? 1 : 0)));
        weight = weight ? e.mul(*weight, weights[i][tap]) : weights[i][tap];
      }
      sum = e.add(sum, e.mul(sampler.element(position, at), *weight));
    }
    return sum;
  }));
}

void roiAlign(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &rois = op.input(1), &batches = op.input(2);
  const ElementType t = x.type;
  auto number = [&](double value) { return e.number(t, value); };
  const Scalar height = e.index(op.integer("output_height", 1)),
               width = e.index(op.integer("output_width", 1));
  const int64_t ratio = op.integer("sampling_ratio", 0);
  const bool isMax = op.choice("mode", {"avg", "max"}) == "max";
  const bool halfPixel =
      op.opset >= 16 && op.choice("coordinate_transformation_mode",
                                  {"half_pixel", "output_half_pixel"}) == "half_pixel";
  const Scalar scale = number(op.real("spatial_scale", 1)), offset = number(halfPixel ? 0.5 : 0);
  e.use(x);
  e.use(rois);
  e.use(batches);
  op.set(0, e.generate(t, {rois.dims[0], x.dims[1], height, width}, [&](const Scalars &position) {
    const Scalar batch = e.convert(e.at(batches, {position[0]}), ElementType::Index);
    auto corner = [&](int64_t k) {
      return e.sub(e.mul(e.convert(e.at(rois, {position[0], e.index(k)}), t), scale), offset);
    };
    const Scalar left = corner(0), top = corner(1);
    Scalar w = e.sub(corner(2), left), h = e.sub(corner(3), top);
    if (!halfPixel) {
      w = e.max(w, number(1));
      h = e.max(h, number(1));
    }
    const Scalar binHeight = e.div(h, e.convert(height, t)),
                 binWidth = e.div(w, e.convert(width, t));
    auto samples = [&](const Scalar &bin) {
      return ratio > 0 ? e.index(ratio) : e.convert(e.math("ceil", {bin}), ElementType::Index);
    };
    const Scalar rows = samples(binHeight), columns = samples(binWidth);
    auto coordinate = [&](const Scalar &from, const Scalar &bin, const Scalar &cell,
                          const Scalar &i, const Scalar &count) {
      const Scalar inner =
          e.div(e.mul(e.add(e.convert(i, t), number(0.5)), bin), e.convert(count, t));
      return e.add(e.add(from, e.mul(e.convert(cell, t), bin)), inner);
    };
    Scalar sum = e.loops(
        {e.index(0), e.index(0)}, {rows, columns}, {isMax ? e.lowest(t) : number(0)},
        [&](const Scalars &i, const Scalars &so) -> Scalars {
          const Scalar rawY = coordinate(top, binHeight, position[2], i[0], rows);
          const Scalar rawX = coordinate(left, binWidth, position[3], i[1], columns);
          auto isOutside = [&](const Scalar &p, const Scalar &extent) {
            return e.either(e.compare(Compare::Less, p, number(-1)),
                            e.compare(Compare::Greater, p, e.convert(extent, t)));
          };
          const Scalar outside = e.either(isOutside(rawY, x.dims[2]), isOutside(rawX, x.dims[3]));
          auto inside = [&](const Scalar &p, const Scalar &extent) {
            return e.max(number(0), e.min(p, e.convert(e.sub(extent, e.index(1)), t)));
          };
          const Scalar y = inside(rawY, x.dims[2]), xx = inside(rawX, x.dims[3]);
          auto split = [&](const Scalar &p, const Scalar &extent) {
            const Scalar low = e.convert(e.math("floor", {p}), ElementType::Index);
            const Scalar high = e.min(e.add(low, e.index(1)), e.sub(extent, e.index(1)));
            return std::pair(low, high);
          };
          const auto [y0, y1] = split(y, x.dims[2]);
          const auto [x0, x1] = split(xx, x.dims[3]);
          const Scalar fy = e.sub(y, e.math("floor", {y})), fx = e.sub(xx, e.math("floor", {xx}));
          const Scalar gy = e.sub(number(1), fy), gx = e.sub(number(1), fx);
          auto term = [&](const Scalar &row, const Scalar &column, const Scalar &a,
                          const Scalar &b) {
            return e.mul(e.mul(a, b), e.at(x, {batch, position[1], row, column}));
          };
          const Scalar a = term(y0, x0, gy, gx), b = term(y0, x1, gy, fx), c = term(y1, x0, fy, gx),
                       d = term(y1, x1, fy, fx);
          // The greatest is that of the four terms, as the definition has it.
          const Scalar value =
              isMax ? e.max(e.max(a, b), e.max(c, d)) : e.add(e.add(a, b), e.add(c, d));
          const Scalar counted = e.select(outside, number(0), value);
          return {isMax ? e.max(so[0], counted) : e.add(so[0], counted)};
        })[0];
    if (isMax)
      return sum;
    return e.div(sum, e.convert(e.max(e.index(1), e.mul(rows, columns)), t));
  }));
}

/// The greatest element in each part of a region, whose corners are whole elements.
void maxRoiPool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &rois = op.input(1);
  const ElementType t = x.type;
  const Numbers pooled = op.integers("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    invalid("pooled_shape must be two extents");
  if (x.rank() != 4 || rois.rank() != 2)
    invalid("the image must have rank 4, and the regions rank 2");
  e.require(e.compare(Compare::Equal, rois.dims[1], e.index(5)), "a region must have 5 numbers");
  const Scalar scale = e.number(t, op.real("spatial_scale", 1)), zero = e.index(0),
               one = e.index(1);
  e.use(x);
  e.use(rois);
  op.set(0,
         e.generate(
             t, {rois.dims[0], x.dims[1], e.index(pooled[0]), e.index(pooled[1])},
             [&](const Scalars &position) {
               auto number = [&](int64_t k) { return e.at(rois, {position[0], e.index(k)}); };
               auto corner = [&](int64_t k) {
                 return e.convert(e.math("round", {e.mul(number(k), scale)}), ElementType::Index);
               };
               Scalars lower, upper;
               for (size_t i = 0; i < 2; ++i) {
                 const auto k = static_cast<int64_t>(i); // the region has x first
                 const Scalar first = corner(2 - k), last = corner(4 - k);
                 const Scalar size = e.max(one, e.add(e.sub(last, first), one));
                 const Scalar part =
                     e.div(e.convert(size, t), e.number(t, static_cast<double>(pooled[i])));
                 auto border = [&](const char *rounding, const Scalar &at) {
                   const Scalar way = e.math(rounding, {e.mul(e.convert(at, t), part)});
                   const Scalar place = e.add(e.convert(way, ElementType::Index), first);
                   return e.max(zero, e.min(x.dims[i + 2], place));
                 };
                 lower.push_back(border("floor", position[i + 2]));
                 upper.push_back(border("ceil", e.add(position[i + 2], one)));
               }
               const Scalar batch = e.convert(number(0), ElementType::Index);
               const Scalar most =
                   e.loops(lower, upper, {e.lowest(t)},
                           [&](const Scalars &at, const Scalars &so) -> Scalars {
                             return {e.max(so[0], e.at(x, {batch, position[1], at[0], at[1]}))};
                           })[0];
               const Scalar isEmpty = e.either(e.compare(Compare::LessEqual, upper[0], lower[0]),
                                               e.compare(Compare::LessEqual, upper[1], lower[1]));
               return e.select(isEmpty, e.number(t, 0), most);
             }));
}

/// Where the elements of an image lie by a matrix of each batch: for GridSample.
void affineGrid(Operator &op) {
  Emitter &e = op.emit;
  const Value &theta = op.input(0);
  op.onlyAttributes({"align_corners"});
  const bool alignCorners = op.integer("align_corners", 0) != 0;
  const Scalars size = e.elements(op.input(1));
  if (size.size() != 4 && size.size() != 5)
    unsupported("but of images with two or three dimensions");
  const size_t n = size.size() - 2;
  const auto rows = static_cast<int64_t>(n);
  if (theta.rank() != 3)
    invalid("theta has rank " + std::to_string(theta.rank()) + ", not 3");
  const char *unfit = "theta does not fit the size";
  e.require(e.compare(Compare::Equal, theta.dims[0], size[0]), unfit);
  e.require(e.compare(Compare::Equal, theta.dims[1], e.index(rows)), unfit);
  e.require(e.compare(Compare::Equal, theta.dims[2], e.index(rows + 1)), unfit);
  // From -1 to 1 along each dimension, once for all of the others.
  const ElementType wide = ElementType::F64;
  const ElementType sums = theta.type == wide ? wide : ElementType::F32;
  Values places;
  Scalars dims{theta.dims[0]};
  for (size_t i = 0; i < n; ++i) {
    const Scalar &extent = size[i + 2], one = e.number(wide, 1), two = e.number(wide, 2);
    e.require(e.compare(Compare::GreaterEqual, extent, e.index(0)), "size has a negative extent");
    dims.push_back(extent);
    places.push_back(e.generate(sums, {extent}, [&](const Scalars &position) {
      const Scalar x = e.mul(e.convert(position[0], wide), two), all = e.convert(extent, wide);
      if (!alignCorners)
        return e.convert(e.sub(e.div(e.add(x, one), all), one), sums);
      const Scalar single = e.compare(Compare::Equal, extent, e.index(1)); // is in the middle
      const Scalar steps = e.select(single, one, e.sub(all, one));
      return e.convert(e.select(single, e.number(wide, 0), e.sub(e.div(x, steps), one)), sums);
    }));
    e.use(places.back());
  }
  dims.push_back(e.index(rows));
  e.use(theta);
  op.set(0, e.generate(theta.type, dims, [&](const Scalars &position) {
    auto factor = [&](int64_t column) {
      return e.convert(e.at(theta, {position[0], position.back(), e.index(column)}), sums);
    };
    Scalar sum = factor(rows);
    for (size_t i = 0; i < n; ++i) // the last dimension is x, the first number of a place
      sum = e.add(sum, e.mul(factor(rows - 1 - static_cast<int64_t>(i)),
                             e.at(places[i], {position[i + 1]})));
    return e.convert(sum, theta.type);
  }));
}

} // namespace

const OperatorTable &spatial() {
  static const OperatorTable table{{"AffineGrid", affineGrid},
                                   {"GridSample", gridSample},
                                   {"MaxRoiPool", maxRoiPool},
                                   {"RoiAlign", roiAlign}};
  return table;
}

} // namespace plim::importers
