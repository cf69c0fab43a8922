// ONNX Runtime's convolutions and windows (Contrib.h).
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Windows.h"

namespace plim::importers {

namespace {

/// The activation that a convolution names, with its numbers.
Activation fusedActivation(Operator &op) {
  Activation f = activationOf(op.text("activation", ""));
  const Reals numbers = op.reals("activation_params");
  const size_t most = f.name == "LeakyRelu"                         ? 1
                      : f.name == "Clip" || f.name == "HardSigmoid" ? 2
                                                                    : 0;
  if (numbers.size() > most || (f.name == "Clip" && numbers.size() != 2))
    invalid("activation_params has " + std::to_string(numbers.size()) + " numbers");
  if (!numbers.empty())
    f.alpha = numbers[0];
  if (numbers.size() > 1)
    f.beta = numbers[1];
  return f;
}

/// conv(X, W) + B + Z, then the activation.
template <bool IsLast> void fusedConv(Operator &op) {
  Emitter &e = op.emit;
  Values inputs{op.input(0), op.input(1)};
  if (IsLast)
    inputs[0] = channelsFirst(e, inputs[0]);
  if (op.has(2))
    inputs.push_back(op.input(2));
  Value y = resultOf(op, "Conv", 11, inputs);
  if (op.has(3))
    y = e.elementwise(y.type, {y, IsLast ? channelsFirst(e, op.input(3)) : op.input(3)},
                      [&](const Scalars &in) { return e.add(in[0], in[1]); });
  if (const Activation f = fusedActivation(op); !f.name.empty())
    y = applied(e, f, y);
  op.set(0, IsLast ? channelsLast(e, y) : y);
}

void nhwcMaxPool(Operator &op) {
  Emitter &e = op.emit;
  op.set(0, channelsLast(e, resultOf(op, "MaxPool", 12, {channelsFirst(e, op.input(0))})));
}

/// ONNX's with the padding as an input.
void convTransposeWithDynamicPads(Operator &op) {
  Node node = op.node;
  if (op.has(2)) {
    const auto pads = op.emit.known(op.input(2));
    if (!pads)
      unsupported("with a padding that is not known");
    Attribute &attribute = node.attributes["pads"];
    attribute.kind = Attribute::Kind::Ints;
    attribute.integers = *pads;
  }
  Values inputs{op.input(0), op.input(1)};
  if (op.has(3))
    inputs.push_back(op.input(3));
  Operator inner(op.importer, op.emit, node, 11, inputs);
  findOperator("ConvTranspose")(inner);
  op.set(0, inner.outputs[0]);
}

} // namespace

const ContribTable &contribConvolutions() {
  static const ContribTable table{
      {"FusedConv",
       {fusedConv<false>, 2, 4, 1,
        "activation activation_params auto_pad dilations group kernel_shape pads strides"}},
      {"NhwcFusedConv",
       {fusedConv<true>, 2, 4, 1,
        "activation activation_params auto_pad dilations group kernel_shape pads strides"}},
      {"NhwcConv",
       {fusedConv<true>, 2, 3, 1, "auto_pad dilations group kernel_shape pads strides"}},
      {"ConvTransposeWithDynamicPads",
       {convTransposeWithDynamicPads, 2, 4, 1,
        "auto_pad dilations group kernel_shape output_padding strides"}},
      {"NhwcMaxPool",
       {nhwcMaxPool, 1, 1, 1, "auto_pad ceil_mode dilations kernel_shape! pads strides"}}};
  return table;
}

} // namespace plim::importers
