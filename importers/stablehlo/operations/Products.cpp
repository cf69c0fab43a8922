// Sums of products. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/emit/Convolution.h"
#include "importers/stablehlo/Moving.h"
#include "importers/stablehlo/Operator.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

/// One loop for both of a pair of dimensions, which must be equal.
Scalar sharedExtent(Emitter &e, const Scalar &a, const Scalar &b) {
  if (a.known && b.known && *a.known != *b.known)
    invalid("extents of " + std::to_string(*a.known) + " and " + std::to_string(*b.known) +
            " are paired");
  if (!sameExtent(a, b))
    e.line("cf.assert " + e.use(e.compare(Compare::Equal, a, b)) + ", \"paired extents differ\"");
  return a.known ? a : b;
}

/// Zero, or "false".
Scalar nothing(Emitter &e, ElementType type) { return e.number(type, 0); }

Value product(Emitter &e, const Value &left, const Value &right, const Axes &leftBatch,
              const Axes &rightBatch, const Axes &leftSummed, const Axes &rightSummed,
              ElementType type) {
  checkAxes(leftBatch, left.rank(), "lhs_batching_dimensions");
  checkAxes(rightBatch, right.rank(), "rhs_batching_dimensions");
  checkAxes(leftSummed, left.rank(), "lhs_contracting_dimensions");
  checkAxes(rightSummed, right.rank(), "rhs_contracting_dimensions");
  if (leftBatch.size() != rightBatch.size() || leftSummed.size() != rightSummed.size())
    invalid("its operands have different numbers of batching or contracting dimensions");
  if (type == ElementType::I1) // whether there is one that both have
    return e.convert(
        product(e, left, right, leftBatch, rightBatch, leftSummed, rightSummed, ElementType::I32),
        type);
  Scalars extents;
  Axes leftLoops(left.dims.size(), -1), rightLoops(right.dims.size(), -1), out;
  auto loop = [&](const Scalar &extent) {
    extents.push_back(extent);
    return static_cast<int64_t>(extents.size()) - 1;
  };
  auto pair = [&](int64_t a, int64_t b, bool stays) {
    int64_t &own = leftLoops[static_cast<size_t>(a)], &other = rightLoops[static_cast<size_t>(b)];
    if (own != -1 || other != -1)
      invalid("a dimension is both batching and contracting");
    own = other = loop(
        sharedExtent(e, left.dims[static_cast<size_t>(a)], right.dims[static_cast<size_t>(b)]));
    if (stays)
      out.push_back(own);
  };
  for (size_t i = 0; i < leftBatch.size(); ++i)
    pair(leftBatch[i], rightBatch[i], true);
  // Loops stand as those of a product of matrices do, the summed ones last.
  for (size_t i = 0; i < left.dims.size(); ++i)
    if (leftLoops[i] == -1 && !contains(leftSummed, static_cast<int64_t>(i)))
      out.push_back(leftLoops[i] = loop(left.dims[i]));
  for (size_t i = 0; i < right.dims.size(); ++i)
    if (rightLoops[i] == -1 && !contains(rightSummed, static_cast<int64_t>(i)))
      out.push_back(rightLoops[i] = loop(right.dims[i]));
  for (size_t i = 0; i < leftSummed.size(); ++i)
    pair(leftSummed[i], rightSummed[i], false);
  return e.contract(left, leftLoops, right, rightLoops, out, extents, nothing(e, type));
}

void dotGeneral(Operator &op) {
  const Attribute &numbers = op.fields("dot_dimension_numbers");
  op.give(product(op.emit, op.input(0), op.input(1), numbersOf(numbers, "lhs_batching_dimensions"),
                  numbersOf(numbers, "rhs_batching_dimensions"),
                  numbersOf(numbers, "lhs_contracting_dimensions"),
                  numbersOf(numbers, "rhs_contracting_dimensions"), op.resultType(0).element));
}

/// Vectors and matrices.
void dot(Operator &op) {
  const Value &left = op.input(0), &right = op.input(1);
  if (left.rank() < 1 || left.rank() > 2 || right.rank() < 1 || right.rank() > 2)
    invalid("its operands must be vectors or matrices");
  op.give(product(op.emit, left, right, {}, {}, {left.rank() - 1}, {0}, op.resultType(0).element));
}

