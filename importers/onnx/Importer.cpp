#include "importers/onnx/Importer.h"

#include "importers/emit/Error.h"
#include "importers/onnx/Blocks.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Schemas.h"

#include <algorithm>

namespace plim::importers {

namespace {

constexpr int maxDepth = 96; // of functions and sub-graphs together
constexpr int64_t oldestOpset = 1;
constexpr int64_t maxNodes = 200'000;

std::string nodeTitle(const Node &node, int64_t opset) {
  std::string out = "node ";
  if (!node.name.empty())
    out += "'" + node.name + "'";
  else
    out += node.outputs.empty() ? "without a name" : "of '" + node.outputs[0] + "'";
  return out + ", " + (node.domain.empty() ? "" : node.domain + ".") + node.op + " of opset " +
         std::to_string(opset);
}

OperatorFunction functionOf(const Node &node) {
  if (node.domain == "com.microsoft")
    return findContribOperator(node);
  if (node.domain.empty())
    if (const OperatorFunction newer = findNewerOperator(node))
      return newer;
  const bool isOwn = node.domain.empty() || node.domain == "ai.onnx.preview.training";
  return isOwn ? findOperator(node.op) : nullptr;
}

/// A name as an argument of MLIR's function may have it.
std::string argumentName(const std::string &name, size_t number) {
  std::string out;
  for (const char c : name)
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9'))
    out = "input_" + out;
  return out + (number ? "_" + std::to_string(number) : "");
}

/// The attributes of a function's call in the place of those that its nodes name.
Attribute resolved(const Attribute &attribute, const std::map<std::string, Attribute> &given,
                   bool &there);

Graph resolved(const Graph &graph, const std::map<std::string, Attribute> &given);

Node resolved(const Node &node, const std::map<std::string, Attribute> &given) {
  Node out = node;
  out.attributes.clear();
  for (const auto &[name, attribute] : node.attributes) {
    bool there = true;
    Attribute value = resolved(attribute, given, there);
    if (there)
      out.attributes.emplace(name, std::move(value));
  }
  return out;
}

Graph resolved(const Graph &graph, const std::map<std::string, Attribute> &given) {
  Graph out = graph;
  for (Node &node : out.nodes)
    node = resolved(node, given);
  return out;
}

Attribute resolved(const Attribute &attribute, const std::map<std::string, Attribute> &given,
                   bool &there) {
  if (!attribute.reference.empty()) {
    const auto found = given.find(attribute.reference);
    there = found != given.end();
    return there ? found->second : attribute;
  }
  if (attribute.kind != Attribute::Kind::Graph)
    return attribute;
  Attribute out = attribute;
  out.graph = std::make_shared<const Graph>(resolved(*attribute.graph, given));
  return out;
}

} // namespace

const Value *Scope::find(const std::string &name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
  return nullptr;
}

void Scope::define(const std::string &name, Value value) {
  if (!values.emplace(name, std::move(value)).second)
    invalid("'" + name + "' is defined twice");
}

int64_t Importer::opsetOf(const std::string &domain, const Opsets &opsets) const {
  const auto found = opsets.find(domain);
  if (found != opsets.end())
    return found->second;
  if (domain.empty())
    invalid("the model says no opset of ONNX's operators");
  invalid("the model says no opset of the domain '" + domain + "'");
}

void Importer::runNodes(const std::vector<Node> &nodes, Scope &scope, const Opsets &opsets) {
  for (const Node &node : nodes) {
    const int64_t opset = opsetOf(node.domain, opsets);
    try {
      runNode(node, scope, opsets);
    } catch (const ImportError &error) {
      // The innermost node is the one to tell.
      const std::string what = error.what();
      throw what.starts_with("node ")
          ? error
          : ImportError(error.kind, nodeTitle(node, opset) + ": " + what);
    }
  }
}

void Importer::runNode(const Node &node, Scope &scope, const Opsets &opsets) {
  const int64_t opset = opsetOf(node.domain, opsets);
  Values inputs;
  for (const std::string &name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Value *value = scope.find(name);
    if (!value)
      invalid("input '" + name + "' is defined by nothing before it");
    inputs.push_back(*value);
  }
  if (++visited > maxNodes)
    invalid("with its functions and sub-graphs the model has more than " +
            std::to_string(maxNodes) + " nodes");
  checkNode(node, opset);

  const Scope *outerScope = current;
  const Opsets *outerOpsets = currentOpsets;
  current = &scope;
  currentOpsets = &opsets;
  Values outputs;
  const auto function = model.functions.find({node.domain, node.op});
  if (function != model.functions.end()) {
    outputs = runFunction(function->second, node, inputs);
  } else if (const OperatorFunction import = functionOf(node)) {
    Operator context(*this, emit, node, opset, inputs);
    import(context);
    outputs = std::move(context.outputs);
  } else {
    std::vector<std::optional<ElementType>> types;
    for (const Value &input : inputs)
      types.push_back(input.kind == Value::Kind::Tensor ? std::optional(input.type) : std::nullopt);
    const auto body = bodyOf(node, opset, types);
    if (!body)
      unsupported("this operator is not supported");
    FunctionBody whole = *body;
    whole.opsets.emplace("", opset);
    outputs = runFunction(whole, node, inputs);
  }
  current = outerScope;
  currentOpsets = outerOpsets;

  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty())
      continue;
    if (!outputs[i])
      unsupported("output " + std::to_string(i) + " is not supported");
    scope.define(node.outputs[i], outputs[i]);
  }
}

