// Reductions over dimensions. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Reductions.h"
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

Reduction reductionOf(Operator &op, size_t count) {
  Emitter &e = op.emit;
  Reduction out;
  const auto called = op.operation.attributes.find("called_computations");
  const bool isCall = called != op.operation.attributes.end();
  if (isCall && called->second.items.size() != 1)
    invalid("its called_computations must be one function");
  if (!isCall && op.region(0).arguments.size() != 2 * count)
    invalid("its region needs " + std::to_string(2 * count) + " arguments");
  for (size_t i = 0; i < count; ++i) {
    const Value &x = op.input(i), &start = op.input(count + i);
    checkSameShape(op.input(0), x);
    if (start.rank() != 0)
      invalid("its initial values must be scalars");
    // The region may compute with another type, which the initial value has too.
    out.types.push_back(start.type);
    out.inputs.push_back(e.convert(x, start.type));
    out.initial.push_back(e.only(start));
  }
  out.combine = [&op, called, isCall, types = out.types](const Scalars &sums,
                                                         const Scalars &elements) {
    Scalars arguments = sums;
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    return isCall ? callOnElements(op, called->second.items[0].text, arguments, types)
                  : callOnElements(op, op.region(0), arguments, types);
  };
  return out;
}

size_t pairsOf(const Operator &op) {
  const size_t count = op.inputs.size() / 2;
  if (count == 0 || op.inputs.size() != 2 * count)
    invalid("it needs an initial value for each operand");
  return count;
}

namespace {

void reduce(Operator &op) {
  const Reduction reduction = reductionOf(op, pairsOf(op));
  const Axes axes = op.axes("dimensions", op.input(0).rank());
  op.outputs = op.emit.reduceTogether(reduction.inputs, axes, reduction.initial, reduction.combine);
}

} // namespace

const OperationTable &reductions() {
  static const OperationTable table{{"stablehlo.reduce", {reduce, 2, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