/// Where a dimension is when another one is gone.
Axes without(Axes axes, int64_t gone) {
  for (int64_t &axis : axes)
    axis -= axis > gone;
  return axes;
}

/// A product for each group of what lies along a dimension of the left operand: one after the other, as many as the third operand
/// says. By https://docs.jax.dev/en/latest/_autosummary/jax.lax.ragged_dot_general.html.
void raggedDot(Operator &op) {
  Emitter &e = op.emit;
  const Value &left = op.input(0), &right = op.input(1), &sizes = op.input(2);
  const Attribute &numbers = op.fields("ragged_dot_dimension_numbers");
  const Axes leftBatch = numbersOf(numbers, "lhs_batching_dimensions"),
             leftSummed = numbersOf(numbers, "lhs_contracting_dimensions"),
             ragged = numbersOf(numbers, "lhs_ragged_dimensions"),
             groups = numbersOf(numbers, "rhs_group_dimensions");
  Axes rightBatch = numbersOf(numbers, "rhs_batching_dimensions"),
       rightSummed = numbersOf(numbers, "rhs_contracting_dimensions");
  checkAxes(leftBatch, left.rank(), "lhs_batching_dimensions");
  checkAxes(leftSummed, left.rank(), "lhs_contracting_dimensions");
  checkAxes(rightBatch, right.rank(), "rhs_batching_dimensions");
  checkAxes(rightSummed, right.rank(), "rhs_contracting_dimensions");
  checkAxes(ragged, left.rank(), "lhs_ragged_dimensions");
  checkAxes(groups, right.rank(), "rhs_group_dimensions");
  if (ragged.size() != 1 || groups.size() > 1 || leftBatch.size() != rightBatch.size() ||
      leftSummed.size() != rightSummed.size())
    invalid("its dimension numbers do not fit each other");
  if (sizes.rank() != 1 || !isInteger(sizes.type) || sizes.type == ElementType::I1)
    unsupported("but with one size for each group");
  const int64_t axis = ragged[0];
  const bool isBatch = contains(leftBatch, axis), isSummed = contains(leftSummed, axis);
  if (groups.empty() != (isBatch || isSummed))
    invalid("rhs_group_dimensions do not fit lhs_ragged_dimensions");
  // Of the right operand what is paired with it, and of the result where it is.
  int64_t other = -1, place = static_cast<int64_t>(leftBatch.size());
  for (size_t i = 0; i < leftBatch.size(); ++i)
    if (leftBatch[i] == axis) {
      other = rightBatch[i];
      place = static_cast<int64_t>(i);
    }
  for (size_t i = 0; i < leftSummed.size(); ++i)
    if (leftSummed[i] == axis)
      other = rightSummed[i];
  for (int64_t d = 0; d < axis && other == -1; ++d)
    place += !contains(leftBatch, d) && !contains(leftSummed, d);
  if (!groups.empty()) {
    if (contains(rightBatch, groups[0]) || contains(rightSummed, groups[0]))
      invalid("a dimension is of groups, and batching or contracting");
    rightBatch = without(rightBatch, groups[0]);
    rightSummed = without(rightSummed, groups[0]);
  }
  const ElementType type = op.resultType(0).element;
  const Scalar zero = e.index(0), all = left.dims[static_cast<size_t>(axis)], count = sizes.dims[0];
  Scalars dims;
  auto own = [&](const Value &x, const Axes &batch, const Axes &summed, const Axes &gone) {
    for (int64_t d = 0; d < x.rank(); ++d)
      if (!contains(batch, d) && !contains(summed, d) && !contains(gone, d))
        dims.push_back(x.dims[static_cast<size_t>(d)]);
  };
  for (const int64_t d : leftBatch)
    dims.push_back(left.dims[static_cast<size_t>(d)]);
  own(left, leftBatch, leftSummed, {});
  own(right, numbersOf(numbers, "rhs_batching_dimensions"),
      numbersOf(numbers, "rhs_contracting_dimensions"), groups);
  if (isSummed)
    dims.insert(dims.begin(), count);
  e.use(left);
  e.use(right);
  e.use(sizes);
  const Emitter::LoopState end =
      e.loopWith(count, {{e.fill(dims, nothing(e, type))}, {zero}},
                 [&](const Scalar &group, const Emitter::LoopState &in) -> Emitter::LoopState {
                   const Scalar start = in.scalars[0];
                   const Scalar given = e.convert(e.at(sizes, {group}), ElementType::Index);
                   const Scalar size = e.max(zero, e.min(given, e.sub(all, start)));
                   const Value some = e.sliceAxis(left, axis, start, size);
                   const Value same = groups.empty() ? e.sliceAxis(right, other, start, size)
                                                     : e.pick(right, groups[0], group);
                   Value out =
                       product(e, some, same, leftBatch, rightBatch, leftSummed, rightSummed, type);
                   Scalars offsets(dims.size(), zero), shape = out.dims;
                   offsets[isSummed ? 0 : static_cast<size_t>(place)] = isSummed ? group : start;
                   if (isSummed) {
                     shape.insert(shape.begin(), e.index(1));
                     out = e.reshape(out, shape);
                   }
                   return {{e.insert(out, in.values[0], offsets)}, {e.add(start, size)}};
                 });
  op.give(end.values[0]);
}

