// ONNX Runtime's own operators, of the domain com.microsoft: what their nodes may have, and their functions.
//
// libonnx has no definitions of them, so inputs, outputs and attributes stand beside the functions. Each is described at
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.NAME.
#pragma once

#include "importers/onnx/Operator.h"

namespace plim::importers {

using ContribTable = DescribedTable;

// One for each file of operators/Contrib*.cpp, and for that of recurrent layers.
const ContribTable &contribActivations();
const ContribTable &contribAttention();
const ContribTable &contribBlocks();
const ContribTable &contribConvolutions();
const ContribTable &contribDecoders();
const ContribTable &contribDecoding();
const ContribTable &contribExperts();
const ContribTable &contribNormalisations();
const ContribTable &contribProducts();
const ContribTable &contribQuantisation();
const ContribTable &contribRecurrent();
const ContribTable &contribShapes();
const ContribTable &contribStates();

/// The function of an operator of com.microsoft, or none. Refuses a node that has what its operator has not.
OperatorFunction findContribOperator(const Node &node);

/// An operator that is ONNX's of the same name and of that opset.
template <int64_t Opset> void asOnnx(Operator &op) {
  op.opset = Opset;
  findOperator(op.node.op)(op);
}

/// The first result of ONNX's operator of that name and opset on these inputs, with the attributes of this node.
Value resultOf(Operator &op, const char *name, int64_t opset, Values inputs);

/// Refuses what only some inputs, or attributes other than 0, ask for.
void refuseInput(const Operator &op, size_t input, const char *name);
void refuseFlag(const Operator &op, const char *attribute);

} // namespace plim::importers