void Importer::enter() {
  if (++depth > maxDepth)
    invalid("functions call each other, or sub-graphs are nested, more than " +
            std::to_string(maxDepth) + " deep");
}

Values Importer::runFunction(const FunctionBody &body, const Node &node, const Values &inputs) {
  enter();
  Scope scope;
  for (size_t i = 0; i < body.inputs.size(); ++i)
    scope.define(body.inputs[i], i < inputs.size() ? inputs[i] : Value());
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.insert(body.defaults.begin(), body.defaults.end());
  std::vector<Node> nodes;
  for (const Node &inner : body.nodes)
    nodes.push_back(resolved(inner, attributes));
  runNodes(nodes, scope, body.opsets);
  Values outputs(node.outputs.size());
  for (size_t i = 0; i < outputs.size() && i < body.outputs.size(); ++i) {
    const Value *value = scope.find(body.outputs[i]);
    if (!value && !node.outputs[i].empty())
      invalid("output '" + body.outputs[i] + "' of the function is defined by nothing");
    if (value)
      outputs[i] = *value;
  }
  --depth;
  return outputs;
}

Values Importer::runGraph(const Graph &graph, const Values &inputs) {
  enter();
  if (inputs.size() != graph.inputs.size())
    invalid("its sub-graph has " + std::to_string(graph.inputs.size()) + " inputs, not " +
            std::to_string(inputs.size()));
  Scope scope(current);
  for (size_t i = 0; i < inputs.size(); ++i)
    scope.define(graph.inputs[i].name, inputs[i]);
  for (const TensorPtr &tensor : graph.initialisers)
    if (std::none_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const ValueInfo &input) { return input.name == tensor->name; }))
      scope.define(tensor->name, constantOf(emit, tensor));
  runNodes(graph.nodes, scope, *currentOpsets);
  Values out;
  for (const ValueInfo &output : graph.outputs) {
    const Value *value = scope.find(output.name);
    if (!value)
      invalid("output '" + output.name + "' of a sub-graph is defined by nothing");
    out.push_back(*value);
  }
  --depth;
  return out;
}

Value Importer::declareInput(const ValueInfo &input, std::string &signature) {
  if (input.kind != ValueInfo::Kind::Tensor || !input.type)
    unsupported("input '" + input.name + "' is no tensor of a known type");
  if (!input.shape)
    unsupported("the rank of input '" + input.name + "' is not known");
  size_t number = 0;
  while (!argumentNames.insert(argumentName(input.name, number)).second)
    ++number;
  Scalars dims;
  for (const Extent &extent : *input.shape) {
    Scalar dim;
    if (extent.value >= 0)
      dim.known = extent.value;
    dims.push_back(dim);
  }
  Value value = emit.tensor(*input.type, dims, "%" + argumentName(input.name, number));
  signature += (signature.empty() ? "" : ", ") + value.name + ": " + emit.type(value);
  return value;
}

