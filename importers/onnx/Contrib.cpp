#include "importers/onnx/Contrib.h"

#include <array>

namespace plim::importers {

namespace {

const ContribOperator *find(const std::string &name) {
  static const std::array<const ContribTable *, 13> tables{
      &contribActivations(), &contribAttention(),    &contribBlocks(),    &contribConvolutions(),
      &contribDecoders(),    &contribDecoding(),     &contribExperts(),   &contribNormalisations(),
      &contribProducts(),    &contribQuantisation(), &contribRecurrent(), &contribShapes(),
      &contribStates()};
  for (const ContribTable *table : tables)
    if (auto found = table->find(name); found != table->end())
      return &found->second;
  return nullptr;
}

void check(const Node &node, const ContribOperator &known) {
  const size_t inputs = node.inputs.size();
  if (inputs < known.inputs || inputs > known.mostInputs)
    invalid("it has " + std::to_string(inputs) + " inputs, not " + std::to_string(known.inputs) +
            (known.mostInputs == known.inputs ? ""
             : known.mostInputs == anyNumber  ? " or more"
                                              : " to " + std::to_string(known.mostInputs)));
  if (node.outputs.size() > known.mostOutputs)
    invalid("it has " + std::to_string(node.outputs.size()) + " outputs, not " +
            std::to_string(known.mostOutputs));
  size_t given = 0;
  for (size_t at = 0; at < known.attributes.size();) {
    const size_t end = std::min(known.attributes.find(' ', at), known.attributes.size());
    std::string_view name = known.attributes.substr(at, end - at);
    const bool isNeeded = name.ends_with('!');
    if (isNeeded)
      name.remove_suffix(1);
    const bool isGiven = node.attributes.count(std::string(name)) != 0;
    if (isNeeded && !isGiven)
      invalid("the attribute '" + std::string(name) + "' is missing");
    given += isGiven;
    at = end + 1;
  }
  if (given == node.attributes.size())
    return;
  for (const auto &[name, value] : node.attributes) {
    const std::string all = " " + std::string(known.attributes) + " ";
    if (all.find(" " + name + " ") == std::string::npos &&
        all.find(" " + name + "! ") == std::string::npos)
      invalid("it has no attribute '" + name + "'");
  }
}

} // namespace

OperatorFunction findContribOperator(const Node &node) {
  const ContribOperator *found = find(node.op);
  if (!found)
    return nullptr;
  check(node, *found);
  return found->function;
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

int64_t countOf(const Operator &op, const char *attribute, int64_t otherwise) {
  const int64_t count = op.integer(attribute, otherwise);
  if (count < 1 || count > int64_t(1) << 31)
    invalid(std::string(attribute) + " is " + std::to_string(count));
  return count;
}

bool flag(const Operator &op, const char *attribute, bool otherwise) {
  const int64_t value = op.integer(attribute, otherwise);
  if (value != 0 && value != 1)
    invalid(std::string(attribute) + " is " + std::to_string(value) + ", neither 0 nor 1");
  return value == 1;
}

} // namespace plim::importers
