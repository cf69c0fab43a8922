// Convolutions. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/emit/Convolution.h"
#include "importers/onnx/Convolution.h"

#include <numeric>

namespace plim::importers {

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

namespace {

/// A convolution's transpose. Along a dimension with a stride S the outputs S apart from each other are a convolution of
/// stride 1 with every S-th weight, backwards: so all are one convolution with S times the filters, whose
/// results are laid side by side. `low` of them are cut off in front.
Value transposed(Operator &op, const Scalars &dims, const Scalars &low, const Numbers &strides,
                 const Numbers &dilations, int64_t groups) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &weights = op.input(1);
  const Numbers kernel = kernelOf(op, weights);
  const size_t n = kernel.size();
  const Scalar zero = e.index(0), inEach = e.div(x.dims[1], e.index(groups)),
               outEach = weights.dims[1];
  // Weights that the outputs of one phase see, and how far they lie apart.
  Windows w{Numbers(n, 0), Numbers(n, 1), Numbers(n, 1), {}, {}, {}};
  Scalars border(2, zero), phases, taps;
  int64_t phaseCount = 1;
  for (size_t i = 0; i < n; ++i) {
    const bool isPlain = strides[i] == 1;
    const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
    w.kernel[i] = isPlain ? kernel[i] : (reach + strides[i] - 1) / strides[i];
    w.dilations[i] = isPlain ? dilations[i] : 1;
    border.push_back(e.index((w.kernel[i] - 1) * w.dilations[i]));
    w.out.push_back(e.add(x.dims[i + 2], border.back()));
    phases.push_back(e.index(strides[i]));
    taps.push_back(e.index(w.kernel[i]));
    phaseCount *= strides[i];
  }
  // By group, filter, phase; channel, weight.
  Scalars shape{e.index(groups), outEach};
  shape.insert(shape.end(), phases.begin(), phases.end());
  shape.push_back(inEach);
  shape.insert(shape.end(), taps.begin(), taps.end());
  e.use(weights);
  const Value filters = e.generate(x.type, shape, [&](const Scalars &at) {
    Scalars from{e.add(e.mul(at[0], inEach), at[n + 2]), at[1]};
    Scalar isThere = e.truth(true);
    for (size_t i = 0; i < n; ++i) {
      const Scalar last = e.index(w.kernel[i] - 1), stride = e.index(strides[i]);
      const Scalar place = e.add(e.mul(e.sub(last, at[n + 3 + i]), stride), at[2 + i]);
      const Scalar apart = e.index(strides[i] == 1 ? 1 : dilations[i]);
      const Scalar tap = e.floorDiv(place, apart);
      isThere = e.both(isThere, e.compare(Compare::Equal, e.mul(tap, apart), place));
      isThere = e.both(isThere, e.compare(Compare::Less, tap, e.index(kernel[i])));
      from.push_back(e.min(tap, e.index(kernel[i] - 1)));
    }
    return e.select(isThere, e.at(weights, from), e.number(x.type, 0));
  });
  Scalars flat{e.mul(e.mul(e.index(groups), outEach), e.index(phaseCount)), inEach};
  flat.insert(flat.end(), taps.begin(), taps.end());
  Scalars sums{x.dims[0], flat[0]}, split{x.dims[0], dims[1]}, joined = split;
  sums.insert(sums.end(), w.out.begin(), w.out.end());
  const Value sum =
      convolution(e, e.pad(x, border, border, e.number(x.type, 0)), e.reshape(filters, flat),
                  x.type, {w.strides, w.dilations}, groups, sums);
  split.insert(split.end(), phases.begin(), phases.end());
  split.insert(split.end(), w.out.begin(), w.out.end());
  Axes order{0, 1};
  for (size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<int64_t>(2 + n + i));
    order.push_back(static_cast<int64_t>(2 + i));
    joined.push_back(e.mul(w.out[i], phases[i]));
  }
  Value all = phaseCount == 1 ? sum : e.reshape(e.transpose(e.reshape(sum, split), order), joined);
  // Outputs beyond those that an input reaches are zeros.
  Scalars offsets(2, zero), missing = offsets;
  for (size_t i = 0; i < n; ++i) {
    offsets.push_back(low[i]);
    missing.push_back(e.max(zero, e.sub(e.add(low[i], dims[i + 2]), all.dims[i + 2])));
  }
  all = e.pad(all, Scalars(n + 2, zero), missing, e.number(x.type, 0));
  return sameExtents(all.dims, dims) ? all
                                     : e.slice(all, offsets, dims, Scalars(n + 2, e.index(1)));
}

void conv(Operator &op) {
  const Value &x = op.input(0);
  op.set(0, withBias(op, convolution(op, x, op.input(1), x.type, op.emit.number(x.type, 0)), 2));
}

void convTranspose(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &weights = op.input(1);
  const Numbers kernel = kernelOf(op, weights);
  const size_t n = kernel.size();
  const int64_t groups = op.integer("group", 1);
  const Numbers strides = numbersOf(op, "strides", n, 1, 1);
  const Numbers dilations = numbersOf(op, "dilations", n, 1, 1);
  const Numbers pads = numbersOf(op, "pads", 2 * n, 0, 0);
  const Numbers extra = numbersOf(op, "output_padding", n, 0, 0);
  const Numbers wanted = op.integers("output_shape");
  const std::string automatic =
      op.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
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
  op.set(0, withBias(op, transposed(op, dims, low, strides, dilations, groups), 2));
}

} // namespace

Value convolution(Operator &op, const Value &input, const Value &weights, ElementType type,
                  const Scalar &padding, const std::function<Value(const Value &)> &prepare) {
  Emitter &e = op.emit;
  const Windows w = windowsOf(op, input, kernelOf(op, weights));
  const int64_t groups = op.integer("group", 1);
  const Scalar &channels = input.dims[1], &filters = weights.dims[0];
  if (groups < 1 || (filters.known && *filters.known % groups != 0) ||
      (channels.known && weights.dims[1].known &&
       *channels.known != *weights.dims[1].known * groups))
    invalid("the channels do not fit the weights and groups");
  Scalars low(2, e.index(0)), high = low;
  low.insert(low.end(), w.low.begin(), w.low.end());
  high.insert(high.end(), w.high.begin(), w.high.end());
  const Value whole = e.pad(input, low, high, padding), padded = prepare ? prepare(whole) : whole;
  Scalars dims{input.dims[0], filters};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return convolution(e, padded, weights, type, {w.strides, w.dilations}, groups, dims);
}

const OperatorTable &convolutions() {
  static const OperatorTable table{{"Conv", conv}, {"ConvTranspose", convTranspose}};
  return table;
}

} // namespace plim::importers