/// Letters for the dimensions of each operand, and of the result: "ab,bc->ac".
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Equation equationOf(const Operator &op) {
  Equation out{{""}, ""};
  const std::string text = op.word("einsum_config", "");
  const size_t arrow = text.find("->");
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == arrow) {
      ++i;
    } else if (text[i] == ',' && i < arrow) {
      out.operands.emplace_back();
    } else if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z')) {
      (i < arrow ? out.operands.back() : out.result) += text[i];
    } else if (text[i] != ' ') {
      unsupported("the einsum_config '" + text + "' is not of letters");
    }
  }
  if (arrow == std::string::npos || out.operands.size() != op.inputs.size())
    invalid("the einsum_config '" + text + "' does not fit its operands");
  for (size_t i = 0; i < out.result.size(); ++i)
    if (out.result.find(out.result[i]) != i)
      invalid("the einsum_config '" + text + "' has a dimension of the result twice");
  return out;
}

/// What all operands have at places of a loop for each letter is multiplied, and summed over those that the result lacks.
void einsum(Operator &op) {
  Emitter &e = op.emit;
  const Equation equation = equationOf(op);
  const ElementType type = op.resultType(0).element;
  std::string letters = equation.result;
  for (const std::string &operand : equation.operands)
    for (const char letter : operand)
      if (letters.find(letter) == std::string::npos)
        letters += letter;
  Scalars extents(letters.size());
  std::vector<Axes> loops;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string &operand = equation.operands[i];
    const Value &x = op.input(i);
    if (operand.size() != x.dims.size())
      invalid("the einsum_config has " + std::to_string(operand.size()) +
              " dimensions for a tensor of rank " + std::to_string(x.rank()));
    loops.emplace_back();
    for (size_t d = 0; d < operand.size(); ++d) {
      const size_t loop = letters.find(operand[d]);
      loops[i].push_back(static_cast<int64_t>(loop));
      const bool isNew = !extents[loop].known && extents[loop].name.empty();
      extents[loop] = isNew ? x.dims[d] : sharedExtent(e, extents[loop], x.dims[d]);
    }
  }
  Axes out;
  for (size_t i = 0; i < equation.result.size(); ++i) {
    if (!extents[i].known && extents[i].name.empty())
      invalid("the einsum_config has a dimension of the result that no operand has");
    out.push_back(static_cast<int64_t>(i));
  }
  if (type == ElementType::I1)
    unsupported("products of truth values");
  const Value left = e.convert(op.input(0), type);
  if (op.inputs.size() == 1)
    return op.give(e.contract(left, loops[0], e.splat({}, e.number(type, 1)), {}, out, extents,
                              nothing(e, type)));
  op.give(e.contract(left, loops[0], e.convert(op.input(1), type), loops[1], out, extents,
                     nothing(e, type)));
}

// --- Convolutions -----------------------------------------------------------------------------------

/// Where the dimensions of one operand stand: two that have names, and the spatial ones.
struct Layout {
  int64_t first = 0, second = 0;
  Axes spatial;
};

