#include "importers/onnx/Windows.h"

namespace plim::importers {

Numbers numbersOf(Operator &op, const char *name, size_t count, int64_t otherwise, int64_t least) {
  Numbers out = op.integers(name);
  if (out.empty())
    out.assign(count, otherwise);
  if (out.size() != count)
    invalid(std::string(name) + " has " + std::to_string(out.size()) + " numbers, not " +
            std::to_string(count));
  for (int64_t value : out)
    if (value < least || value > int64_t(1) << 31)
      invalid(std::string(name) + " has " + std::to_string(value));
  return out;
}

Windows windowsOf(Operator &op, const Value &input, Numbers kernel) {
  Emitter &e = op.emit;
  Windows w;
  w.kernel = std::move(kernel);
  const size_t n = w.rank();
  if (input.dims.size() != n + 2)
    invalid("a tensor of rank " + std::to_string(input.rank()) + " has not " + std::to_string(n) +
            " spatial dimensions");
  for (int64_t extent : w.kernel)
    if (extent < 1 || extent > int64_t(1) << 31)
      invalid("a window of " + std::to_string(extent) + " elements");
  w.strides = numbersOf(op, "strides", n, 1, 1);
  w.dilations = numbersOf(op, "dilations", n, 1, 1);
  const Numbers pads = numbersOf(op, "pads", 2 * n, 0, 0);
  const std::string automatic =
      op.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  const bool ceiling = op.integer("ceil_mode", 0) != 0;
  for (size_t i = 0; i < n; ++i) {
    const Scalar &extent = input.dims[i + 2];
    const Scalar stride = e.index(w.strides[i]), one = e.index(1);
    const Scalar reach = e.index((w.kernel[i] - 1) * w.dilations[i] + 1);
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const Scalar out = e.ceilDiv(extent, stride);
      const Scalar needed =
          e.max(e.index(0), e.sub(e.add(e.mul(e.sub(out, one), stride), reach), extent));
      const Scalar less = e.div(needed, e.index(2)), more = e.sub(needed, less);
      w.low.push_back(automatic == "SAME_UPPER" ? less : more);
      w.high.push_back(automatic == "SAME_UPPER" ? more : less);
      w.out.push_back(out);
      continue;
    }
    const bool none = automatic == "VALID";
    w.low.push_back(e.index(none ? 0 : pads[i]));
    w.high.push_back(e.index(none ? 0 : pads[i + n]));
    const Scalar room = e.sub(e.add(e.add(extent, w.low[i]), w.high[i]), reach);
    if (room.known && *room.known < 0)
      invalid("a window is larger than the padded tensor");
    Scalar out = e.add(ceiling ? e.ceilDiv(room, stride) : e.floorDiv(room, stride), one);
    if (ceiling) { // one that begins in the padding at the end does not count
      const Scalar begin = e.mul(e.sub(out, one), stride);
      const Scalar starts = e.compare(Compare::GreaterEqual, begin, e.add(extent, w.low[i]));
      out = e.select(starts, e.sub(out, one), out);
    }
    w.out.push_back(out);
  }
  return w;
}

Value channelsFirst(Emitter &e, const Value &x) {
  if (x.rank() < 3)
    invalid("a tensor of rank " + std::to_string(x.rank()) + " has no channels");
  Axes order{0, x.rank() - 1};
  for (int64_t i = 1; i + 1 < x.rank(); ++i)
    order.push_back(i);
  return e.transpose(x, order);
}

Value channelsLast(Emitter &e, const Value &x) {
  Axes order{0};
  for (int64_t i = 2; i < x.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  return e.transpose(x, order);
}

} // namespace plim::importers
