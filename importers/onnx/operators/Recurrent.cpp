// Recurrent layers. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Products.h"

#include <algorithm>

namespace plim::importers {

namespace {

/// An activation by its name, as the attribute `activations` has it.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;
};

Scalar applied(Emitter &e, const Activation &f, const Scalar &x) {
  const ElementType t = x.type;
  auto number = [&](double value) { return e.number(t, value); };
  if (f.name == "Sigmoid")
    return e.div(number(1), e.add(number(1), e.math("exp", {e.neg(x)})));
  if (f.name == "Tanh")
    return e.math("tanh", {x});
  if (f.name == "Relu")
    return e.max(x, number(0));
  if (f.name == "Affine")
    return e.add(e.mul(number(f.alpha), x), number(f.beta));
  if (f.name == "LeakyRelu")
    return e.select(e.compare(Compare::Less, x, number(0)), e.mul(number(f.alpha), x), x);
  if (f.name == "ThresholdedRelu")
    return e.select(e.compare(Compare::GreaterEqual, x, number(f.alpha)), x, number(0));
  if (f.name == "ScaledTanh")
    return e.mul(number(f.alpha), e.math("tanh", {e.mul(number(f.beta), x)}));
  if (f.name == "HardSigmoid")
    return e.min(number(1), e.max(number(0), e.add(e.mul(number(f.alpha), x), number(f.beta))));
  if (f.name == "Elu")
    return e.select(e.compare(Compare::Less, x, number(0)),
                    e.mul(number(f.alpha), e.math("expm1", {x})), x);
  if (f.name == "Softsign")
    return e.div(x, e.add(number(1), e.abs(x)));
  if (f.name == "Softplus")
    return e.add(e.max(x, number(0)), e.math("log1p", {e.math("exp", {e.neg(e.abs(x))})}));
  unsupported("activation '" + f.name + "'");
}

double defaultAlpha(const std::string &name) {
  return name == "LeakyRelu" ? 0.01 : name == "HardSigmoid" ? 0.2 : 1;
}

/// Of all directions; attributes that give numbers give them to those that take some, in their order.
std::vector<Activation> activationsOf(Operator &op, const std::vector<std::string> &otherwise,
                                      size_t directions) {
  std::vector<std::string> names = op.texts("activations");
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  if (names.size() != otherwise.size() * directions)
    invalid("activations has " + std::to_string(names.size()) + " names");
  const Reals alphas = op.reals("activation_alpha"), betas = op.reals("activation_beta");
  std::vector<Activation> out;
  size_t a = 0, b = 0;
  for (const std::string &name : names) {
    const bool takesBeta = name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
    const bool takesAlpha =
        takesBeta || name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu";
    Activation f{name, defaultAlpha(name),
                 name == "HardSigmoid"  ? 0.5
                 : name == "ScaledTanh" ? 1.0
                                        : 0.0};
    if (takesAlpha && a < alphas.size())
      f.alpha = alphas[a++];
    if (takesBeta && b < betas.size())
      f.beta = betas[b++];
    out.push_back(f);
  }
  return out;
}

/// What the three kinds of layers share: operands of one direction, and the loop over time.
class Layer {
public:
  Layer(Operator &op, size_t gates, size_t states, const std::vector<std::string> &otherwise)
      : op(op), e(op.emit), gates(gates), states(states) {
    x = op.input(0);
    w = op.input(1);
    r = op.input(2);
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
      invalid("X, W and R must have rank 3");
    byBatch = op.opset >= 14 && op.integer("layout", 0) != 0;
    if (byBatch)
      x = e.transpose(x, {1, 0, 2});
    const std::string direction = op.choice("direction", {"forward", "reverse", "bidirectional"});
    backwards = direction == "reverse"         ? std::vector<bool>{true}
                : direction == "bidirectional" ? std::vector<bool>{false, true}
                                               : std::vector<bool>{false};
    functions = activationsOf(op, otherwise, backwards.size());
    hidden = r.dims[2];
    batch = x.dims[1];
    time = x.dims[0];
  }

  /// The step of one time: gates' sums of the input, and the states.
  using Step = std::function<Values(size_t direction, const Value &input, const Values &states)>;