Layout layoutOf(const Attribute &numbers, const std::string &operand, const std::string &first,
                const std::string &second) {
  const auto found = numbers.fields.find(operand);
  if (found == numbers.fields.end())
    invalid("its dimension_numbers have no '" + operand + "'");
  const std::vector<Attribute> &items = found->second.items;
  Layout out;
  out.first = out.second = -1;
  if (items.size() < 2)
    invalid("dimension_numbers need two dimensions that are not spatial");
  out.spatial.assign(items.size() - 2, -1);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto here = static_cast<int64_t>(i);
    int64_t *place = nullptr;
    if (items[i].kind == Attribute::Kind::Name)
      place = items[i].text == first ? &out.first : items[i].text == second ? &out.second : nullptr;
    else if (items[i].integer >= 0 && static_cast<size_t>(items[i].integer) < out.spatial.size())
      place = &out.spatial[static_cast<size_t>(items[i].integer)];
    if (!place || *place != -1)
      invalid("dimension_numbers have what does not fit");
    *place = here;
  }
  return out;
}

/// The order of dimensions in which a convolution is computed: channels in front of the spatial ones, or behind them.
struct Order {
  bool last = false;
  size_t spatial = 0; // how many

  size_t channels() const { return last ? spatial + 1 : 1; }
  size_t at(size_t i) const { return last ? i + 1 : i + 2; }
  size_t filters() const { return last ? spatial + 1 : 0; }
  size_t kernelChannels() const { return last ? spatial : 1; }
  size_t kernelAt(size_t i) const { return last ? i : i + 2; }

  /// Where each dimension of that order stands in what is written.
  Axes ofTensor(const Layout &layout) const {
    Axes out = layout.spatial;
    out.insert(out.begin(), layout.first);
    out.insert(last ? out.end() : out.begin() + 1, layout.second);
    return out;
  }
  Axes ofKernel(const Layout &layout) const { // o is the first name, i the second
    Axes out = layout.spatial;
    const Axes names = last ? Axes{layout.second, layout.first} : Axes{layout.first, layout.second};
    out.insert(last ? out.end() : out.begin(), names.begin(), names.end());
    return out;
  }
};

