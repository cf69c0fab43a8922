#include "importers/onnx/Schemas.h"

#include "importers/emit/Error.h"
#include "importers/onnx/Protobuf.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include <onnx/defs/schema.h>
#pragma clang diagnostic pop

#include <algorithm>
#include <map>
#include <set>

namespace plim::importers {

namespace {

const onnx::OpSchema *schemaOf(const Node &node, int64_t opset) {
  return onnx::OpSchemaRegistry::Schema(
      node.op, static_cast<int>(std::clamp<int64_t>(opset, 1, newestKnownOpset())), node.domain);
}

/// Is it an attribute that ONNX gave an operator after what libonnx knows, and that is read here, or
/// says something of types that are refused?
bool isNewer(const std::string &op, const std::string &attribute) {
  static const std::map<std::string, std::set<std::string>> newer{
      {"AveragePool", {"dilations"}},
      {"Cast", {"round_mode", "saturate"}},
      {"CastLike", {"round_mode", "saturate"}},
      {"DequantizeLinear", {"block_size", "output_dtype"}},
      {"LpPool", {"ceil_mode", "dilations"}},
      {"QuantizeLinear", {"block_size", "output_dtype", "precision", "saturate"}},
      {"Resize", {"antialias", "axes", "keep_aspect_ratio_policy"}},
      {"Split", {"num_outputs"}}};
  if (attribute == "noop_with_empty_axes")
    return op.starts_with("Reduce");
  const auto found = newer.find(op);
  return found != newer.end() && found->second.count(attribute) != 0;
}

} // namespace

int64_t newestKnownOpset() {
  const auto &ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto found = ranges.find("");
  return found == ranges.end() ? 17 : found->second.second;
}

void checkNode(const Node &node, int64_t opset) {
  const onnx::OpSchema *schema = schemaOf(node, opset);
  if (!schema)
    return;
  // Newer definitions than libonnx has may allow more, of which attributes must not go unseen.
  if (node.domain.empty() && opset > newestKnownOpset()) {
    for (const auto &[name, attribute] : node.attributes)
      if (!schema->attributes().count(name) && !isNewer(node.op, name))
        invalid("it has no attribute '" + name + "' that is known");
    return;
  }
  onnx::NodeProto proto;
  writeNode(node, proto);
  try {
    schema->Verify(proto);
  } catch (const std::exception &error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    invalid(text);
  }
}

namespace {

/// The attributes that a node lacks and its operator has a value for.
void addDefaults(const onnx::OpSchema &schema, FunctionBody &body) {
  onnx::NodeProto holder;
  for (const auto &[name, attribute] : schema.attributes())
    if (attribute.default_value.type() != onnx::AttributeProto::UNDEFINED) {
      *holder.add_attribute() = attribute.default_value;
      holder.mutable_attribute(holder.attribute_size() - 1)->set_name(name);
    }
  body.defaults = readNode(holder, {}).attributes;
}

} // namespace

std::optional<FunctionBody> bodyOf(const Node &node, int64_t opset,
                                   const std::vector<std::optional<ElementType>> &types) {
  const onnx::OpSchema *schema = schemaOf(node, opset);
  if (!schema)
    return std::nullopt;
  if (schema->HasFunction()) {
    FunctionBody body = readFunction(*schema->GetFunction(), {});
    addDefaults(*schema, body);
    return body;
  }
  if (!schema->HasContextDependentFunction())
    return std::nullopt;
  onnx::NodeProto proto;
  writeNode(node, proto);
  std::vector<onnx::TypeProto> inputs(types.size());
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i])
      inputs[i].mutable_tensor_type()->set_elem_type(protoElementType(*types[i]));
  onnx::FunctionProto function;
  try {
    if (!schema->BuildContextDependentFunction(onnx::FunctionBodyBuildContextImpl(proto, inputs),
                                               function))
      return std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt;
  }
  return readFunction(function, {});
}

} // namespace plim::importers