  void run(const Step &step) {
    Values all;
    std::vector<Values> last(states);
    for (size_t d = 0; d < backwards.size(); ++d) {
      Values initial;
      for (size_t s = 0; s < states; ++s) {
        const size_t input = 5 + s;
        Value start = op.has(input) ? op.input(input) : Value();
        if (start && byBatch)
          start = e.transpose(start, {1, 0, 2});
        initial.push_back(start ? e.pick(start, 0, e.index(static_cast<int64_t>(d)))
                                : e.fill({batch, hidden}, e.number(x.type, 0)));
        Scalars dims{batch, hidden};
        initial.back() = e.withDims(initial.back(), dims);
      }
      initial.push_back(e.fill({time, batch, hidden}, e.number(x.type, 0)));
      // The product with the inputs of all times at once.
      const Value weights = e.transpose(part(w, d), {1, 0});
      Value sums = product(e, x, weights);
      e.use(sums);
      const bool hasLengths = op.has(4);
      if (hasLengths)
        e.use(op.input(4));
      const Values end = e.loop(time, initial, [&](const Scalar &i, const Values &in) {
        const Scalar t = backwards[d] ? e.sub(e.sub(time, e.index(1)), i) : i;
        const Values before(in.begin(), in.begin() + static_cast<long>(states));
        Values after = step(d, e.pick(sums, 0, t), before);
        Value shown = after[0];
        if (hasLengths) {
          // What is behind the end of a sequence changes nothing, and shows as zero.
          auto kept = [&](const Value &fresh, const Value &old) {
            return e.generate(x.type, {batch, hidden}, [&](const Scalars &at) {
              const Scalar length = e.convert(e.at(op.input(4), {at[0]}), ElementType::Index);
              return e.select(e.compare(Compare::Less, t, length), e.at(fresh, at),
                              old ? e.at(old, at) : e.number(x.type, 0));
            });
          };
          shown = kept(after[0], Value());
          for (size_t s = 0; s < states; ++s)
            after[s] = kept(after[s], before[s]);
        }
        const Value one = e.reshape(shown, {e.index(1), batch, hidden});
        after.push_back(e.insert(one, in[states], {t, e.index(0), e.index(0)}));
        return after;
      });
      all.push_back(e.reshape(end[states], {time, e.index(1), batch, hidden}));
      for (size_t s = 0; s < states; ++s)
        last[s].push_back(e.reshape(end[s], {e.index(1), batch, hidden}));
    }
    Value y = e.concatenate(all, 1);
    op.set(0, byBatch ? e.transpose(y, {2, 0, 1, 3}) : y);
    for (size_t s = 0; s < states; ++s) {
      const Value final = e.concatenate(last[s], 0);
      op.set(1 + s, byBatch ? e.transpose(final, {1, 0, 2}) : final);
    }
  }

  /// Of one direction.
  Value part(const Value &value, size_t direction) {
    return e.pick(value, 0, e.index(static_cast<int64_t>(direction)));
  }
  /// The part of one gate along the last dimension.
  Value gate(const Value &sums, size_t k) {
    return e.sliceAxis(sums, sums.rank() - 1, e.mul(e.index(static_cast<int64_t>(k)), hidden),
                       hidden);
  }
  /// The bias of one gate: that of the input, or of the state; zero if there is none.
  Value bias(size_t direction, size_t k) {
    if (!op.has(3))
      return e.fill({hidden}, e.number(x.type, 0));
    const Value all = part(op.input(3), direction);
    return e.sliceAxis(all, 0, e.mul(e.index(static_cast<int64_t>(k)), hidden), hidden);
  }
  /// The state times the weights of all gates.
  Value recurrent(size_t direction, const Value &state) {
    return product(e, state, e.transpose(part(r, direction), {1, 0}));
  }
  Scalar clipped(const Scalar &sum) {
    const double clip = op.real("clip", 0);
    return clip > 0 ? e.max(e.number(sum.type, -clip), e.min(e.number(sum.type, clip), sum)) : sum;
  }
  Scalar activated(size_t direction, size_t k, const Scalar &sum) {
    const size_t each = functions.size() / backwards.size();
    return applied(e, functions[direction * each + k], clipped(sum));
  }

