#include "importers/onnx/Reader.h"

#include "importers/emit/Error.h"
#include "importers/onnx/Protobuf.h"
#include "importers/onnx/Weights.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

namespace plim::importers {

namespace {

constexpr int maxDepth = 64; // of sub-graphs

Graph readGraph(const onnx::GraphProto &graph, const ReadContext &context);

std::string domainOf(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

Attribute readAttribute(const onnx::AttributeProto &attribute, const ReadContext &context) {
  Attribute out;
  out.reference = attribute.ref_attr_name();
  using Kind = Attribute::Kind;
  switch (attribute.type()) {
  case onnx::AttributeProto::FLOAT:
    out.kind = Kind::Float;
    out.real = attribute.f();
    break;
  case onnx::AttributeProto::INT:
    out.kind = Kind::Int;
    out.integer = attribute.i();
    break;
  case onnx::AttributeProto::STRING:
    out.kind = Kind::String;
    out.text = attribute.s();
    break;
  case onnx::AttributeProto::TENSOR:
    out.kind = Kind::Tensor;
    out.tensor = readTensor(attribute.t(), context);
    break;
  case onnx::AttributeProto::GRAPH: {
    if (context.depth >= maxDepth)
      invalid("sub-graphs are nested more than " + std::to_string(maxDepth) + " deep");
    out.kind = Kind::Graph;
    ReadContext inner = context;
    ++inner.depth;
    out.graph = std::make_shared<const Graph>(readGraph(attribute.g(), inner));
    break;
  }
  case onnx::AttributeProto::FLOATS:
    out.kind = Kind::Floats;
    out.reals.assign(attribute.floats().begin(), attribute.floats().end());
    break;
  case onnx::AttributeProto::INTS:
    out.kind = Kind::Ints;
    out.integers.assign(attribute.ints().begin(), attribute.ints().end());
    break;
  case onnx::AttributeProto::STRINGS:
    out.kind = Kind::Strings;
    out.texts.assign(attribute.strings().begin(), attribute.strings().end());
    break;
  case onnx::AttributeProto::TYPE_PROTO:
    out.kind = Kind::Type;
    break;
  default:
    break;
  }
  return out;
}

ValueInfo readValueInfo(const onnx::ValueInfoProto &value) {
  ValueInfo out;
  out.name = value.name();
  const onnx::TypeProto &type = value.type();
  using Kind = ValueInfo::Kind;
  if (type.has_sequence_type())
    out.kind = Kind::Sequence;
  else if (type.has_optional_type())
    out.kind = Kind::Optional;
  else if (type.has_map_type())
    out.kind = Kind::Map;
  else if (type.has_sparse_tensor_type())
    out.kind = Kind::SparseTensor;
  if (!type.has_tensor_type())
    return out;
  out.kind = Kind::Tensor;
  if (type.tensor_type().elem_type() != 0)
    out.type = readElementType(type.tensor_type().elem_type(), "'" + value.name() + "'");
  if (!type.tensor_type().has_shape())
    return out;
  out.shape.emplace();
  for (const auto &dim : type.tensor_type().shape().dim())
    out.shape->push_back({dim.has_dim_value() ? dim.dim_value() : -1, dim.dim_param()});
  return out;
}

Graph readGraph(const onnx::GraphProto &graph, const ReadContext &context) {
  Graph out;
  out.name = graph.name();
  for (const auto &tensor : graph.initializer())
    out.initialisers.push_back(readTensor(tensor, context));
  if (graph.sparse_initializer_size() > 0)
    unsupported("sparse initialisers are not supported");
  for (const auto &input : graph.input())
    out.inputs.push_back(readValueInfo(input));
  for (const auto &output : graph.output())
    out.outputs.push_back(readValueInfo(output));
  for (const auto &node : graph.node())
    out.nodes.push_back(readNode(node, context));
  return out;
}

/// By domain; the same domain twice is refused.
template <typename Field> Opsets readOpsets(const Field &imports) {
  Opsets out;
  for (const auto &import : imports)
    if (!out.emplace(domainOf(import.domain()), import.version()).second)
      invalid("two opsets of the domain '" + import.domain() + "'");
  return out;
}

} // namespace

Node readNode(const onnx::NodeProto &node, const ReadContext &context) {
  Node out;
  out.name = node.name();
  out.op = node.op_type();
  out.domain = domainOf(node.domain());
  out.inputs.assign(node.input().begin(), node.input().end());
  out.outputs.assign(node.output().begin(), node.output().end());
  try {
    for (const auto &attribute : node.attribute())
      if (!out.attributes.emplace(attribute.name(), readAttribute(attribute, context)).second)
        invalid("attribute '" + attribute.name() + "' is there twice");
  } catch (const ImportError &error) {
    throw ImportError(error.kind, "node '" + out.name + "', " + out.op + ": " + error.what());
  }
  return out;
}

FunctionBody readFunction(const onnx::FunctionProto &function, const ReadContext &context) {
  FunctionBody out;
  out.inputs.assign(function.input().begin(), function.input().end());
  out.outputs.assign(function.output().begin(), function.output().end());
  out.attributes.assign(function.attribute().begin(), function.attribute().end());
  out.opsets = readOpsets(function.opset_import());
  for (const auto &node : function.node())
    out.nodes.push_back(readNode(node, context));
  return out;
}

void writeNode(const Node &node, onnx::NodeProto &out) {
  out.set_name(node.name);
  out.set_op_type(node.op);
  out.set_domain(node.domain);
  for (const std::string &input : node.inputs)
    out.add_input(input);
  for (const std::string &output : node.outputs)
    out.add_output(output);
  for (const auto &[name, attribute] : node.attributes) {
    onnx::AttributeProto &to = *out.add_attribute();
    to.set_name(name);
    switch (attribute.kind) {
    case Attribute::Kind::Float:
      to.set_type(onnx::AttributeProto::FLOAT);
      to.set_f(static_cast<float>(attribute.real));
      break;
    case Attribute::Kind::Int:
      to.set_type(onnx::AttributeProto::INT);
      to.set_i(attribute.integer);
      break;
    case Attribute::Kind::String:
      to.set_type(onnx::AttributeProto::STRING);
      to.set_s(attribute.text);
      break;
    case Attribute::Kind::Floats:
      to.set_type(onnx::AttributeProto::FLOATS);
      for (double value : attribute.reals)
        to.add_floats(static_cast<float>(value));
      break;
    case Attribute::Kind::Ints:
      to.set_type(onnx::AttributeProto::INTS);
      for (int64_t value : attribute.integers)
        to.add_ints(value);
      break;
    case Attribute::Kind::Strings:
      to.set_type(onnx::AttributeProto::STRINGS);
      for (const std::string &value : attribute.texts)
        to.add_strings(value);
      break;
    case Attribute::Kind::Tensor:
      to.set_type(onnx::AttributeProto::TENSOR);
      to.mutable_t()->set_data_type(protoElementType(attribute.tensor->type));
      for (int64_t extent : attribute.tensor->shape)
        to.mutable_t()->add_dims(extent);
      to.mutable_t()->set_raw_data(attribute.tensor->bytes.data(), attribute.tensor->bytes.size());
      break;
    case Attribute::Kind::Graph:
      to.set_type(onnx::AttributeProto::GRAPH);
      to.mutable_g();
      break;
    case Attribute::Kind::Type:
      to.set_type(onnx::AttributeProto::TYPE_PROTO);
      to.mutable_tp();
      break;
    case Attribute::Kind::Other:
      break;
    }
  }
}

Model readModel(std::span<const std::byte> bytes, const std::string &folder) {
  google::protobuf::LogSilencer quiet;
  auto proto = std::make_shared<onnx::ModelProto>();
  if (bytes.size() >= size_t(1) << 31)
    invalid("a model has at most 2 GiB; larger tensors lie in external data");
  const std::optional<WithoutWeights> without = takeWeights(bytes);
  const std::span<const std::byte> parsed =
      without ? std::as_bytes(std::span(without->model)) : bytes;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(parsed.data()),
                                                static_cast<int>(parsed.size()));
  stream.SetRecursionLimit(1000);
  if (!proto->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    invalid("it is no ONNX model, or is not whole: protobuf cannot read it");
  if (!proto->has_graph())
    invalid("the model has no graph");
  if (!proto->has_ir_version())
    invalid("the model has no ir_version");
  ReadContext context{proto, folder};
  if (without)
    for (const auto &[position, elements] : without->weights)
      context.weights[&proto->graph().initializer(position)] = elements;
  Model out;
  out.producer = proto->producer_name();
  out.irVersion = proto->ir_version();
  out.opsets = readOpsets(proto->opset_import());
  if (out.irVersion < 3)
    out.opsets.emplace("", 1);
  out.graph = readGraph(proto->graph(), context);
  for (const auto &function : proto->functions())
    if (!out.functions
             .emplace(std::pair(domainOf(function.domain()), function.name()),
                      readFunction(function, context))
             .second)
      invalid("function '" + function.name() + "' is there twice");
  return out;
}

} // namespace plim::importers