/// Back to what is written.
Axes inverse(const Axes &order) {
  Axes out(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return out;
}

void checkRange(const Numbers &values, int64_t least, const std::string &what) {
  for (int64_t value : values)
    if (value < least || value > int64_t(1) << 31)
      invalid(what + " has " + std::to_string(value));
}

/// Brought into an order of linalg's convolutions, with padding, dilation of the input, reversal and batch groups done
/// before; most of them cost nothing where they are as usual.
void convolve(Operator &op, const Numbers &padding) {
  Emitter &e = op.emit;
  const Attribute &numbers = op.fields("dimension_numbers");
  const Layout in = layoutOf(numbers, "input", "b", "f"),
               kernel = layoutOf(numbers, "kernel", "o", "i"),
               out = layoutOf(numbers, "output", "b", "f");
  const size_t n = in.spatial.size();
  const ElementType type = op.resultType(0).element;
  if (kernel.spatial.size() != n || out.spatial.size() != n || op.input(0).dims.size() != n + 2 ||
      op.input(1).dims.size() != n + 2)
    invalid("dimension_numbers do not fit the ranks of its operands");
  if (op.input(0).type == ElementType::I1 || type == ElementType::I1)
    unsupported("products of truth values");
  const Numbers strides = op.integers("window_strides", n, 1);
  const Numbers inputDilation = op.integers("lhs_dilation", n, 1);
  const Numbers dilations = op.integers("rhs_dilation", n, 1);
  const Numbers reversal = op.integers("window_reversal", n, 0);
  const int64_t groups = op.integer("feature_group_count", 1),
                batchGroups = op.integer("batch_group_count", 1);
  checkRange(strides, 1, "window_strides");
  checkRange(inputDilation, 1, "lhs_dilation");
  checkRange(dilations, 1, "rhs_dilation");
  for (int64_t pad : padding)
    if (pad > int64_t(1) << 31 || pad < -(int64_t(1) << 31))
      invalid("padding has " + std::to_string(pad));
  if (padding.size() != 2 * n)
    invalid("padding has " + std::to_string(padding.size()) + " numbers, not " +
            std::to_string(2 * n));
  const bool sameTypes = op.input(0).type == type && op.input(1).type == type && !isUnsigned(type);
  Order order;
  order.spatial = n;
  order.last = sameTypes && groups == 1 && batchGroups == 1 && n >= 1 && n <= 3 &&
               in.second == static_cast<int64_t>(n) + 1;
  Value x = e.transpose(op.input(0), order.ofTensor(in));
  Value weights = e.transpose(op.input(1), order.ofKernel(kernel));
  const Scalar filters = weights.dims[order.filters()];
  for (const Scalar &dim : weights.dims)
    if (!dim.known)
      unsupported("the extents of the kernel must be known");
  if (groups < 1 || batchGroups < 1 || (groups > 1 && batchGroups > 1) ||
      *filters.known % groups != 0 || *filters.known % batchGroups != 0 ||
      (x.dims[0].known && *x.dims[0].known % batchGroups != 0) ||
      (x.dims[order.channels()].known &&
       *x.dims[order.channels()].known != *weights.dims[order.kernelChannels()].known * groups))
    invalid("its channels do not fit the kernel and the groups");
  Axes reversed;
  for (size_t i = 0; i < n; ++i)
    if (reversal[i])
      reversed.push_back(static_cast<int64_t>(order.kernelAt(i)));
  weights = reverse(e, weights, reversed);
  Numbers low(n + 2, 0), high(n + 2, 0), interior(n + 2, 0);
  Scalars dims(n + 2, e.index(0));
  dims[0] = e.div(x.dims[0], e.index(batchGroups));
  dims[order.channels()] = filters;
  for (size_t i = 0; i < n; ++i) {
    low[order.at(i)] = padding[2 * i];
    high[order.at(i)] = padding[2 * i + 1];
    interior[order.at(i)] = inputDilation[i] - 1;
  }
  x = pad(e, x, nothing(e, x.type), low, high, interior);
  bool isEmpty = false;
  for (size_t i = 0; i < n; ++i) {
    const Scalar &extent = weights.dims[order.kernelAt(i)];
    Scalar &count = dims[order.at(i)];
    const Scalar reach = e.index(*extent.known == 0 ? 0 : (*extent.known - 1) * dilations[i] + 1);
    const Scalar room = e.sub(x.dims[order.at(i)], reach);
    if (room.known && *room.known < 0) {
      isEmpty = true;
    } else {
      count = e.add(e.floorDiv(room, e.index(strides[i])), e.index(1));
    }
    isEmpty |= extent.is(0) || count.is(0);
  }
  isEmpty |= weights.dims[order.kernelChannels()].is(0) || filters.is(0) || dims[0].is(0);
  int64_t allGroups = groups;
  if (batchGroups > 1 && !isEmpty) { // groups of the batch become groups of channels
    Value split = grouped(e, x, 0, batchGroups);
    Axes order{1, 0};
    for (int64_t i = 2; i < split.rank(); ++i)
      order.push_back(i);
    split = e.transpose(split, order);
    Scalars merged{split.dims[0], e.mul(split.dims[1], split.dims[2])};
    merged.insert(merged.end(), split.dims.begin() + 3, split.dims.end());
    x = e.reshape(split, merged);
    allGroups = batchGroups;
  }
  const WindowSteps steps{strides, dilations};
  Value sum;
  if (isEmpty) {
    sum = e.splat(dims, nothing(e, type));
  } else if (order.last) {
    static constexpr const char *names[] = {"conv_1d_nwc_wcf", "conv_2d_nhwc_hwcf",
                                            "conv_3d_ndhwc_dhwcf"};
    sum = namedConvolution(e, names[n - 1], x, weights, type, steps, dims);
  } else {
    sum = importers::convolution(e, x, weights, type, steps, allGroups, dims);
  }
  op.give(e.transpose(sum, inverse(order.ofTensor(out))));
}

void convolution(Operator &op) {
  const size_t n = op.input(0).dims.size() - std::min<size_t>(2, op.input(0).dims.size());
  convolve(op, op.integers("padding", 2 * n, 0));
}

void dynamicConvolution(Operator &op) {
  const auto padding = op.emit.known(op.input(2));
  if (!padding)
    unsupported("its padding must be known");
  convolve(op, *padding);
}

} // namespace

const OperationTable &products() {
  static const OperationTable table{{"chlo.ragged_dot", {raggedDot, 3, 3}},
                                    {"stablehlo.convolution", {convolution, 2, 2}},
                                    {"stablehlo.dot", {dot, 2, 2}},
                                    {"stablehlo.dot_general", {dotGeneral, 2, 2}},
                                    {"stablehlo.dynamic_conv", {dynamicConvolution, 3, 3}},
                                    {"stablehlo.einsum", {einsum, 2, 2}},
                                    {"stablehlo.unary_einsum", {einsum, 1, 1}}};
  return table;
}

} // namespace plim::importers::stablehlo