  Operator &op;
  Emitter &e;
  size_t gates, states;
  Value x, w, r;
  bool byBatch = false;
  std::vector<bool> backwards;
  std::vector<Activation> functions;
  Scalar hidden, batch, time;
};

void rnn(Operator &op) {
  Layer layer(op, 1, 1, {"Tanh"});
  Emitter &e = op.emit;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Values operands{input, layer.recurrent(d, states[0]), layer.bias(d, 0), layer.bias(d, 1)};
    return {e.elementwise(layer.x.type, operands, [&](const Scalars &in) {
      return layer.activated(d, 0, e.add(e.add(in[0], in[1]), e.add(in[2], in[3])));
    })};
  });
}

void gru(Operator &op) {
  Layer layer(op, 3, 1, {"Sigmoid", "Tanh"});
  Emitter &e = op.emit;
  const ElementType type = layer.x.type;
  const bool resetLast = op.integer("linear_before_reset", 0) != 0;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Value &h = states[0], sums = layer.recurrent(d, h);
    auto gate = [&](size_t k) { // update 0, reset 1
      return e.elementwise(
          type, {layer.gate(input, k), layer.gate(sums, k), layer.bias(d, k), layer.bias(d, k + 3)},
          [&](const Scalars &in) {
            return layer.activated(d, 0, e.add(e.add(in[0], in[1]), e.add(in[2], in[3])));
          });
    };
    const Value update = gate(0), reset = gate(1);
    Value inner = layer.gate(sums, 2);
    if (!resetLast) {
      const Value scaled =
          e.elementwise(type, {reset, h}, [&](const Scalars &in) { return e.mul(in[0], in[1]); });
      inner = layer.gate(layer.recurrent(d, scaled), 2);
    }
    return {e.elementwise(
        type, {layer.gate(input, 2), inner, layer.bias(d, 2), layer.bias(d, 5), reset, update, h},
        [&](const Scalars &in) {
          Scalar fromState = e.add(in[1], in[3]);
          if (resetLast)
            fromState = e.mul(in[4], fromState);
          const Scalar fresh = layer.activated(d, 1, e.add(e.add(in[0], in[2]), fromState));
          const Scalar rest = e.sub(e.number(type, 1), in[5]);
          return e.add(e.mul(rest, fresh), e.mul(in[5], in[6]));
        })};
  });
}

void lstm(Operator &op) {
  Layer layer(op, 4, 2, {"Sigmoid", "Tanh", "Tanh"});
  Emitter &e = op.emit;
  const ElementType type = layer.x.type;
  const bool coupled = op.integer("input_forget", 0) != 0;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Value sums = layer.recurrent(d, states[0]);
    const Value &c = states[1];
    auto peephole = [&](size_t k) { // input, output, forget
      if (!op.has(7))
        return e.fill({layer.hidden}, e.number(type, 0));
      return e.sliceAxis(layer.part(op.input(7), d), 0,
                         e.mul(e.index(static_cast<int64_t>(k)), layer.hidden), layer.hidden);
    };
    auto gate = [&](size_t k, size_t function, const Value &cell, const Value &peep) {
      return e.elementwise(type,
                           {layer.gate(input, k), layer.gate(sums, k), layer.bias(d, k),
                            layer.bias(d, k + 4), cell, peep},
                           [&](const Scalars &in) {
                             const Scalar sum = e.add(e.add(in[0], in[1]), e.add(in[2], in[3]));
                             return layer.activated(d, function, e.add(sum, e.mul(in[4], in[5])));
                           });
    };
    const Value none = e.fill({layer.hidden}, e.number(type, 0));
    // Of the weights' gates: input 0, output 1, forget 2, cell 3.
    const Value i = gate(0, 0, c, peephole(0)), fresh = gate(3, 1, c, none);
    const Value forget =
        coupled ? e.elementwise(type, {i},
                                [&](const Scalars &in) { return e.sub(e.number(type, 1), in[0]); })
                : gate(2, 0, c, peephole(2));
    const Value cell = e.elementwise(type, {forget, c, i, fresh}, [&](const Scalars &in) {
      return e.add(e.mul(in[0], in[1]), e.mul(in[2], in[3]));
    });
    const Value o = gate(1, 0, cell, peephole(1));
    const size_t each = layer.functions.size() / layer.backwards.size();
    const Value h = e.elementwise(type, {o, cell}, [&](const Scalars &in) {
      return e.mul(in[0], applied(e, layer.functions[d * each + 2], in[1]));
    });
    return {h, cell};
  });
}

} // namespace

const OperatorTable &recurrent() {
  static const OperatorTable table{{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};
  return table;
}

} // namespace plim::importers
