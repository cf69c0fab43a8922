#include "importers/onnx/Schemas.h"

#include "importers/emit/Error.h"
#include "importers/onnx/Protobuf.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include <onnx/defs/schema.h>
#pragma clang diagnostic pop

#include <algorithm>

namespace plim::importers {

namespace {

const onnx::OpSchema *schemaOf(const Node &node, int64_t opset) {
  return onnx::OpSchemaRegistry::Schema(
      node.op, static_cast<int>(std::clamp<int64_t>(opset, 1, newestKnownOpset())), node.domain);
}

} // namespace

int64_t newestKnownOpset() {
  const auto &ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto found = ranges.find("");
  return found == ranges.end() ? 17 : found->second.second;
}

void checkNode(const Node &node, int64_t opset) {
  const onnx::OpSchema *schema = schemaOf(node, opset);
  // Newer definitions than libonnx has may allow more.
  if (!schema || (node.domain.empty() && opset > newestKnownOpset()))
    return;
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
