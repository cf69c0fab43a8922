#include "importers/emit/Convolution.h"

namespace plim::importers {

namespace {

std::string listText(const Numbers &values) {
  std::string out;
  for (int64_t value : values)
    out += (out.empty() ? "" : ", ") + std::to_string(value);
  return "dense<[" + out + "]> : tensor<" + std::to_string(values.size()) + "xi64>";
}

} // namespace

Value namedConvolution(Emitter &e, const std::string &operation, const Value &padded,
                       const Value &weights, ElementType type, const WindowSteps &steps,
                       const Scalars &dims) {
  const Value start = e.fill(dims, e.number(type, 0));
  const std::string a = e.use(padded), b = e.use(weights), result = e.type(start);
  return e.tensor(type, dims,
                  e.define("linalg." + operation + " {dilations = " + listText(steps.dilations) +
                           ", strides = " + listText(steps.strides) + "} ins(" + a + ", " + b +
                           " : " + e.type(padded) + ", " + e.type(weights) + ") outs(" +
                           e.use(start) + " : " + result + ") -> " + result));
}

Value grouped(Emitter &e, const Value &value, size_t axis, int64_t groups) {
  Scalars dims = value.dims;
  const Scalar each = e.div(dims[axis], e.index(groups));
  dims[axis] = e.index(groups);
  dims.insert(dims.begin() + static_cast<long>(axis) + 1, each);
  return e.reshape(value, dims);
}

Value convolution(Emitter &e, const Value &padded, const Value &weights, ElementType type,
                  const WindowSteps &steps, int64_t groups, const Scalars &dims) {
  const size_t n = steps.strides.size();
  const Scalar &filters = weights.dims[0];
  if (groups != 1 && n == 1) { // as an image of one row
    WindowSteps wide = steps;
    wide.strides.insert(wide.strides.begin(), 1);
    wide.dilations.insert(wide.dilations.begin(), 1);
    auto withRow = [&](Scalars extents) {
      extents.insert(extents.begin() + 2, e.index(1));
      return extents;
    };
    return e.reshape(convolution(e, e.reshape(padded, withRow(padded.dims)),
                                 e.reshape(weights, withRow(weights.dims)), type, wide, groups,
                                 withRow(dims)),
                     dims);
  }
  // Whose numbers have signs.
  const bool isNamed = !isUnsigned(padded.type) && !isUnsigned(weights.type) && !isUnsigned(type);
  if (isNamed && groups == 1 && n >= 1 && n <= 3) {
    static constexpr const char *names[] = {"conv_1d_ncw_fcw", "conv_2d_nchw_fchw",
                                            "conv_3d_ncdhw_fcdhw"};
    return namedConvolution(e, names[n - 1], padded, weights, type, steps, dims);
  }
  if (isNamed && n == 2 && filters.is(groups) && padded.dims[1].is(groups)) {
    const Value filter = e.reshape(weights, {filters, weights.dims[2], weights.dims[3]});
    return namedConvolution(e, "depthwise_conv_2d_nchw_chw", padded, filter, type, steps, dims);
  }
  if (isNamed && n == 2) {
    Scalars split = dims;
    split[1] = e.index(groups);
    split.insert(split.begin() + 2, e.div(filters, e.index(groups)));
    return e.reshape(namedConvolution(e, "conv_2d_ngchw_gfchw", grouped(e, padded, 1, groups),
                                      grouped(e, weights, 0, groups), type, steps, split),
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
                       from.push_back(e.add(e.mul(position[i + 2], e.index(steps.strides[i])),
                                            e.mul(at[i + 1], e.index(steps.dilations[i]))));
                       weight.push_back(at[i + 1]);
                     }
                     const Scalar product = e.mul(e.convert(e.at(padded, from), type),
                                                  e.convert(e.at(weights, weight), type));
                     return {e.add(so[0], product)};
                   })[0];
  });
}

} // namespace plim::importers
