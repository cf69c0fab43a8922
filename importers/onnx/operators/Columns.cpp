// Windows of images as columns, and back.
// Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Convolution.h"
#include "importers/onnx/Products.h"

namespace plim::importers {

namespace {

constexpr int64_t mostTerms = 1024; // of a sum, each of which is an operation

/// Of [A, K, B, L, D], where L are windows and K the elements of one, [A, B, extent, D]: what lies
/// on one place is summed. `low` places in front are left out.
Value summed(Emitter &e, Value x, int64_t stride, int64_t dilation, int64_t low,
             const Scalar &extent) {
  const Scalar zero = e.index(0), nothing = e.number(x.type, 0);
  int64_t kernel = *x.dims[1].known;
  auto behind = [&](const Value &value, size_t axis, const Scalar &count) {
    const Scalars none(value.dims.size(), zero);
    Scalars high = none;
    high[axis] = count;
    return e.pad(value, none, high, nothing);
  };
  if (dilation > 1 && stride > 1) { // zeros between the elements, which lie side by side then
    Scalars apart = x.dims, joined = x.dims;
    apart.insert(apart.begin() + 2, e.index(1));
    joined[1] = e.index(kernel * dilation);
    kernel = (kernel - 1) * dilation + 1;
    x = e.reshape(behind(e.reshape(x, apart), 2, e.index(dilation - 1)), joined);
    x = e.sliceAxis(x, 1, zero, e.index(kernel));
    dilation = 1;
  }
  // Every stride-th element of a window lies on the place of the one before it in the next window:
  // whole windows are moved and summed, and their places laid side by side.
  const int64_t terms = (kernel + stride - 1) / stride;
  if (terms > mostTerms)
    unsupported("windows of " + std::to_string(kernel) + " elements in steps of " +
                std::to_string(stride));
  const Scalar step = e.index(stride);
  x = behind(x, 1, e.index(terms * stride - kernel));
  x = e.reshape(x, {x.dims[0], e.index(terms), step, x.dims[2], x.dims[3], x.dims[4]});
  Value sum;
  for (int64_t i = 0; i < terms; ++i) {
    const Value term = e.pick(x, 1, e.index(i)); // [A, stride, B, L, D]
    Scalars before(5, zero), after(5, zero);
    before[3] = e.index(i * dilation);
    after[3] = e.index((terms - 1 - i) * dilation);
    const Value moved = e.pad(term, before, after, nothing);
    sum = i == 0 ? moved : e.elementwise(x.type, {sum, moved}, [&](const Scalars &in) {
      return e.add(in[0], in[1]);
    });
  }
  const Scalar places = e.mul(sum.dims[3], step), first = e.index(low);
  const Value all =
      e.reshape(e.transpose(sum, {0, 2, 3, 1, 4}), {sum.dims[0], sum.dims[2], places, sum.dims[4]});
  const Scalar missing = e.max(zero, e.sub(e.add(first, extent), places));
  return e.sliceAxis(behind(all, 2, missing), 2, first, extent);
}

/// An image of columns, each of which is a window of it; what lies on one element is summed.
void col2Im(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  op.onlyAttributes({"dilations", "pads", "strides"});
  if (x.rank() != 3)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no columns");
  const auto kernel = e.known(op.input(2));
  if (!kernel)
    unsupported("block_shape must be known");
  const Scalars image = e.elements(op.input(1));
  const size_t n = kernel->size();
  if (n == 0 || image.size() != n)
    invalid("image_shape has " + std::to_string(image.size()) + " numbers, block_shape " +
            std::to_string(n));
  const Numbers strides = numbersOf(op, "strides", n, 1, 1);
  const Numbers dilations = numbersOf(op, "dilations", n, 1, 1);
  const Numbers pads = numbersOf(op, "pads", 2 * n, 0, 0);
  Scalar elements = e.index(1), count = elements; // of a window, and of them
  Scalars taps, windows;
  for (size_t i = 0; i < n; ++i) {
    if ((*kernel)[i] < 1 || (*kernel)[i] > int64_t(1) << 31)
      invalid("a window of " + std::to_string((*kernel)[i]) + " elements");
    taps.push_back(e.index((*kernel)[i]));
    elements = e.mul(elements, taps[i]);
    const Scalar room = e.sub(e.add(image[i], e.index(pads[i] + pads[i + n])),
                              e.index(((*kernel)[i] - 1) * dilations[i] + 1));
    e.require(e.compare(Compare::GreaterEqual, room, e.index(0)),
              "a window is larger than the padded image");
    windows.push_back(e.add(e.floorDiv(room, e.index(strides[i])), e.index(1)));
    count = e.mul(count, windows[i]);
  }
  const Scalar channels = e.floorDiv(x.dims[1], elements);
  e.require(e.compare(Compare::Equal, e.mul(channels, elements), x.dims[1]),
            "the channels do not fit block_shape");
  e.require(e.compare(Compare::Equal, count, x.dims[2]), "the columns do not fit image_shape");
  // The last dimension first: [N * C * K..., K, L..., L, I...] is [N * C * K..., L..., I, I...].
  Scalar outer = e.mul(e.mul(x.dims[0], channels), elements), inner = e.index(1);
  Value sum = e.withDims(x, {x.dims[0], e.mul(channels, elements), count});
  for (size_t i = n; i-- > 0;) {
    outer = e.mul(x.dims[0], channels);
    Scalar others = e.index(1);
    for (size_t k = 0; k < i; ++k) {
      outer = e.mul(outer, taps[k]);
      others = e.mul(others, windows[k]);
    }
    sum = summed(e, e.reshape(sum, {outer, taps[i], others, windows[i], inner}), strides[i],
                 dilations[i], pads[i], image[i]);
    inner = e.mul(inner, image[i]);
  }
  Scalars dims{x.dims[0], channels};
  dims.insert(dims.end(), image.begin(), image.end());
  op.set(0, e.reshape(sum, dims));
}

/// Refuses another shape, at the call where only that knows.
Value shaped(Emitter &e, const Value &value, const Scalars &dims, const std::string &name) {
  if (value.dims.size() != dims.size())
    invalid(name + " has rank " + std::to_string(value.rank()) + ", not " +
            std::to_string(dims.size()));
  for (size_t i = 0; i < dims.size(); ++i)
    if (!sameExtent(value.dims[i], dims[i]))
      e.require(e.compare(Compare::Equal, value.dims[i], dims[i]),
                "the shape of " + name + " does not fit");
  return e.withDims(value, dims);
}

/// A convolution whose windows read between the elements, each at places of its own: columns of
/// what they read, and their product with the weights.
void deformConv(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0), &weights = op.input(1);
  op.onlyAttributes({"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"});
  const size_t n = x.dims.size() < 2 ? 0 : x.dims.size() - 2;
  if (n < 1 || n > 3)
    unsupported("of a tensor of rank " + std::to_string(x.rank()));
  const Windows w = windowsOf(op, x, kernelOf(op, weights));
  const int64_t groups = op.integer("group", 1), offsetGroups = op.integer("offset_group", 1);
  if (groups < 1 || offsetGroups < 1)
    invalid("group and offset_group must be at least 1");
  const Scalar zero = e.index(0), one = e.index(1), two = e.index(2), three = e.index(3);
  Scalar taps = one, all = one; // of a window, and windows
  for (size_t i = 0; i < n; ++i) {
    taps = e.mul(taps, e.index(w.kernel[i]));
    all = e.mul(all, w.out[i]);
  }
  const Scalar parts = e.index(offsetGroups), space = e.index(static_cast<int64_t>(n));
  const Scalar &batch = x.dims[0], &channels = x.dims[1], &filters = weights.dims[0];
  for (const auto &[count, of] :
       {std::pair(channels, groups), std::pair(filters, groups), std::pair(channels, offsetGroups)})
    e.require(e.compare(Compare::Equal, e.rem(count, e.index(of)), zero),
              "the channels do not fit the groups");
  const Scalar each = e.div(channels, e.index(groups)),
               filtersEach = e.div(filters, e.index(groups));
  const Scalar ofPart = e.div(channels, parts);
  auto behind = [](Scalars front, const Scalars &more) {
    front.insert(front.end(), more.begin(), more.end());
    return front;
  };
  const Value kernels =
      shaped(e, weights, behind({filters, each}, weights.dims.from(2)), "the weights");
  const Scalars table = behind({batch, parts, taps}, w.out); // of places and factors
  Value offsets = shaped(e, op.input(2), behind({batch, e.mul(e.mul(parts, taps), space)}, w.out),
                         "the offsets");
  offsets = e.reshape(offsets, behind({batch, parts, taps, space}, w.out));
  Value mask;
  if (op.has(4)) {
    mask = shaped(e, op.input(4), behind({batch, e.mul(parts, taps)}, w.out), "the mask");
    mask = e.reshape(mask, table);
    e.use(mask);
  }
  e.use(offsets);