ImportedModel Importer::run() {
  const Graph &graph = model.graph;
  for (const auto &[domain, version] : model.opsets)
    if (domain.empty() && version < oldestOpset)
      invalid("opset " + std::to_string(version) + " is none");
  Scope scope;
  std::map<std::string, TensorPtr> initialisers;
  for (const TensorPtr &tensor : graph.initialisers)
    if (!initialisers.emplace(tensor->name, tensor).second)
      invalid("initialiser '" + tensor->name + "' is there twice");
  for (const auto &[name, tensor] : initialisers)
    scope.define(name, constantOf(emit, tensor));

  ImportedModel out;
  std::string signature;
  for (const ValueInfo &input : graph.inputs) {
    if (initialisers.count(input.name))
      continue; // a default, which is taken
    Value value = declareInput(input, signature);
    for (size_t i = 0; i < value.dims.size(); ++i) {
      if (value.dims[i].known)
        continue;
      const std::string &name = (*input.shape)[i].name;
      Scalars unnamed = value.dims;
      const Scalar own =
          emit.natural("tensor.dim " + value.name + ", " +
                       emit.use(emit.index(static_cast<int64_t>(i))) + " : " + emit.type(value));
      value.dims[i] = own;
      if (name.empty())
        continue;
      auto [place, isNew] = extents.emplace(name, own);
      if (!isNew) { // one name, one extent
        emit.line("cf.assert " + emit.use(emit.compare(Compare::Equal, own, place->second)) +
                  ", \"extents '" + argumentName(name, 0) + "' of inputs differ\"");
        value.dims[i] = place->second;
      }
    }
    scope.define(input.name, value);
    out.inputNames.push_back(input.name);
  }
  runNodes(graph.nodes, scope, model.opsets);
  std::string types;
  const std::string results = returnValues(graph, scope, out.outputNames, types);
  emit.line("return" + (results.empty() ? "" : " " + results + " : " + types));

  for (const TensorPtr &tensor : emit.parameters()) {
    Scalars dims;
    for (int64_t extent : tensor->shape)
      dims.push_back(emit.index(extent));
    const std::string type = tensorType(tensor->type, dims);
    out.text.append("ml_program.global private ").append(symbol(tensor->name));
    out.text.append("(#ml_program.extern<").append(type).append(">) : ").append(type).append("\n");
  }
  out.text += (out.text.empty() ? "" : "\n") + std::string("func.func @main(") + signature + ")" +
              (types.empty() ? "" : " -> (" + types + ")") + " {\n" + emit.takeText() + "}\n";
  out.parameters = emit.parameters();
  return out;
}

std::string Importer::returnValues(const Graph &graph, const Scope &scope,
                                   std::vector<std::string> &names, std::string &types) {
  std::string results;
  auto give = [&](const Value &value, const std::string &name) {
    results += (results.empty() ? "" : ", ") + emit.use(value);
    types += (types.empty() ? "" : ", ") + emit.type(value);
    names.push_back(name);
  };
  for (const ValueInfo &output : graph.outputs) {
    const Value *found = scope.find(output.name);
    if (!found)
      invalid("output '" + output.name + "' is defined by nothing");
    if (found->kind == Value::Kind::Sequence) {
      for (size_t i = 0; i < found->items.size(); ++i)
        give(found->items[i], output.name + "[" + std::to_string(i) + "]");
      continue;
    }
    Value value = *found;
    // What the model says of a shape that only a run would know.
    if (output.shape && output.shape->size() == value.dims.size()) {
      Scalars dims = value.dims;
      for (size_t i = 0; i < dims.size(); ++i)
        if (!dims[i].known && (*output.shape)[i].value >= 0)
          dims[i] = emit.index((*output.shape)[i].value);
      value = emit.withDims(value, dims);
    }
    give(value, output.name);
  }
  return results;
}

} // namespace plim::importers
