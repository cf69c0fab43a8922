// Recurrent layers. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Activation.h"
#include "importers/onnx/Contrib.h"
#include "importers/onnx/Products.h"
#include "importers/onnx/Quantisation.h"

#include <algorithm>

namespace plim::importers {

namespace {

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
    Activation f = activationOf(name);
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
  Layer(Operator &op, size_t states, const std::vector<std::string> &otherwise,
        bool isQuantised = false)
      : op(op), e(op.emit), isQuantised(isQuantised), states(states) {
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
    hidden = r.dims[isQuantised ? 1 : 2];
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
      Value sums = times(x, prepared(w, d, 8));
      e.use(sums);
      recurrence = prepared(r, d, 10);
      e.use(recurrence.matrix);
      if (isQuantised)
        e.use(recurrence.scale);
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
  /// The state times the weights of all gates, in the direction that runs.
  Value recurrent(const Value &state) { return times(state, recurrence); }
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
  bool isQuantised;
  size_t states;
  Value x, w, r;
  bool byBatch = false;
  std::vector<bool> backwards;
  std::vector<Activation> functions;
  Scalar hidden, batch, time;

private:
  /// Of one direction, as rows are multiplied with them.
  struct Weights {
    Value matrix, scale; // without a scale if they are no integers
  };

  /// Integers lie as they are multiplied, with their scale and their zero point in the inputs from `scale` on.
  Weights prepared(const Value &all, size_t direction, size_t scale) {
    const Value own = part(all, direction);
    if (!isQuantised)
      return {e.transpose(own, {1, 0}), {}};
    return {centred(e, own, part(op.input(scale + 1), direction)),
            part(op.input(scale), direction)};
  }

  /// Rows that meet integers become integers too, with the scale that they need.
  Value times(const Value &rows, const Weights &weights) {
    if (!isQuantised)
      return product(e, rows, weights.matrix);
    const Quantised own = dynamicallyQuantised(e, rows);
    const Value sum = product(e, centred(e, own.value, own.zero), weights.matrix);
    return e.elementwise(x.type, {sum, own.scale, weights.scale}, [&](const Scalars &in) {
      return e.mul(e.convert(in[0], x.type), e.mul(in[1], in[2]));
    });
  }

  Weights recurrence; // of the direction that runs
};

void rnn(Operator &op) {
  Layer layer(op, 1, {"Tanh"});
  Emitter &e = op.emit;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Values operands{input, layer.recurrent(states[0]), layer.bias(d, 0), layer.bias(d, 1)};
    return {e.elementwise(layer.x.type, operands, [&](const Scalars &in) {
      return layer.activated(d, 0, e.add(e.add(in[0], in[1]), e.add(in[2], in[3])));
    })};
  });
}

void gru(Operator &op) {
  Layer layer(op, 1, {"Sigmoid", "Tanh"});
  Emitter &e = op.emit;
  const ElementType type = layer.x.type;
  const bool resetLast = op.integer("linear_before_reset", 0) != 0;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Value &h = states[0], sums = layer.recurrent(h);
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
      inner = layer.gate(layer.recurrent(scaled), 2);
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

void lstmWith(Operator &op, bool isQuantised) {
  Layer layer(op, 2, {"Sigmoid", "Tanh", "Tanh"}, isQuantised);
  Emitter &e = op.emit;
  const ElementType type = layer.x.type;
  const bool coupled = op.integer("input_forget", 0) != 0;
  layer.run([&](size_t d, const Value &input, const Values &states) -> Values {
    const Value sums = layer.recurrent(states[0]);
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

void lstm(Operator &op) { lstmWith(op, false); }

/// ONNX Runtime's (Contrib.h): weights are integers, and so become inputs and states.
void dynamicQuantizeLstm(Operator &op) { lstmWith(op, true); }

} // namespace

const OperatorTable &recurrent() {
  static const OperatorTable table{{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};
  return table;
}

const ContribTable &contribRecurrent() {
  static const ContribTable table{
      {"DynamicQuantizeLSTM",
       {dynamicQuantizeLstm, 12, 12, 3,
        "activation_alpha activation_beta activations clip direction hidden_size input_forget"}}};
  return table;
}

} // namespace plim::importers
