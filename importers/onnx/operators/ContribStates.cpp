// Layers that carry a state from one call to the next: ONNX Runtime's (Contrib.h), and those of them that ONNX has too, since
// opset 27.
#include "importers/emit/Convolution.h"
#include "importers/onnx/Activation.h"
#include "importers/onnx/Attention.h"
#include "importers/onnx/Contrib.h"

#include <cmath>

namespace plim::importers {

namespace {

/// [B, heads, N] as so many times more heads, each of them several times.
Value repeated(Emitter &e, const Value &x, int64_t heads) {
  const int64_t own = x.dims[1].known.value_or(0);
  if (own < 1 || heads % own != 0)
    invalid(std::to_string(own) + " heads do not fit " + std::to_string(heads));
  if (own == heads)
    return x;
  const Scalar one = e.index(1), many = e.index(heads / own);
  const Value apart = e.reshape(x, {x.dims[0], x.dims[1], one, x.dims[2]});
  const Value wide = e.broadcast(apart, {x.dims[0], x.dims[1], many, x.dims[2]});
  return e.reshape(wide, {x.dims[0], e.index(heads), x.dims[2]});
}

/// One token after the other changes a matrix of each head. The matrix fades; then the value of the
/// token's key is added to it, or the difference between that value and what the matrix gives for
/// the key.
void linearAttention(Operator &op) {
  Emitter &e = op.emit;
  refuseFlag(op, "state_window");
  const std::string rule = op.choice("update_rule", {"gated_delta", "linear", "gated", "delta"});
  const bool fades = rule == "gated" || rule == "gated_delta",
             isDelta = rule == "delta" || rule == "gated_delta";
  const int64_t queries = countOf(op, "q_num_heads"), heads = countOf(op, "kv_num_heads");
  const ElementType type = op.input(0).type, wide = bitsOf(type) < 32 ? ElementType::F32 : type;
  const Value q = splitHeads(e, e.convert(op.input(0), wide), queries);
  const Value v = splitHeads(e, e.convert(op.input(2), wide), heads);
  const Scalar batch = q.dims[0], time = q.dims[1], depth = q.dims[3], width = v.dims[3];
  if (!depth.known || !op.input(1).dims.back().known || *depth.known < 1)
    unsupported("with keys whose number is not known");
  const Value k =
      splitHeads(e, e.convert(op.input(1), wide), *op.input(1).dims.back().known / *depth.known);
  // [B, T, heads, elements or 1]
  auto gate = [&](size_t input, const char *name) {
    if (!op.has(input))
      invalid(std::string("the input '") + name + "' is missing");
    const Value &x = op.input(input);
    const bool isOne = x.rank() == 3 && x.dims[2].is(1) && input == 5;
    return splitHeads(e, e.convert(x, wide), isOne ? 1 : heads);
  };
  const Value decay = fades ? gate(4, "decay") : Value(),
              beta = isDelta ? gate(5, "beta") : Value();
  const double given = op.real("scale", 0);
  const Scalar scale =
      e.number(wide, given != 0 ? given : 1 / std::sqrt(static_cast<double>(*depth.known)));
  const Scalar one = e.index(1), zero = e.number(wide, 0);
  const Scalars stateDims{batch, e.index(heads), depth, width};
  const Value start =
      op.has(3) ? e.withDims(e.convert(op.input(3), wide), stateDims) : e.fill(stateDims, zero);
  const int64_t shown = std::max(queries, heads);
  const Scalars outDims{batch, time, e.mul(e.index(shown), width)};
  for (const Value *each : {&q, &k, &v, &decay, &beta})
    if (*each)
      e.use(*each);
  auto sum = [&](const Value &row, const Value &state) { // row times the matrix
    return e.contract(row, {0, 1, 3}, state, {0, 1, 3, 2}, {0, 1, 2},
                      {batch, row.dims[1], width, depth}, zero);
  };
  auto as = [&](const Value &x, const Scalar &rows, const Scalar &columns) {
    return e.reshape(x, {x.dims[0], x.dims[1], rows, columns});
  };
  const Values end =
      e.loop(time, {start, e.fill(outDims, zero)}, [&](const Scalar &t, const Values &in) {
        auto now = [&](const Value &x) { return e.pick(x, 1, t); };
        const Value key = repeated(e, now(k), heads);
        Value state = in[0], fresh = now(v);
        if (fades) {
          const Value gates = now(decay);
          state =
              e.elementwise(wide, {state, as(gates, gates.dims[2], one)},
                            [&](const Scalars &x) { return e.mul(x[0], e.math("exp", {x[1]})); });
        }
        if (isDelta)
          fresh = e.elementwise(wide, {fresh, sum(key, state), now(beta)},
                                [&](const Scalars &x) { return e.mul(x[2], e.sub(x[0], x[1])); });
        state = e.elementwise(wide, {state, as(key, depth, one), as(fresh, one, width)},
                              [&](const Scalars &x) { return e.add(x[0], e.mul(x[1], x[2])); });
        // Several heads of queries read one matrix, or one reads several.
        Value seen = state;
        if (queries > heads) {
          const Value flat = e.reshape(state, {batch, e.index(heads), e.mul(depth, width)});
          seen = e.reshape(repeated(e, flat, queries), {batch, e.index(queries), depth, width});
        }
        const Value row = repeated(e, now(q), shown);
        const Value out = e.elementwise(wide, {sum(row, seen)},
                                        [&](const Scalars &x) { return e.mul(x[0], scale); });
        const Value flat = e.reshape(out, {batch, one, outDims[2]});
        return Values{state, e.insert(flat, in[1], {e.index(0), t, e.index(0)})};
      });
  op.set(0, e.convert(end[1], type));
  op.set(1, e.convert(end[0], op.has(3) ? op.input(3).type : type));
}

/// decay_scale softplus(a + dt_bias), and sigmoid(b).
void linearAttentionGate(Operator &op) {
  Emitter &e = op.emit;
  const Value &a = op.input(0);
  const Activation softplus = activationOf("Softplus");
  op.set(0, e.elementwise(a.type, {a, op.input(1), op.input(2)}, [&](const Scalars &in) {
    const Scalar sum = e.add(e.convert(in[0], in[1].type), in[1]);
    return e.convert(e.mul(in[2], applied(e, softplus, sum)), a.type);
  }));
  if (op.wants(1))
    op.set(1, applied(e, activationOf("Sigmoid"), op.input(3)));
}

/// A convolution of each channel along the last dimension that looks back, also behind what came
/// before.
void causalConvWithState(Operator &op) {
  Emitter &e = op.emit;
  refuseFlag(op, "state_window");
  if (const int64_t n = op.integer("ndim", 1); n != 1)
    unsupported("with ndim = " + std::to_string(n));
  const std::string activation = op.choice("activation", {"none", "silu", "swish"});
  const int64_t dilation = countOf(op, "dilation", 1);
  const bool isLast = flag(op, "channels_last", false);
  const Value &weights = op.input(1);
  if (weights.rank() != 3 || !weights.dims[0].known || !weights.dims[2].known)
    unsupported("with weights whose extents are not known");
  const Scalar channels = weights.dims[0],
               length = e.index((*weights.dims[2].known - 1) * dilation);
  // [B, L, ...] to [B, channels, L], and back.
  auto first = [&](const Value &x) {
    return isLast ? e.transpose(e.reshape(x, {x.dims[0], x.dims[1], channels}), {0, 2, 1}) : x;
  };
  auto back = [&](const Value &x) {
    if (!isLast)
      return x;
    Scalars dims = op.input(0).dims;
    dims[1] = x.dims[2];
    return e.reshape(e.transpose(x, {0, 2, 1}), dims);
  };
  const Value x = first(op.input(0));
  if (x.rank() != 3)
    invalid("the input has rank " + std::to_string(x.rank()));
  const Scalar zero = e.index(0);
  const Value past =
      op.has(3) ? first(op.input(3)) : e.fill({x.dims[0], channels, length}, e.number(x.type, 0));
  const Value all = e.concatenate({past, x}, 2);
  Value y = convolution(e, all, weights, x.type, {{1}, {dilation}}, *channels.known, x.dims);
  if (op.has(2))
    y = e.elementwise(x.type, {y, e.reshape(op.input(2), {channels, e.index(1)})},
                      [&](const Scalars &in) { return e.add(in[0], in[1]); });
  if (activation != "none")
    y = e.elementwise(x.type, {y}, [&](const Scalars &in) { return swish(e, in[0], 1); });
  op.set(0, back(y));
  op.set(1, back(e.sliceAxis(all, 2, x.dims[2], e.max(zero, length))));
}

} // namespace

const ContribTable &contribStates() {
  static const ContribTable table{
      {"LinearAttention",
       {linearAttention, 3, 6, 2,
        "chunk_size kv_num_heads! q_num_heads! scale state_window update_rule"}},
      {"LinearAttentionGate", {linearAttentionGate, 3, 4, 2, ""}},
      {"CausalConvWithState",
       {causalConvWithState, 2, 4, 2, "activation channels_last dilation ndim state_window"}}};
  return table;
}

const DescribedTable &states() {
  static const DescribedTable table{
      {"LinearAttention",
       {since<27, linearAttention>, 3, 6, 2,
        "chunk_size kv_num_heads! q_num_heads! scale update_rule"}},
      {"CausalConvWithState", {since<27, causalConvWithState>, 2, 4, 2, "activation"}}};
  return table;
}

} // namespace plim::importers
