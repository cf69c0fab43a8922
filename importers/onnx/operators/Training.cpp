// Steps of optimisers, of the domain ai.onnx.preview.training. Each stands on
// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_NAME.html.
#include "importers/onnx/Operator.h"

#include <cmath>

namespace plim::importers {

namespace {

/// Inputs: rate, step, then of each tensor a group: all tensors, all gradients, all of each state.
struct Step {
  Operator &op;
  Emitter &e;
  size_t groups, count;
  Scalar rate, turn;

  Step(Operator &op, size_t groups)
      : op(op), e(op.emit), groups(groups), count((op.inputs.size() - 2) / groups) {
    rate = e.only(op.input(0));
    turn = e.convert(e.only(op.input(1)), rate.type);
  }
  const Value &of(size_t group, size_t i) { return op.input(2 + group * count + i); }
  Scalar number(double value) { return e.number(rate.type, value); }
  /// The gradient with the norm's share.
  Scalar regularised(const Scalar &gradient, const Scalar &x) {
    return e.add(gradient, e.mul(number(op.real("norm_coefficient", 0)), x));
  }
  template <typename Make> Value each(const Values &operands, Make make) {
    return e.elementwise(operands[0].type, operands, make);
  }
};

void adagrad(Operator &op) {
  Step s(op, 3);
  Emitter &e = op.emit;
  const Scalar rate =
      e.div(s.rate, e.add(s.number(1), e.mul(s.turn, s.number(op.real("decay_factor", 0)))));
  for (size_t i = 0; i < s.count; ++i) {
    const Value &x = s.of(0, i), &g = s.of(1, i), &h = s.of(2, i);
    const Value next = s.each({h, g, x}, [&](const Scalars &in) {
      const Scalar gradient = s.regularised(in[1], in[2]);
      return e.add(in[0], e.mul(gradient, gradient));
    });
    op.set(i, s.each({x, g, next}, [&](const Scalars &in) {
      const Scalar root = e.add(e.math("sqrt", {in[2]}), s.number(op.real("epsilon", 1e-6)));
      return e.sub(in[0], e.div(e.mul(rate, s.regularised(in[1], in[0])), root));
    }));
    op.set(s.count + i, next);
  }
}

void momentum(Operator &op) {
  Step s(op, 3);
  Emitter &e = op.emit;
  const Scalar alpha = s.number(op.real("alpha", 0));
  const Scalar first = e.compare(Compare::Equal, s.turn, s.number(0));
  const Scalar beta = e.select(first, s.number(1), s.number(op.real("beta", 0)));
  const bool nesterov = op.choice("mode", {"standard", "nesterov"}) == "nesterov";
  for (size_t i = 0; i < s.count; ++i) {
    const Value &x = s.of(0, i), &g = s.of(1, i), &v = s.of(2, i);
    const Value next = s.each({v, g, x}, [&](const Scalars &in) {
      return e.add(e.mul(alpha, in[0]), e.mul(beta, s.regularised(in[1], in[2])));
    });
    op.set(i, s.each({x, g, next}, [&](const Scalars &in) {
      const Scalar step =
          nesterov ? e.add(s.regularised(in[1], in[0]), e.mul(alpha, in[2])) : in[2];
      return e.sub(in[0], e.mul(s.rate, step));
    }));
    op.set(s.count + i, next);
  }
}

void adam(Operator &op) {
  Step s(op, 4);
  Emitter &e = op.emit;
  const double alpha = op.real("alpha", 0.9), beta = op.real("beta", 0.999);
  const Scalar one = s.number(1), first = e.compare(Compare::Equal, s.turn, s.number(0));
  const Scalar bias = e.div(e.math("sqrt", {e.sub(one, e.math("powf", {s.number(beta), s.turn}))}),
                            e.sub(one, e.math("powf", {s.number(alpha), s.turn})));
  const Scalar rate = e.select(first, s.rate, e.mul(s.rate, bias));
  for (size_t i = 0; i < s.count; ++i) {
    const Value &x = s.of(0, i), &g = s.of(1, i), &v = s.of(2, i), &h = s.of(3, i);
    auto blended = [&](const Value &old, double factor, bool square) {
      return s.each({old, g, x}, [&](const Scalars &in) {
        Scalar gradient = s.regularised(in[1], in[2]);
        if (square)
          gradient = e.mul(gradient, gradient);
        return e.add(e.mul(s.number(factor), in[0]), e.mul(s.number(1 - factor), gradient));
      });
    };
    const Value velocity = blended(v, alpha, false), spread = blended(h, beta, true);
    op.set(i, s.each({x, velocity, spread}, [&](const Scalars &in) {
      const Scalar root = e.add(e.math("sqrt", {in[2]}), s.number(op.real("epsilon", 1e-6)));
      const Scalar moved = e.sub(in[0], e.div(e.mul(rate, in[1]), root));
      const double post = op.real("norm_coefficient_post", 0);
      return post == 0 ? moved : e.mul(s.number(1 - post), moved);
    }));
    op.set(s.count + i, velocity);
    op.set(2 * s.count + i, spread);
  }
}

} // namespace

const OperatorTable &training() {
  static const OperatorTable table{{"Adagrad", adagrad}, {"Adam", adam}, {"Momentum", momentum}};
  return table;
}

} // namespace plim::importers
