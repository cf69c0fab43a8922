// Convolutions. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Convolution.h"

#include <numeric>

namespace plim::importers {

namespace {

std::string listText(const Numbers &values) {
  std::string out;
  for (int64_t value : values)
    out += (out.empty() ? "" : ", ") + std::to_string(value);
  return "dense<[" + out + "]> : tensor<" + std::to_string(values.size()) + "xi64>";
}

/// One of linalg's convolutions, added to zeros.
Value named(Emitter &e, const std::string &operation, const Value &input, const Value &weights,
            ElementType type, const Windows &w, const Scalars &dims) {
  const Value start = e.fill(dims, e.number(type, 0));
  const std::string a = e.use(input), b = e.use(weights), result = e.type(start);
  return e.tensor(type, dims,
                  e.define("linalg." + operation + " {dilations = " + listText(w.dilations) +
                           ", strides = " + listText(w.strides) + "} ins(" + a + ", " + b + " : " +
                           e.type(input) + ", " + e.type(weights) + ") outs(" + e.use(start) +
                           " : " + result + ") -> " + result));
}

/// The dimension of channels as groups of as many.
Value grouped(Emitter &e, const Value &value, size_t axis, int64_t groups) {
  Scalars dims = value.dims;
  const Scalar each = e.div(dims[axis], e.index(groups));
  dims[axis] = e.index(groups);
  dims.insert(dims.begin() + static_cast<long>(axis) + 1, each);
  return e.reshape(value, dims);
}

Value withBias(Operator &op, const Value &sum, size_t input) {
  if (!op.has(input))
    return sum;
  if (sum.rank() < 2)
    invalid("a tensor of rank " + std::to_string(sum.rank()) + " has no channels");
  Emitter &e = op.emit;
  Scalars dims(sum.dims.size() - 1, e.index(1));
  dims[0] = sum.dims[1];
  const Value bias = e.reshape(op.input(input), dims);
  return e.elementwise(sum.type, {sum, bias},
                       [&](const Scalars &in) { return e.add(in[0], in[1]); });
}

Numbers kernelOf(Operator &op, const Value &weights) {
  Numbers kernel = op.integers("kernel_shape");
  for (size_t i = 2; i < weights.dims.size(); ++i) {
    if (!weights.dims[i].known && kernel.size() + 2 <= i)
      unsupported("the extents of the weights must be known");
    if (kernel.size() + 2 <= i)
      kernel.push_back(*weights.dims[i].known);
    else if (weights.dims[i].known && kernel[i - 2] != *weights.dims[i].known)
      invalid("kernel_shape differs from the weights");
  }
  if (kernel.size() + 2 != weights.dims.size())
    invalid("kernel_shape does not fit the rank of the weights");
  return kernel;
}

void conv(Operator &op) {
  const Value &x = op.input(0);
  op.set(0, withBias(op, convolution(op, x, op.input(1), x.type, op.emit.number(x.type, 0)), 2));
}

/// Each output gathers from the inputs whose windows reach it.
void convTranspose(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &weights = op.input(1);
  const Numbers kernel = kernelOf(op, weights);
  const size_t n = kernel.size();
  const int64_t groups = op.integer("group", 1);
  auto numbers = [&](const char *name, size_t count, int64_t otherwise) {
    Numbers out = op.integers(name, Numbers(count, otherwise));
    if (out.size() != count)
      invalid(std::string(name) + " does not fit the rank of the weights");
    return out;
  };
  const Numbers strides = numbers("strides", n, 1), dilations = numbers("dilations", n, 1);
  const Numbers pads = numbers("pads", 2 * n, 0), extra = numbers("output_padding", n, 0);
  const Numbers wanted = op.integers("output_shape");
  const std::string automatic = op.text("auto_pad", "NOTSET");
  if (groups < 1 || x.dims.size() != n + 2)
    invalid("the input does not fit the weights");
  Scalars dims{x.dims[0], e.mul(weights.dims[1], e.index(groups))}, low;
  for (size_t i = 0; i < n; ++i) {
    const Scalar all = e.add(e.mul(e.sub(x.dims[i + 2], e.index(1)), e.index(strides[i])),
                             e.index(extra[i] + (kernel[i] - 1) * dilations[i] + 1));
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (wanted.empty() && !same) {
      low.push_back(e.index(automatic == "VALID" ? 0 : pads[i]));
      dims.push_back(e.sub(all, e.index(automatic == "VALID" ? 0 : pads[i] + pads[i + n])));
      continue;
    }
    const size_t skip = wanted.size() > n ? wanted.size() - n : 0;
    const Scalar size =
        wanted.empty() ? e.mul(x.dims[i + 2], e.index(strides[i])) : e.index(wanted.at(i + skip));
    const Scalar total = e.max(e.index(0), e.sub(all, size));
    const Scalar half = e.div(total, e.index(2));
    low.push_back(automatic == "SAME_UPPER" ? half : e.sub(total, half));
    dims.push_back(size);
  }
  const Scalar outEach = weights.dims[1], inEach = e.div(x.dims[1], e.index(groups));
  e.use(x);
  e.use(weights);
  const Value sum = e.generate(x.type, dims, [&](const Scalars &position) {
    const Scalar group = e.div(position[1], outEach), zero = e.index(0);
    Scalars upper{inEach};
    for (int64_t extent : kernel)
      upper.push_back(e.index(extent));
    return e.loops(Scalars(n + 1, zero), upper, {e.number(x.type, 0)},
                   [&](const Scalars &at, const Scalars &so) -> Scalars {
                     Scalars from{position[0], e.add(e.mul(group, inEach), at[0])};
                     Scalars weight{from[1], e.rem(position[1], outEach)};
                     Scalar hits = e.truth(true);
                     for (size_t i = 0; i < n; ++i) {
                       const Scalar stride = e.index(strides[i]);
                       const Scalar moved = e.sub(e.add(position[i + 2], low[i]),
                                                  e.mul(at[i + 1], e.index(dilations[i])));
                       const Scalar source = e.floorDiv(moved, stride);
                       hits = e.both(hits, e.compare(Compare::GreaterEqual, moved, zero));
                       hits = e.both(hits, e.compare(Compare::Equal, e.rem(moved, stride), zero));
                       hits = e.both(hits, e.compare(Compare::Less, source, x.dims[i + 2]));
                       from.push_back(source);
                       weight.push_back(at[i + 1]);
                     }
                     return e.branch(
                         hits,
                         [&]() -> Scalars {
                           return {e.add(so[0], e.mul(e.at(x, from), e.at(weights, weight)))};
                         },
                         [&]() -> Scalars { return so; });
                   })[0];
  });
  op.set(0, withBias(op, sum, 2));
}

} // namespace

Value convolution(Operator &op, const Value &input, const Value &weights, ElementType type,
                  const Scalar &padding) {
  Emitter &e = op.emit;
  const Windows w = windowsOf(op, input, kernelOf(op, weights));
  const size_t n = w.rank();
  const int64_t groups = op.integer("group", 1);
  const Scalar &channels = input.dims[1], &filters = weights.dims[0];
  if (groups < 1 || (filters.known && *filters.known % groups != 0) ||
      (channels.known && weights.dims[1].known &&
       *channels.known != *weights.dims[1].known * groups))
    invalid("the channels do not fit the weights and groups");
  Scalars low(2, e.index(0)), high = low;
  low.insert(low.end(), w.low.begin(), w.low.end());
  high.insert(high.end(), w.high.begin(), w.high.end());
  const Value padded = e.pad(input, low, high, padding);
  Scalars dims{input.dims[0], filters};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  if (groups == 1 && n >= 1 && n <= 3) {
    static constexpr const char *names[] = {"conv_1d_ncw_fcw", "conv_2d_nchw_fchw",
                                            "conv_3d_ncdhw_fcdhw"};
    return named(e, names[n - 1], padded, weights, type, w, dims);
  }
  if (n == 2 && filters.is(groups) && channels.is(groups)) {
    const Value filter = e.reshape(weights, {filters, weights.dims[2], weights.dims[3]});
    return named(e, "depthwise_conv_2d_nchw_chw", padded, filter, type, w, dims);
  }
  if (n == 2) {
    Scalars split = dims;
    split[1] = e.index(groups);
    split.insert(split.begin() + 2, e.div(filters, e.index(groups)));
    return e.reshape(named(e, "conv_2d_ngchw_gfchw", grouped(e, padded, 1, groups),
                           grouped(e, weights, 0, groups), type, w, split),
                     dims);
  }
  e.use(padded);
  e.use(weights);
  const Scalar each = weights.dims[1], filtersEach = e.div(filters, e.index(groups));
  return e.generate(type, dims, [&](const Scalars &position) {
    Scalars upper{each};
    upper.insert(upper.end(), weights.dims.begin() + 2, weights.dims.end());
    const Scalar first = e.mul(e.div(position[1], filtersEach), each);
    return e.loops(Scalars(n + 1, e.index(0)), upper, {e.number(type, 0)},
                   [&](const Scalars &at, const Scalars &so) -> Scalars {
                     Scalars from{position[0], e.add(first, at[0])}, weight{position[1], at[0]};
                     for (size_t i = 0; i < n; ++i) {
                       from.push_back(e.add(e.mul(position[i + 2], e.index(w.strides[i])),
                                            e.mul(at[i + 1], e.index(w.dilations[i]))));
                       weight.push_back(at[i + 1]);
                     }
                     const Scalar product = e.mul(e.convert(e.at(padded, from), type),
                                                  e.convert(e.at(weights, weight), type));
                     return {e.add(so[0], product)};
                   })[0];
  });
}

const OperatorTable &convolutions() {
  static const OperatorTable table{{"Conv", conv}, {"ConvTranspose", convTranspose}};
  return table;
}

} // namespace plim::importers
