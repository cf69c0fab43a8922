// Reductions over dimensions. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/stablehlo/Reductions.h"
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

Reduction reductionOf(Operator &op) {
  Emitter &e = op.emit;
  const size_t count = op.inputs.size() / 2;
  if (count == 0 || op.inputs.size() != 2 * count)
    invalid("it needs an initial value for each operand");
  Reduction out;
  const Region &body = op.region(0);
  if (body.arguments.size() != 2 * count)
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
  out.combine = [&op, &body, types = out.types](const Scalars &sums, const Scalars &elements) {
    Scalars arguments = sums;
    arguments.insert(arguments.end(), elements.begin(), elements.end());
    return callOnElements(op, body, arguments, types);
  };
  return out;
}

namespace {

void reduce(Operator &op) {
  const Reduction reduction = reductionOf(op);
  const Axes axes = op.axes("dimensions", op.input(0).rank());
  op.outputs = op.emit.reduceTogether(reduction.inputs, axes, reduction.initial, reduction.combine);
}

} // namespace

const OperationTable &reductions() {
  static const OperationTable table{{"stablehlo.reduce", {reduce, 2, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
