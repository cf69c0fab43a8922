#include "importers/onnx/Operator.h"

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

OperatorFunction findOperator(const std::string &name) {
  static const std::array<const OperatorTable *, 21> tables{
      &activations(), &arithmetic(),     &controlFlow(), &convolutions(), &indexing(),
      &logic(),       &normalisations(), &pooling(),     &products(),     &quantisation(),
      &recurrent(),   &reductions(),     &resizing(),    &sequences(),    &shapes(),
      &signals(),     &sorting(),        &sources(),     &spatial(),      &text(),
      &training()};
  for (const OperatorTable *table : tables)
    if (auto found = table->find(name); found != table->end())
      return found->second;
  return nullptr;
}

} // namespace plim::importers
