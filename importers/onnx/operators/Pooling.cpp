// Pooling. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Windows.h"

#include <functional>
#include <numeric>
#include <variant>

namespace plim::importers {

namespace {

/// Calls `body` for the elements of a window that lie in the input, with where they are.
Scalars overWindow(Emitter &e, const Value &x, const Windows &w, const Scalars &position,
                   const Scalars &initial,
                   const std::function<Scalars(const Scalars &, const Scalars &)> &body) {
  const size_t n = w.rank();
  Scalars upper;
  for (int64_t extent : w.kernel)
    upper.push_back(e.index(extent));
  return e.loops(Scalars(n, e.index(0)), upper, initial, [&](const Scalars &at, const Scalars &so) {
    Scalars from{position[0], position[1]};
    Scalar inside = e.truth(true);
    for (size_t i = 0; i < n; ++i) {
      const Scalar start = e.sub(e.mul(position[i + 2], e.index(w.strides[i])), w.low[i]);
      from.push_back(e.add(start, e.mul(at[i], e.index(w.dilations[i]))));
      if (!w.low[i].is(0))
        inside = e.both(inside, e.compare(Compare::GreaterEqual, from.back(), e.index(0)));
      inside = e.both(inside, e.compare(Compare::Less, from.back(), x.dims[i + 2]));
    }
    return e.branch(inside, [&] { return body(from, so); }, [&] { return so; });
  });
}

Scalars resultDims(const Value &x, const Windows &w) {
  Scalars dims{x.dims[0], x.dims[1]};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return dims;
}

/// The input with its padding, also what is behind the end where windows reach further, filled by `outside`.
Value padded(Emitter &e, const Value &x, const Windows &w, const Scalar &outside) {
  Scalars low(2, e.index(0)), high = low;
  for (size_t i = 0; i < w.rank(); ++i) {
    const Scalar reach = e.add(e.mul(e.sub(w.out[i], e.index(1)), e.index(w.strides[i])),
                               e.index((w.kernel[i] - 1) * w.dilations[i] + 1));
    low.push_back(w.low[i]);
    high.push_back(e.max(e.index(0), e.sub(e.sub(reach, x.dims[i + 2]), w.low[i])));
  }
  return e.pad(x, low, high, outside);
}

/// One of linalg's pooling operations, of one or two spatial dimensions.
Value named(Emitter &e, const char *operation, const Value &x, const Windows &w,
            const Scalar &outside, const Scalar &initial) {
  const size_t n = w.rank();
  Scalars window;
  std::string strides, dilations;
  for (size_t i = 0; i < n; ++i) {
    window.push_back(e.index(w.kernel[i]));
    strides += (i ? ", " : "") + std::to_string(w.strides[i]);
    dilations += (i ? ", " : "") + std::to_string(w.dilations[i]);
  }
  const Value input = padded(e, x, w, outside), start = e.fill(resultDims(x, w), initial);
  const Value shape = e.fill(window, e.number(x.type, 0)); // of which only the extents are read
  const std::string attributes = "dense<[" + dilations + "]> : tensor<" + std::to_string(n) +
                                 "xi64>, strides = dense<[" + strides + "]> : tensor<" +
                                 std::to_string(n) + "xi64>";
  const std::string type = e.type(start);
  return e.tensor(x.type, start.dims,
                  e.define(std::string("linalg.pooling_") + (n == 1 ? "ncw_" : "nchw_") +
                           operation + " {dilations = " + attributes + "} ins(" + e.use(input) +
                           ", " + e.use(shape) + " : " + e.type(input) + ", " + e.type(shape) +
                           ") outs(" + e.use(start) + " : " + type + ") -> " + type));
}

/// Windows of an image that is too small for one are an error, and no empty result.
void requireRoom(Emitter &e, const Value &x, const Windows &w) {
  for (size_t i = 0; i < w.rank(); ++i) {
    const Scalar reach = e.index((w.kernel[i] - 1) * w.dilations[i] + 1);
    const Scalar room = e.add(e.add(x.dims[i + 2], w.low[i]), w.high[i]);
    e.require(e.compare(Compare::LessEqual, reach, room),
              "a window is larger than the padded tensor");
  }
}

bool hasName(const Value &x, const Windows &w) {
  return w.rank() <= 2 && w.rank() >= 1 && !isUnsigned(x.type);
}

Axes spatialAxes(const Value &x) {
  if (x.rank() < 3)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no spatial dimensions");
  Axes axes(x.dims.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

/// Is there one window, which has all elements?
bool isWhole(const Value &x, const Windows &w) {
  for (size_t i = 0; i < w.rank(); ++i)
    if (!w.out[i].is(1) || !w.low[i].is(0) || w.dilations[i] != 1 || !x.dims[i + 2].is(w.kernel[i]))
      return false;
  return true;
}

/// Each window folded by `combine`, whose neutral element is `initial`; `operation` is what linalg calls it.
Value pooled(Emitter &e, const char *operation, const Value &x, const Windows &w,
             const Scalar &initial,
             const std::function<Scalar(const Scalar &, const Scalar &)> &combine) {
  requireRoom(e, x, w);
  if (isWhole(x, w))
    return e.reduce(x, spatialAxes(x), true, initial, combine);
  if (hasName(x, w))
    return named(e, operation, x, w, initial, initial);
  Numbers window(2, 1), strides(2, 1), dilations(2, 1);
  window.insert(window.end(), w.kernel.begin(), w.kernel.end());
  strides.insert(strides.end(), w.strides.begin(), w.strides.end());
  dilations.insert(dilations.end(), w.dilations.begin(), w.dilations.end());
  return e.reduceWindows({padded(e, x, w, initial)}, window, strides, dilations, resultDims(x, w),
                         {initial}, [&](const Scalars &so, const Scalars &element) -> Scalars {
                           return {combine(so[0], element[0])};
                         })[0];
}

/// One dimension of windows.
Windows oneDimension(Emitter &e, const Value &x, const Windows &w, size_t dimension) {
  Windows out = w;
  for (size_t i = 0; i < w.rank(); ++i)
    if (i != dimension) {
      out.kernel[i] = out.strides[i] = out.dilations[i] = 1;
      out.low[i] = out.high[i] = e.index(0);
      out.out[i] = x.dims[i + 2];
    }
  return out;
}

/// The greatest of large windows is that of the greatest along each dimension. What that makes between is written and read, and has to
/// save half of the comparisons.
Value greatest(Emitter &e, const Value &x, const Windows &w) {
  const int64_t atOnce =
      std::accumulate(w.kernel.begin(), w.kernel.end(), int64_t(1), std::multiplies<>());
  const int64_t inTurn = std::accumulate(w.kernel.begin(), w.kernel.end(), int64_t(0));
  auto greater = [&](const Scalar &so, const Scalar &element) { return e.max(so, element); };
  Value out = x;
  if (atOnce <= 2 * inTurn || isWhole(x, w))
    return pooled(e, "max", x, w, e.lowest(x.type), greater);
  for (size_t i = w.rank(); i-- > 0;)
    out = pooled(e, "max", out, oneDimension(e, out, w, i), e.lowest(x.type), greater);
  return out;
}

void maxPool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Windows w = windowsOf(op, x, op.integers("kernel_shape"));
  op.set(0, greatest(e, x, w));
  if (!op.wants(1))
    return;
  const Scalars dims = resultDims(x, w);
  e.use(x);
  const bool byColumns = op.integer("storage_order", 0) != 0;
  op.set(1, e.generate(ElementType::I64, dims, [&](const Scalars &position) {
    const Scalars found = overWindow(
        e, x, w, position, {e.lowest(x.type), e.index(-1)},
        [&](const Scalars &from, const Scalars &so) -> Scalars {
          const Scalar here = e.at(x, from);
          const Scalar better = e.either(e.compare(Compare::Less, so[1], e.index(0)),
                                         e.compare(Compare::Greater, here, so[0]));
          Scalar flat = e.add(e.mul(from[0], x.dims[1]), from[1]);
          for (size_t i = 2; i < x.dims.size(); ++i)
            flat = e.mul(flat, x.dims[i]);
          Scalar rest = e.index(0);
          for (size_t k = 2; k < x.dims.size(); ++k) {
            const size_t i = byColumns ? x.dims.size() + 1 - k : k;
            rest = e.add(e.mul(rest, x.dims[i]), from[i]);
          }
          return {e.select(better, here, so[0]), e.select(better, e.add(flat, rest), so[1])};
        });
    return e.convert(found[1], ElementType::I64);
  }));
}

/// How many elements of the input the windows have along one dimension, or of the padded one if those count: the same for all, or numbers of
/// the input's type, with an extent of 1 in every other dimension.
std::variant<int64_t, Value> elementsAlong(Emitter &e, const Value &x, const Windows &w, size_t i,
                                           bool isPaddedToo) {
  auto count = [&](const Scalar &position) {
    const Scalar start = e.mul(position, e.index(w.strides[i])), dilation = e.index(w.dilations[i]);
    const Scalar before = isPaddedToo ? e.index(0) : w.low[i];
    const Scalar end = e.add(e.add(x.dims[i + 2], w.low[i]), isPaddedToo ? w.high[i] : e.index(0));
    const Scalar first = e.max(e.index(0), e.ceilDiv(e.sub(before, start), dilation));
    const Scalar last = e.min(e.index(w.kernel[i]), e.ceilDiv(e.sub(end, start), dilation));
    return e.sub(last, first);
  };
  if (const auto windows = w.out[i].known; windows && *windows > 0) {
    const Scalar one = count(e.index(0));
    bool isSame = one.known.has_value();
    for (int64_t k = 1; k < *windows && isSame; ++k)
      isSame = count(e.index(k)).known == one.known;
    if (isSame)
      return *one.known;
  }
  Scalars dims(x.dims.size(), e.index(1));
  dims[i + 2] = w.out[i];
  return e.generate(x.type, dims, [&](const Scalars &position) {
    return e.convert(count(position[i + 2]), x.type);
  });
}

void averagePool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Windows w = windowsOf(op, x, op.integers("kernel_shape"));
  const bool isPaddedToo = op.integer("count_include_pad", 0) != 0;
  e.use(x);
  const Value sum =
      pooled(e, "sum", x, w, e.number(x.type, 0),
             [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  int64_t ofAll = 1;
  Values operands{sum};
  for (size_t i = 0; i < w.rank(); ++i) {
    const auto elements = elementsAlong(e, x, w, i, isPaddedToo);
    if (const int64_t *same = std::get_if<int64_t>(&elements))
      ofAll *= *same;
    else
      operands.push_back(std::get<Value>(elements));
  }
  op.set(0, e.elementwiseTo(x.type, sum.dims, operands, [&](const Scalars &in) {
    Scalar count = e.number(x.type, static_cast<double>(ofAll));
    for (size_t i = 1; i < in.size(); ++i)
      count = e.mul(count, in[i]);
    return e.div(in[0], count);
  }));
}

void lpPool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Windows w = windowsOf(op, x, op.integers("kernel_shape"));
  const Scalar p = e.number(x.type, static_cast<double>(op.integer("p", 2)));
  const Scalar inverse = e.number(x.type, 1.0 / static_cast<double>(op.integer("p", 2)));
  e.use(x);
  op.set(0, e.generate(x.type, resultDims(x, w), [&](const Scalars &position) {
    const Scalar sum =
        overWindow(e, x, w, position, {e.number(x.type, 0)},
                   [&](const Scalars &from, const Scalars &so) -> Scalars {
                     return {e.add(so[0], e.math("powf", {e.abs(e.at(x, from)), p}))};
                   })[0];
    return e.math("powf", {sum, inverse});
  }));
}

void globalLpPool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const auto exponent = static_cast<double>(op.integer("p", 2));
  const Scalar p = e.number(x.type, exponent), inverse = e.number(x.type, 1 / exponent);
  const Value sum = e.reduce(x, spatialAxes(x), true, e.number(x.type, 0),
                             [&](const Scalar &so, const Scalar &element) {
                               return e.add(so, e.math("powf", {e.abs(element), p}));
                             });
  op.set(0, e.elementwise(x.type, {sum},
                          [&](const Scalars &in) { return e.math("powf", {in[0], inverse}); }));
}

void globalMaxPool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  op.set(0, e.reduce(x, spatialAxes(x), true, e.lowest(x.type),
                     [&](const Scalar &so, const Scalar &element) { return e.max(so, element); }));
}

void globalAveragePool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const Value sum =
      e.reduce(x, spatialAxes(x), true, e.number(x.type, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  Scalar count = e.index(1);
  for (int64_t axis : spatialAxes(x))
    count = e.mul(count, x.dims[static_cast<size_t>(axis)]);
  op.set(0, e.elementwise(x.type, {sum}, [&](const Scalars &in) {
    return e.div(in[0], e.convert(count, x.type));
  }));
}

/// Puts elements where MaxPool says they came from.
void maxUnpool(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &indices = op.input(1);
  const Numbers kernel = op.integers("kernel_shape");
  const size_t n = kernel.size();
  if (x.dims.size() != n + 2)
    invalid("kernel_shape does not fit the rank of the input");
  const Numbers strides = op.integers("strides", Numbers(n, 1));
  const Numbers pads = op.integers("pads", Numbers(2 * n, 0));
  // Positions are those of a tensor of this shape.
  Scalars source{x.dims[0], x.dims[1]}, dims;
  for (size_t i = 0; i < n; ++i)
    source.push_back(e.add(e.mul(e.sub(x.dims[i + 2], e.index(1)), e.index(strides.at(i))),
                           e.index(kernel[i] - pads.at(i) - pads.at(i + n))));
  dims = op.has(2) ? e.elements(op.input(2)) : source;
  if (dims.size() != source.size())
    invalid("output_shape does not fit the rank of the input");
  e.use(x);
  e.use(indices);
  const Value empty = e.fill(dims, e.number(x.type, 0));
  op.set(0, e.updateLoop(empty, Scalars(n + 2, e.index(0)), x.dims,
                         [&](const Value &so, const Scalars &position) {
                           Scalar flat = e.convert(e.at(indices, position), ElementType::Index);
                           Scalars at(n + 2);
                           for (size_t i = n + 2; i-- > 0;) {
                             at[i] = e.rem(flat, source[i]);
                             flat = e.div(flat, source[i]);
                           }
                           return e.withElement(so, at, e.at(x, position));
                         }));
}

} // namespace

const OperatorTable &pooling() {
  static const OperatorTable table{{"MaxPool", maxPool},
                                   {"AveragePool", averagePool},
                                   {"LpPool", lpPool},
                                   {"GlobalLpPool", globalLpPool},
                                   {"GlobalMaxPool", globalMaxPool},
                                   {"GlobalAveragePool", globalAveragePool},
                                   {"MaxUnpool", maxUnpool}};
  return table;
}

} // namespace plim::importers
