// Between ONNX's messages and the importer's values. For Reader and Schemas only.
#pragma once

#include "importers/onnx/Model.h"

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include <onnx/onnx_pb.h>
#pragma clang diagnostic pop

#include <map>
#include <memory>
#include <span>
#include <string>

namespace plim::importers {

/// What reading needs to know beside the message: who keeps its bytes, and where external data
/// lies.
struct ReadContext {
  std::shared_ptr<const void> owner;
  std::string folder;
  int depth = 0; // of sub-graphs
  /// Elements that the message does not have, but the file.
  std::map<const onnx::TensorProto *, std::span<const std::byte>> weights = {};
};

// All throw ImportError for what cannot be, or is not supported. Results refer to no message but
// one that the owner of the context keeps.

/// Elements stay where they lie, in the file's bytes, in external data or in a message that is
/// kept; others are copied.
TensorPtr readTensor(const onnx::TensorProto &tensor, const ReadContext &context);
Node readNode(const onnx::NodeProto &node, const ReadContext &context);
FunctionBody readFunction(const onnx::FunctionProto &function, const ReadContext &context);
/// The other way; without sub-graphs.
void writeNode(const Node &node, onnx::NodeProto &out);

} // namespace plim::importers
