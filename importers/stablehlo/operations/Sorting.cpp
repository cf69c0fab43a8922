// Elements by their order. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/emit/Sorting.h"
#include "importers/stablehlo/Operator.h"

namespace plim::importers::stablehlo {

namespace {

void sort(Operator &op) {
  Emitter &e = op.emit;
  const Region &comparator = op.region(0);
  const int64_t rank = op.input(0).rank();
  int64_t axis = op.integer("dimension", -1);
  axis = axis < 0 ? axis + rank : axis;
  checkAxes({axis}, rank, "dimension");
  for (const Value &input : op.inputs) {
    checkSameShape(op.input(0), input);
    e.use(input);
  }
  if (comparator.arguments.size() != 2 * op.inputs.size())
    invalid("its region needs " + std::to_string(2 * op.inputs.size()) + " arguments");
  if (e.count(op.input(0)).is(0))
    return void(op.outputs = op.inputs);
  op.outputs = sorted(e, op.inputs, axis, [&](const Scalars &a, const Scalars &b) {
    Scalars elements;
    for (size_t i = 0; i < a.size(); ++i) {
      elements.push_back(a[i]);
      elements.push_back(b[i]);
    }
    return callOnElements(op, comparator, elements, {ElementType::I1})[0];
  });
}

} // namespace

const OperationTable &sorting() {
  static const OperationTable table{{"stablehlo.sort", {sort, 1, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