  // Places outside are brought to a border of zeros, so that each has neighbours on all sides.
  const ElementType sums = x.type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const Value bordered = e.pad(x, behind({zero, zero}, Scalars(n, one)),
                               behind({zero, zero}, Scalars(n, two)), e.number(x.type, 0));
  Scalars steps(n, one); // to the next element along each dimension
  for (size_t i = n - 1; i-- > 0;)
    steps[i] = e.mul(steps[i + 1], e.add(x.dims[3 + i], three));
  const Value flat = e.reshape(bordered, {batch, parts, ofPart, e.mul(bordered.dims[2], steps[0])});
  e.use(flat);
  Numbers tapSteps(n, 1);
  for (size_t i = n - 1; i-- > 0;)
    tapSteps[i] = tapSteps[i + 1] * w.kernel[i + 1];
  auto place = [&](const Scalars &at, size_t i) {
    Scalar tap = e.div(at[2], e.index(tapSteps[i]));
    if (i > 0)
      tap = e.rem(tap, e.index(w.kernel[i]));
    const Scalar start =
        e.sub(e.add(e.mul(at[3 + i], e.index(w.strides[i])), e.mul(tap, e.index(w.dilations[i]))),
              w.low[i]);
    const Scalar off =
        e.at(offsets, behind({at[0], at[1], at[2], e.index(static_cast<int64_t>(i))}, at.from(3)));
    const Scalar p = e.add(e.convert(start, sums), e.convert(off, sums));
    // What is no number fails the first comparison.
    const Scalar least = e.number(sums, -1), most = e.convert(x.dims[2 + i], sums);
    const Scalar above = e.select(e.compare(Compare::Greater, p, least), p, least);
    return e.select(e.compare(Compare::Less, above, most), above, most);
  };
  const Value places = e.generate(ElementType::I64, table, [&](const Scalars &at) {
    auto element = [&](size_t i) {
      return e.add(e.convert(e.math("floor", {place(at, i)}), ElementType::Index), one);
    };
    Scalar sum = e.mul(element(0), steps[0]);
    for (size_t i = 1; i < n; ++i)
      sum = e.add(sum, e.mul(element(i), steps[i]));
    return e.convert(sum, ElementType::I64);
  });
  const size_t corners = size_t(1) << n;
  auto isSecond = [&](size_t corner, size_t i) { return (corner >> (n - 1 - i)) % 2 == 1; };
  Values operands{places};
  for (size_t corner = 0; corner < corners; ++corner)
    operands.push_back(e.generate(sums, table, [&](const Scalars &at) {
      auto factor = [&](size_t i, bool second) {
        const Scalar p = place(at, i), rest = e.sub(p, e.math("floor", {p}));
        return second ? rest : e.sub(e.number(sums, 1), rest);
      };
      Scalar whole = factor(0, isSecond(corner, 0));
      for (size_t i = 1; i < n; ++i)
        whole = e.mul(whole, factor(i, isSecond(corner, i)));
      return mask ? e.mul(whole, e.convert(e.at(mask, at), sums)) : whole;
    }));
  for (const Value &operand : operands)
    e.use(operand);
  const Value columns =
      e.generate(x.type, behind({batch, parts, ofPart, taps}, w.out), [&](const Scalars &position) {
        const Scalars at = behind({position[0], position[1]}, position.from(3));
        const Scalar first = e.convert(e.at(places, at), ElementType::Index);
        Scalar sum = e.number(sums, 0);
        for (size_t corner = 0; corner < corners; ++corner) {
          Scalar shift = zero;
          for (size_t i = 0; i < n; ++i)
            if (isSecond(corner, i))
              shift = e.add(shift, steps[i]);
          const Scalar here =
              e.at(flat, {position[0], position[1], position[2], e.add(first, shift)});
          sum = e.add(sum, e.mul(e.convert(here, sums), e.at(operands[corner + 1], at)));
        }
        return e.convert(sum, x.type);
      });

  const Scalar inner = e.mul(each, taps);
  Value out;
  if (groups == 1)
    out = product(e, e.reshape(kernels, {filters, inner}), e.reshape(columns, {batch, inner, all}));
  else
    out = product(e, e.reshape(kernels, {e.index(groups), filtersEach, inner}),
                  e.reshape(columns, {batch, e.index(groups), inner, all}));
  op.set(0, withBias(op, e.reshape(out, behind({batch, filters}, w.out)), 3));
}

} // namespace

const OperatorTable &columns() {
  static const OperatorTable table{{"Col2Im", col2Im}, {"DeformConv", deformConv}};
  return table;
}

} // namespace plim::importers
