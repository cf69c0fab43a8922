// What libonnx knows of operators: which attributes and how many inputs they have, and of some the
// function that they stand for.
//
// Throws ImportError. Thread safety: any thread.
#pragma once

#include "importers/onnx/Model.h"

#include <optional>
#include <vector>

namespace plim::importers {

/// The newest opset of ONNX's own domain that libonnx knows.
int64_t newestKnownOpset();

/// Refuses a node that its operator's definition does not allow: inputs, outputs, attributes and
/// their types. An operator that libonnx does not know passes.
void checkNode(const Node &node, int64_t opset);

/// The body of an operator that ONNX defines by others; `types` are those of the inputs, none for
/// what is left out or no tensor. Nothing if there is no such body.
std::optional<FunctionBody> bodyOf(const Node &node, int64_t opset,
                                   const std::vector<std::optional<ElementType>> &types);

} // namespace plim::importers
