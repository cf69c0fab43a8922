#include "importers/onnx/Operator.h"

#include <algorithm>
#include <array>

namespace plim::importers {

const Value &Operator::input(size_t i) const {
  if (!has(i))
    invalid("input " + std::to_string(i) + " is missing");
  if (inputs[i].kind != Value::Kind::Tensor)
    invalid("input " + std::to_string(i) + " is a sequence, and a tensor is needed");
  return inputs[i];
}

void Operator::set(size_t output, Value value) {
  if (output < outputs.size())
    outputs[output] = std::move(value);
}

const Attribute *Operator::find(const std::string &name, Attribute::Kind kind) const {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end())
    return nullptr;
  if (found->second.kind != kind)
    invalid("attribute '" + name + "' is of another type");
  return &found->second;
}

int64_t Operator::integer(const std::string &name, int64_t otherwise) const {
  const Attribute *found = find(name, Attribute::Kind::Int);
  return found ? found->integer : otherwise;
}
double Operator::real(const std::string &name, double otherwise) const {
  const Attribute *found = find(name, Attribute::Kind::Float);
  return found ? found->real : otherwise;
}
std::string Operator::text(const std::string &name, const std::string &otherwise) const {
  const Attribute *found = find(name, Attribute::Kind::String);
  return found ? found->text : otherwise;
}
std::string Operator::choice(const std::string &name,
                             std::initializer_list<const char *> choices) const {
  std::string given = text(name, *choices.begin()), all;
  for (const char *each : choices) {
    if (given == each)
      return given;
    all.append(all.empty() ? "'" : ", '").append(each).append("'");
  }
  invalid("the attribute '" + name + "' is '" + given + "', none of " + all);
}
Numbers Operator::integers(const std::string &name, Numbers otherwise) const {
  const Attribute *found = find(name, Attribute::Kind::Ints);
  return found ? Numbers(found->integers) : std::move(otherwise);
}
Reals Operator::reals(const std::string &name, Reals otherwise) const {
  const Attribute *found = find(name, Attribute::Kind::Floats);
  return found ? Reals(found->reals) : std::move(otherwise);
}
std::vector<std::string> Operator::texts(const std::string &name) const {
  const Attribute *found = find(name, Attribute::Kind::Strings);
  return found ? found->texts : std::vector<std::string>();
}
void Operator::onlyAttributes(std::initializer_list<std::string_view> names) const {
  for (const auto &[name, attribute] : node.attributes)
    if (std::find(names.begin(), names.end(), name) == names.end())
      invalid("it has no attribute '" + name + "'");
}
const std::shared_ptr<const Graph> &Operator::graph(const std::string &name) const {
  const Attribute *found = find(name, Attribute::Kind::Graph);
  if (!found)
    invalid("attribute '" + name + "' is missing");
  return found->graph;
}

int64_t Operator::axisOf(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    invalid("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

OperatorFunction checkedFunction(const Node &node, const DescribedOperator &known) {
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
    return known.function;
  for (const auto &[name, value] : node.attributes) {
    const std::string all = " " + std::string(known.attributes) + " ";
    if (all.find(" " + name + " ") == std::string::npos &&
        all.find(" " + name + "! ") == std::string::npos)
      invalid("it has no attribute '" + name + "'");
  }
  return known.function;
}

OperatorFunction findOperator(const std::string &name) {
  static const std::array<const OperatorTable *, 22> tables{
      &activations(),  &arithmetic(), &columns(),        &controlFlow(), &convolutions(),
      &indexing(),     &logic(),      &normalisations(), &pooling(),     &products(),
      &quantisation(), &recurrent(),  &reductions(),     &resizing(),    &sequences(),
      &shapes(),       &signals(),    &sorting(),        &sources(),     &spatial(),
      &text(),         &training()};
  for (const OperatorTable *table : tables)
    if (auto found = table->find(name); found != table->end())
      return found->second;
  return nullptr;
}

OperatorFunction findNewerOperator(const Node &node) {
  for (const DescribedTable *table :
       {&attentions(), &newerArithmetic(), &newerIndexing(), &newerSignals(), &states()})
    if (const auto found = table->find(node.op); found != table->end())
      return checkedFunction(node, found->second);
  return nullptr;
}

void needOpset(const Operator &op, int64_t least, const std::string &what) {
  if (op.opset < least)
    invalid(what + " is there since opset " + std::to_string(least));
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
