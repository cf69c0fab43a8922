#include "importers/onnx/Contrib.h"

#include <array>

namespace plim::importers {

namespace {

const DescribedOperator *find(const std::string &name) {
  static const std::array<const DescribedTable *, 13> tables{
      &contribActivations(), &contribAttention(),    &contribBlocks(),    &contribConvolutions(),
      &contribDecoders(),    &contribDecoding(),     &contribExperts(),   &contribNormalisations(),
      &contribProducts(),    &contribQuantisation(), &contribRecurrent(), &contribShapes(),
      &contribStates()};
  for (const DescribedTable *table : tables)
    if (auto found = table->find(name); found != table->end())
      return &found->second;
  return nullptr;
}

} // namespace

OperatorFunction findContribOperator(const Node &node) {
  const DescribedOperator *found = find(node.op);
  return found ? checkedFunction(node, *found) : nullptr;
}

Value resultOf(Operator &op, const char *name, int64_t opset, Values inputs) {
  Operator inner(op.importer, op.emit, op.node, opset, std::move(inputs));
  findOperator(name)(inner);
  return inner.outputs[0];
}

void refuseInput(const Operator &op, size_t input, const char *name) {
  if (op.has(input))
    unsupported(std::string("with the input '") + name + "'");
}

void refuseFlag(const Operator &op, const char *attribute) {
  if (op.integer(attribute, 0) != 0)
    unsupported(std::string("with ") + attribute + " = " +
                std::to_string(op.integer(attribute, 0)));
}

} // namespace plim::importers
