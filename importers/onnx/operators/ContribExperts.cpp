// ONNX Runtime's mixtures of experts (Contrib.h): each token goes through a few of many layers.
#include "importers/onnx/Activation.h"
#include "importers/onnx/Blocks.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Normalisation.h"

namespace plim::importers {

namespace {

/// One of the layers of all experts: the weights of an expert, [N, K], and the input of its biases.
struct ExpertLayer {
  std::function<Value(const Scalar &)> weights; // or none
  size_t bias;
};

/// Which experts a token goes through, and how much each counts: [tokens, k].
struct Route {
  Value experts, shares;
};

/// The greatest of softmax(router); `mixing` are other shares, or none.
Route routeOf(Operator &op, const Value &router, const Value &mixing) {
  Emitter &e = op.emit;
  refuseFlag(op, "use_sparse_mixer");
  const int64_t k = countOf(op, "k", 1);
  if (router.rank() != 2)
    invalid("router_probs of rank " + std::to_string(router.rank()));
  if (router.dims[1].known && *router.dims[1].known < k)
    invalid("k is " + std::to_string(k) + ", of " + std::to_string(*router.dims[1].known) +
            " experts");
  Node node = op.node;
  node.attributes.clear();
  node.outputs = {"values", "indices"};
  const ElementType wide = bitsOf(router.type) < 32 ? ElementType::F32 : router.type;
  Operator best(op.importer, e, node, 11,
                {softmaxOver(e, e.convert(router, wide), 1),
                 e.ofElements(ElementType::I64, {1}, {e.index(k)})});
  findOperator("TopK")(best);
  Route out{best.outputs[1], best.outputs[0]};
  if (mixing) {
    e.use(out.experts);
    e.use(mixing);
    out.shares = e.generate(wide, out.shares.dims, [&](const Scalars &at) {
      const Scalar expert = e.convert(e.at(out.experts, at), ElementType::Index);
      return e.convert(e.at(mixing, {at[0], expert}), wide);
    });
  }
  if (!flag(op, "normalize_routing_weights", false))
    return out;
  const Value sum =
      e.reduce(out.shares, {1}, true, e.number(wide, 0),
               [&](const Scalar &so, const Scalar &element) { return e.add(so, element); });
  out.shares = e.elementwise(wide, {out.shares, sum},
                             [&](const Scalars &in) { return e.div(in[0], in[1]); });
  return out;
}

/// min(g, limit) sigmoid(alpha g) (clamp(l) + beta)
Value swiGlu(Operator &op, const Value &gate, const Value &linear) {
  Emitter &e = op.emit;
  const double alpha = op.real("activation_alpha", 1), beta = op.real("activation_beta", 0);
  return e.elementwise(gate.type, {gate, linear}, [&](const Scalars &in) {
    Scalar g = in[0], l = in[1];
    if (op.hasAttribute("swiglu_limit")) {
      const Scalar limit = e.number(g.type, op.real("swiglu_limit", 0));
      g = e.min(g, limit);
      l = e.max(e.neg(limit), e.min(l, limit));
    }
    return e.mul(swish(e, g, alpha), e.add(l, e.number(g.type, beta)));
  });
}

/// What comes of the first layer, and of the third one if there is one; lists.
Value activated(Operator &op, const Value &first, const Value &third) {
  Emitter &e = op.emit;
  const std::string name =
      op.choice("activation_type", {"relu", "gelu", "silu", "swiglu", "identity"});
  const int64_t fusion = op.integer("swiglu_fusion", 0);
  if (fusion < 0 || fusion > 2)
    invalid("swiglu_fusion is " + std::to_string(fusion) + ", none of 0 to 2");
  if (name == "swiglu") {
    if (fusion == 0) {
      if (!third)
        invalid("fc3_experts_weights is missing");
      return swiGlu(op, first, third);
    }
    const Scalar half = e.div(first.dims[0], e.index(2)), two = e.index(2);
    if (fusion == 1) {
      const Value pairs = e.reshape(first, {half, two});
      return swiGlu(op, e.pick(pairs, 1, e.index(0)), e.pick(pairs, 1, e.index(1)));
    }
    return swiGlu(op, e.sliceAxis(first, 0, e.index(0), half), e.sliceAxis(first, 0, half, half));
  }
  const Value y = e.elementwise(first.type, {first}, [&](const Scalars &in) {
    return name == "relu"   ? e.max(in[0], e.number(in[0].type, 0))
           : name == "gelu" ? gelu(e, in[0], true)
           : name == "silu" ? swish(e, in[0], 1)
                            : in[0];
  });
  return third ? e.elementwise(y.type, {y, third},
                               [&](const Scalars &in) { return e.mul(in[0], in[1]); })
               : y;
}

/// Each token through each of its experts, one after the other, so that only their weights are read.
void mixture(Operator &op, const Route &route, const ExpertLayer &first, const ExpertLayer &second,
             const ExpertLayer &third) {
  Emitter &e = op.emit;
  const Value &input = op.input(0);
  const Scalar zero = e.index(0), hidden = input.dims.back(), tokens = route.experts.dims[0];
  const ElementType type = input.type, wide = bitsOf(type) < 32 ? ElementType::F32 : type;
  const Value rows = e.reshape(input, {tokens, hidden});
  for (const Value *each : {&rows, &route.experts, &route.shares})
    e.use(*each);
  for (const size_t bias : {first.bias, second.bias, third.bias})
    if (op.has(bias))
      e.use(op.input(bias));
  auto through = [&](const ExpertLayer &layer, const Scalar &expert, const Value &x) {
    const Value weights = layer.weights(expert);
    Value sum = e.contract(weights, {0, 1}, x, {1}, {0}, weights.dims, e.number(wide, 0));
    if (!op.has(layer.bias))
      return sum;
    return e.elementwise(wide, {sum, e.pick(op.input(layer.bias), 0, expert)},
                         [&](const Scalars &in) { return e.add(in[0], e.convert(in[1], wide)); });
  };
  const Value start = e.fill({tokens, hidden}, e.number(wide, 0));
  const Value out = e.updateLoop(
      start, {zero, zero}, route.experts.dims, [&](const Value &so, const Scalars &at) {
        const Scalar expert = e.convert(e.at(route.experts, at), ElementType::Index);
        const Scalar share = e.convert(e.at(route.shares, at), wide);
        const Value x = e.pick(rows, 0, at[0]);
        const Value y = activated(op, through(first, expert, x),
                                  third.weights ? through(third, expert, x) : Value());
        const Value mixed =
            e.elementwise(wide, {e.pick(so, 0, at[0]), through(second, expert, e.convert(y, type))},
                          [&](const Scalars &in) { return e.add(in[0], e.mul(share, in[1])); });
        return e.insert(e.reshape(mixed, {e.index(1), hidden}), so, {at[0], zero});
      });
  op.set(0, e.convert(e.reshape(out, input.dims), type));
}

void moe(Operator &op) {
  Emitter &e = op.emit;
  auto layer = [&](size_t weights, size_t bias) {
    const Value &all = op.input(weights);
    if (all.rank() != 3)
      invalid("weights of experts have rank " + std::to_string(all.rank()));
    e.use(all);
    return ExpertLayer{[&e, all](const Scalar &expert) { return e.pick(all, 0, expert); }, bias};
  };
  const ExpertLayer third = op.has(6) ? layer(6, 7) : ExpertLayer{nullptr, 7};
  mixture(op, routeOf(op, op.input(1), Value()), layer(2, 3), layer(4, 5), third);
}

/// With weights of few bits, and a scale for each row of an expert or for each block of one.
void qMoe(Operator &op) {
  Emitter &e = op.emit;
  if (const std::string kind = op.choice("quant_type", {"int", "fp4", "nvfp4", "fp8", "wfp4afp8"});
      kind != "int")
    unsupported("with quant_type = " + kind);
  if (const int64_t layout = op.integer("weights_prepacked", -1); layout != 0 && layout != -1)
    unsupported("with weights_prepacked = " + std::to_string(layout));
  size_t next = 15;
  for (const char *name : {"fc1_global_scale", "fc2_global_scale", "fc1_act_scale", "fc2_act_scale",
                           "fc1_act_block_scale", "fc2_act_block_scale"})
    refuseInput(op, next++, name);
  const int64_t bits = bitsOfWeights(op, "expert_weight_bits");
  const bool hasBlocks = op.integer("block_size", 0) != 0;
  const int64_t size = hasBlocks ? blockSize(op, 0) : 0;
  auto layer = [&](size_t first, size_t zeroInput) {
    const Value &bytes = op.input(first), &scales = op.input(first + 1);
    const Value zeros = op.has(zeroInput) ? op.input(zeroInput) : Value();
    if (bytes.rank() != 3 || scales.rank() != (hasBlocks ? 3 : 2) || !bytes.dims[2].known)
      invalid("weights or scales of experts of other ranks");
    e.use(bytes);
    e.use(scales);
    if (zeros)
      e.use(zeros);
    const int64_t columns = *bytes.dims[2].known * 8 / bits;
    auto weights = [&e, bytes, scales, zeros, bits, columns, size](const Scalar &expert) {
      const Scalar rows = bytes.dims[1], blocks = size ? scales.dims[2] : e.index(1);
      const Value scale = e.reshape(e.pick(scales, 0, expert), {rows, blocks});
      Value zero = e.splat({rows, blocks},
                           e.number(scale.type, static_cast<double>(int64_t(1) << (bits - 1))));
      if (zeros) { // of blocks they stand side by side, else those of several rows in a byte
        const Value own = e.pick(zeros, 0, expert);
        zero = size ? e.sliceAxis(unpacked(e, own, bits), 1, e.index(0), blocks)
                    : e.reshape(unpacked(e, e.reshape(own, {e.index(1), own.dims[0]}), bits),
                                {rows, blocks});
      }
      return ofBlocks(e, unpacked(e, e.pick(bytes, 0, expert), bits), scale, zero,
                      size ? size : columns);
    };
    return ExpertLayer{weights, first + 2};
  };
  const Value mixing = op.has(14) ? op.input(14) : Value();
  const ExpertLayer third = op.has(8) ? layer(8, 13) : ExpertLayer{nullptr, 10};
  mixture(op, routeOf(op, op.input(1), mixing), layer(2, 11), layer(5, 12), third);
}

} // namespace

const ContribTable &contribExperts() {
  static const ContribTable table{
      {"MoE",
       {moe, 5, 8, 1,
        "activation_alpha activation_beta activation_type k normalize_routing_weights "
        "swiglu_fusion swiglu_limit use_sparse_mixer"}},
      {"QMoE",
       {qMoe, 6, 21, 1,
        "accuracy_level activation_alpha activation_beta activation_type block_size "
        "expert_weight_bits k normalize_routing_weights quant_type swiglu_fusion swiglu_limit "
        "use_sparse_mixer weights_prepacked"}}};
  return table;
}

} // namespace plim::importers
