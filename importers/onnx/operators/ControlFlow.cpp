// Sub-graphs: If, Loop, Scan. Each stands on https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Importer.h"
#include "importers/onnx/Operator.h"

#include <algorithm>

namespace plim::importers {

namespace {

constexpr int64_t maxUnrolled = 1024;

/// What both can be: the same, with extents left open where they differ.
Value joined(const Value &a, const Value &b) {
  if (a.kind != Value::Kind::Tensor || b.kind != Value::Kind::Tensor)
    unsupported("a sequence that only a run knows");
  if (a.type != b.type || a.rank() != b.rank())
    unsupported("a value has another type or rank in each branch or turn");
  Value out = a;
  for (size_t i = 0; i < out.dims.size(); ++i)
    if (!sameExtent(a.dims[i], b.dims[i]))
      out.dims[i] = {};
  return out;
}

/// The values with those types, and "yield" of them.
void yield(Emitter &e, Values values, const Values &like) {
  for (size_t i = 0; i < values.size(); ++i) {
    Scalars dims = values[i].dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (!like[i].dims[d].known)
        dims[d] = like[i].dims[d];
    values[i] = e.withDims(values[i], dims);
  }
  e.line("scf.yield" + (values.empty() ? "" : " " + e.names(values) + " : " + e.types(values)));
}

std::string countSuffix(size_t count) { return count > 1 ? ":" + std::to_string(count) : ""; }

/// Is it that one, of what may be constants besides?
bool isOnly(const Graph &graph, const std::string &name) {
  size_t others = 0;
  bool found = false;
  for (const Node &node : graph.nodes) {
    found |= node.domain.empty() && node.op == name;
    others += node.op != "Constant";
  }
  return found && others == 1;
}

void branch(Operator &op) {
  Emitter &e = op.emit;
  Importer &importer = op.importer;
  const Graph &then = *op.graph("then_branch"), &otherwise = *op.graph("else_branch");
  const Value &condition = op.input(0);
  if (const auto known = e.known(condition)) {
    op.outputs = importer.runGraph((*known)[0] ? then : otherwise, {});
    op.outputs.resize(op.node.outputs.size());
    return;
  }
  const std::string test = e.use(e.only(condition));
  // What PyTorch's exporter makes of squeeze(dim) where only a call knows the extent. The rank
  // would depend on it; models rely on the one that they were traced with.
  if (isOnly(then, "Squeeze") && isOnly(otherwise, "Identity")) {
    e.line("cf.assert " + test + ", " +
           stringLiteral("'" + op.node.outputs.at(0) +
                         "' of the model has a rank that depends on the call: only the branch that "
                         "squeezes is supported"));
    op.outputs = importer.runGraph(then, {});
    op.outputs.resize(op.node.outputs.size());
    return;
  }
  Values first, second, like;
  std::string a = e.region([&] { first = importer.runGraph(then, {}); });
  std::string b = e.region([&] { second = importer.runGraph(otherwise, {}); });
  if (first.size() != second.size())
    invalid("its branches have different numbers of outputs");
  for (size_t i = 0; i < first.size(); ++i)
    like.push_back(joined(first[i], second[i]));
  // Extents that a branch computes are not known outside.
  for (Value &value : like)
    for (Scalar &dim : value.dims)
      if (!dim.known)
        dim = {};
  a += e.region([&] { yield(e, first, like); });
  b += e.region([&] { yield(e, second, like); });
  const std::string name = e.freshName();
  e.line(name + countSuffix(like.size()) + " = scf.if " + test + " -> (" + e.types(like) + ") {");
  e.raw(a);
  e.line("} else {");
  e.raw(b);
  e.line("}");
  op.outputs = e.results(name, like);
  op.outputs.resize(op.node.outputs.size());
}

bool hasSequence(const Values &values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value &value) { return value.kind != Value::Kind::Tensor; });
}

/// With another dimension in front, for what each turn gives.
Value stacked(Emitter &e, const Value &value) {
  Scalars dims = value.dims;
  dims.insert(dims.begin(), e.index(1));
  return e.reshape(value, dims);
}

/// One turn after the other, at import.
void unrolled(Operator &op, const Graph &body, int64_t turns, Values carried) {
  Emitter &e = op.emit;
  const size_t count = carried.size();
  std::vector<Values> scans(op.node.outputs.size() - std::min(count, op.node.outputs.size()));
  for (int64_t i = 0; i < turns; ++i) {
    Values inputs{e.scalar(e.index(i)),
                  e.constant(makeTensor(ElementType::I1, {}, {std::byte{1}}))};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    Values outputs = op.importer.runGraph(body, inputs);
    if (outputs.size() < count + 1)
      invalid("its body has too few outputs");
    const auto goes = e.known(outputs[0]);
    if (!goes)
      unsupported("sequences, or shapes that change, in a loop whose end only a run knows");
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<long>(count));
    for (size_t k = 0; k < scans.size(); ++k)
      scans[k].push_back(stacked(e, outputs.at(1 + count + k)));
    if (!(*goes)[0])
      break;
  }
  op.outputs = carried;
  for (Values &scan : scans)
    op.outputs.push_back(scan.empty() ? Value() : e.concatenate(scan, 0));
  op.outputs.resize(op.node.outputs.size());
}

/// Does the sub-graph hand its condition on as it is, or as true?
bool alwaysContinues(const Graph &body) {
  const std::string &name = body.outputs.at(0).name;
  if (body.inputs.size() > 1 && name == body.inputs[1].name)
    return true;
  for (const Node &node : body.nodes)
    if (!node.outputs.empty() && node.outputs[0] == name)
      return node.op == "Identity" && body.inputs.size() > 1 &&
             node.inputs.at(0) == body.inputs[1].name;
  return false;
}

/// What a turn of a loop hands to the next: its number, whether there is one, and tensors whose types stay.
struct Turns {
  Scalar turn, goes;
  Values values;
};

/// Turns while the condition holds, as an scf.while.
Turns turnsWhile(Emitter &e, const Turns &initial,
                 const std::function<Scalar(const Turns &)> &condition,
                 const std::function<Turns(const Turns &)> &body) {
  std::string types = "i64, i1", arguments, blockArguments;
  auto namesOf = [&](const Turns &turns) {
    const std::string scalars = e.use(turns.turn) + ", " + e.use(turns.goes);
    return scalars + (turns.values.empty() ? "" : ", " + e.names(turns.values));
  };
  auto fresh = [&] {
    Turns out{{ElementType::I64, e.freshName(), {}}, {ElementType::I1, e.freshName(), {}}, {}};
    for (const Value &value : initial.values)
      out.values.push_back(e.argument(value));
    return out;
  };
  const Turns before = fresh(), after = fresh();
  arguments = before.turn.name + " = " + e.use(initial.turn) + ", " + before.goes.name + " = " +
              e.use(initial.goes);
  blockArguments = after.turn.name + ": i64, " + after.goes.name + ": i1";
  for (size_t i = 0; i < initial.values.size(); ++i) {
    const std::string type = e.type(initial.values[i]);
    types += ", " + type;
    arguments += ", " + before.values[i].name + " = " + e.use(initial.values[i]);
    blockArguments += ", " + after.values[i].name + ": " + type;
  }
  const std::string test = e.region([&] {
    const std::string holds = e.use(condition(before));
    e.line("scf.condition(" + holds + ") " + namesOf(before) + " : " + types);
  });
  const std::string work = e.region([&] {
    Turns in = after;
    for (Value &value : in.values)
      value = e.results(value.name, {value})[0];
    Turns out = body(in);
    for (size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = e.withDims(out.values[i], initial.values[i].dims);
    e.line("scf.yield " + namesOf(out) + " : " + types);
  });
  const std::string name = e.freshName();
  e.line(name + ":" + std::to_string(initial.values.size() + 2) + " = scf.while (" + arguments +
         ") : (" + types + ") -> (" + types + ") {");
  e.raw(test);
  e.line("} do {");
  e.line("^bb0(" + blockArguments + "):");
  e.raw(work);
  e.line("}");
  Turns out{{ElementType::I64, name + "#0", {}}, {ElementType::I1, name + "#1", {}}, {}};
  for (size_t i = 0; i < initial.values.size(); ++i)
    out.values.push_back(e.results(name + "#" + std::to_string(i + 2), {initial.values[i]})[0]);
  return out;
}

/// The value with extents that stay open where `like` leaves them open.
Value openAs(Emitter &e, const Value &value, const Value &like) {
  Scalars dims = value.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!like.dims[d].known)
      dims[d] = {};
  return e.withDims(value, dims);
}

/// A tensor of so many turns, with what one of them gave.
Value withTurn(Emitter &e, const Value &all, const Value &one, const Scalar &turn) {
  Scalars place(all.dims.size(), e.index(0));
  place[0] = turn;
  for (size_t d = 0; d < one.dims.size(); ++d)
    if (!sameExtent(one.dims[d], all.dims[d + 1]))
      e.require(e.compare(Compare::Equal, one.dims[d], all.dims[d + 1]),
                "turns of a loop give different shapes");
  return e.insert(stacked(e, one), all, place);
}

/// An scf.while. What the turns give is written into tensors that have room for some of them; around the loop is another
/// one, each of whose turns makes them twice as large. Where only a turn tells the shape, it has the first one of them.
void loop(Operator &op) {
  Emitter &e = op.emit;
  const Graph &body = *op.graph("body");
  if (body.inputs.size() < 2 || body.outputs.empty())
    invalid("its body needs the turn and the condition");
  Values carried = op.inputs.from(2);
  const size_t count = carried.size();
  if (body.inputs.size() != count + 2 || body.outputs.size() < count + 1)
    invalid("its body does not fit its inputs");
  const auto turns = op.has(0) ? e.known(op.inputs[0]) : std::nullopt;
  const auto starts = op.has(1) ? e.known(op.inputs[1]) : Numbers{1};
  if (hasSequence(carried)) {
    if (!turns || !starts || !(*starts)[0] || (*turns)[0] > maxUnrolled)
      unsupported("sequences in a loop whose end only a run knows");
    return unrolled(op, body, (*turns)[0], carried);
  }
  const size_t scans = body.outputs.size() - 1 - count;
  // What the body gives, until the types of what is carried stay as they are.
  Values like = carried, scanLike;
  // The body that is written has extents of its own, also where none changes.
  auto forgetNames = [](Value &value) {
    for (Scalar &dim : value.dims)
      if (!dim.known)
        dim = {};
  };
  for (Value &value : like) {
    e.use(value);
    forgetNames(value);
  }
  bool sequenceInside = false;
  for (int round = 0;; ++round) {
    Values outputs;
    e.region([&] {
      Values inputs{e.tensor(ElementType::I64, {}, e.freshName()),
                    e.tensor(ElementType::I1, {}, e.freshName())};
      for (Value &value : like)
        inputs.push_back(e.argument(value));
      for (size_t i = 0; i < like.size(); ++i)
        for (Scalar &dim : inputs[i + 2].dims)
          if (!dim.known && dim.name.empty())
            dim.name = e.freshName();
      outputs = op.importer.runGraph(body, inputs);
    });
    if (hasSequence(outputs)) {
      sequenceInside = true;
      break;
    }
    Values next;
    bool stays = true;
    for (size_t i = 0; i < count; ++i) {
      next.push_back(joined(like[i], outputs[i + 1]));
      stays &= e.type(next[i]) == e.type(like[i]);
      forgetNames(next[i]);
    }
    scanLike.assign(outputs.begin() + 1 + static_cast<long>(count), outputs.end());
    like = next;
    if (stays)
      break;
    if (round > 8)
      unsupported("the shapes of what the loop carries do not settle");
  }
  if (sequenceInside) {
    if (!turns || !starts || !(*starts)[0] || (*turns)[0] > maxUnrolled)
      unsupported("sequences in a loop whose end only a run knows");
    return unrolled(op, body, (*turns)[0], carried);
  }
  const Scalar limit =
      op.has(0) ? e.convert(e.only(op.inputs[0]), ElementType::I64) : e.highest(ElementType::I64);
  const Scalar goes = op.has(1) ? e.only(op.inputs[1]) : e.truth(true);
  Turns start{e.integer(ElementType::I64, 0), goes, {}};
  for (size_t i = 0; i < count; ++i)
    start.values.push_back(openAs(e, carried[i], like[i]));
  e.use(limit);
  auto holds = [&](const Turns &in) {
    return e.both(e.compare(Compare::Less, in.turn, limit), in.goes);
  };
  Values given; // by the last turn
  auto turn = [&](const Turns &in) {
    Values inputs{e.scalar(in.turn), e.scalar(in.goes)};
    inputs.insert(inputs.end(), in.values.begin(), in.values.begin() + static_cast<long>(count));
    const Values outputs = op.importer.runGraph(body, inputs);
    Turns out{e.add(in.turn, e.integer(ElementType::I64, 1)), e.only(outputs[0]), in.values};
    for (size_t i = 0; i < count; ++i)
      out.values[i] = openAs(e, outputs[i + 1], like[i]);
    given = outputs.from(count + 1);
    return out;
  };
  if (scans == 0) {
    op.outputs = turnsWhile(e, start, holds, turn).values;
    op.outputs.resize(op.node.outputs.size());
    return;
  }
  bool isOpen = false; // what a turn gives
  for (const Value &scan : scanLike) {
    Scalars dims{e.index(0)}, open{Scalar()};
    for (const Scalar &dim : scan.dims) {
      dims.push_back(dim.known ? dim : e.index(0));
      open.push_back(dim.known ? dim : Scalar());
      isOpen |= !dim.known;
    }
    start.values.push_back(e.withDims(e.fill(dims, e.number(scan.type, 0)), open));
  }
  const bool isSure = goes.is(1) && alwaysContinues(body); // that all turns run
  const Scalar most = e.convert(limit, ElementType::Index);
  const Turns end = turnsWhile(e, start, holds, [&](const Turns &in) {
    const Scalar done = e.convert(in.turn, ElementType::Index);
    const Scalar twice = e.max(e.mul(done, e.index(2)), e.index(8));
    const Scalar room = isSure ? e.max(most, e.index(1)) : e.min(most, twice);
    Turns now = isOpen ? turn(in) : in;
    for (size_t k = 0; k < scans; ++k) {
      const Value &so = in.values[count + k];
      Scalars dims = isOpen ? given[k].dims : scanLike[k].dims;
      for (size_t d = 0; isOpen && d < dims.size(); ++d)
        e.require(e.either(e.compare(Compare::Equal, done, e.index(0)),
                           e.compare(Compare::Equal, dims[d], so.dims[d + 1])),
                  "turns of a loop give different shapes");
      dims.insert(dims.begin(), room);
      const Scalars front(dims.size(), e.index(0));
      const Value all = e.insert(so, e.unset(so.type, dims), front);
      now.values[count + k] =
          openAs(e, isOpen ? withTurn(e, all, given[k], done) : all, start.values[count + k]);
    }
    const Scalar last = e.convert(room, ElementType::I64);
    e.use(last);
    return turnsWhile(
        e, now,
        [&](const Turns &next) {
          return e.both(holds(next), e.compare(Compare::Less, next.turn, last));
        },
        [&](const Turns &next) {
          Turns out = turn(next);
          for (size_t k = 0; k < scans; ++k)
            out.values[count + k] = withTurn(e, next.values[count + k], given[k],
                                             e.convert(next.turn, ElementType::Index));
          return out;
        });
  });
  op.outputs = end.values;
  for (size_t k = 0; k < scans; ++k)
    op.outputs[count + k] =
        e.sliceAxis(end.values[count + k], 0, e.index(0), e.convert(end.turn, ElementType::Index));
  op.outputs.resize(op.node.outputs.size());
}

void loopOrUnrolled(Operator &op) {
  Emitter &e = op.emit;
  const Graph &body = *op.graph("body");
  const auto turns = op.has(0) ? e.known(op.inputs[0]) : std::nullopt;
  const auto starts = op.has(1) ? e.known(op.inputs[1]) : Numbers{1};
  // A few turns that surely run are unrolled: shapes may change then.
  if (turns && starts && (*starts)[0] && (*turns)[0] > 0 && (*turns)[0] <= 8 &&
      !body.outputs.empty() && alwaysContinues(body))
    return unrolled(op, body, (*turns)[0], op.inputs.from(2));
  loop(op);
}

/// Slices of some inputs, a turn each, and what is carried; the turns' results are stacked.
void scan(Operator &op) {
  Emitter &e = op.emit;
  const Graph &body = *op.graph("body");
  const auto scanned = static_cast<size_t>(op.integer("num_scan_inputs", 1));
  const bool batched = op.opset < 9;
  Values inputs = op.inputs;
  if (batched) {
    if (op.has(0))
      unsupported("with lengths of sequences");
    inputs.erase(inputs.begin());
  }
  if (scanned > inputs.size() || body.inputs.size() != inputs.size())
    invalid("its body does not fit its inputs");
  const size_t states = inputs.size() - scanned;
  if (body.outputs.size() < states)
    invalid("its body has too few outputs");
  const size_t results = body.outputs.size() - states;
  auto listOf = [&](const char *name, size_t count) {
    Numbers out = op.integers(name, Numbers(count, 0));
    if (out.size() != count)
      invalid(std::string(name) + " has " + std::to_string(out.size()) + " numbers, not " +
              std::to_string(count));
    return out;
  };
  Numbers axes = listOf("scan_input_axes", scanned);
  const Numbers backwards = listOf(batched ? "directions" : "scan_input_directions", scanned);
  Numbers outAxes = listOf("scan_output_axes", results);
  const Numbers outBackwards = listOf("scan_output_directions", results);

  auto scanOver = [&](const Values &from) {
    for (size_t k = 0; k < scanned; ++k)
      axes[k] = Operator::axisOf(axes[k], from[states + k].rank());
    const Scalar turns = from[states].dims[static_cast<size_t>(axes[0])];
    const Values initial(from.begin(), from.begin() + static_cast<long>(states));
    auto turn = [&](const Scalar &i, const Values &state) {
      Values arguments = state;
      for (size_t k = 0; k < scanned; ++k)
        arguments.push_back(e.pick(from[states + k], axes[k],
                                   backwards[k] ? e.sub(e.sub(turns, e.index(1)), i) : i));
      return op.importer.runGraph(body, arguments);
    };
    Values carried = initial, like;
    for (const Value &value : from)
      e.use(value);
    e.region([&] { like = turn(e.index(0), initial); });
    for (size_t k = 0; k < results; ++k) {
      Value &value = like[states + k];
      Scalars dims = value.dims;
      for (const Scalar &dim : dims)
        if (!dim.known && std::none_of(from.begin(), from.end(), [&](const Value &v) {
              return std::any_of(v.dims.begin(), v.dims.end(),
                                 [&](const Scalar &d) { return sameExtent(d, dim); });
            }))
          unsupported("results of a shape that only its body knows");
      const int64_t axis = Operator::axisOf(outAxes[k], value.rank() + 1);
      outAxes[k] = axis;
      dims.insert(dims.begin() + axis, turns);
      carried.push_back(e.fill(dims, e.number(value.type, 0)));
    }
    return e.loop(turns, carried, [&](const Scalar &i, const Values &in) {
      Values outputs = turn(i, Values(in.begin(), in.begin() + static_cast<long>(states)));
      for (size_t k = 0; k < results; ++k) {
        const Value &whole = in[states + k];
        const auto axis = static_cast<size_t>(outAxes[k]);
        Scalars offsets(whole.dims.size(), e.index(0)), one = outputs[states + k].dims;
        offsets[axis] = outBackwards[k] ? e.sub(e.sub(turns, e.index(1)), i) : i;
        one.insert(one.begin() + static_cast<long>(axis), e.index(1));
        outputs[states + k] = e.insert(e.reshape(outputs[states + k], one), whole, offsets);
      }
      return outputs;
    });
  };
  if (!batched) {
    op.outputs = scanOver(inputs);
    op.outputs.resize(op.node.outputs.size());
    return;
  }
  // Before opset 9 everything had a batch in front.
  const Scalar batch = inputs.at(0).dims.at(0);
  if (!batch.known || *batch.known > maxUnrolled)
    unsupported("a batch whose size is not known");
  std::vector<Values> parts(op.node.outputs.size());
  for (int64_t b = 0; b < *batch.known; ++b) {
    Values one;
    for (const Value &input : inputs)
      one.push_back(e.pick(input, 0, e.index(b)));
    const Values outputs = scanOver(one);
    for (size_t k = 0; k < parts.size(); ++k)
      parts[k].push_back(stacked(e, outputs.at(k)));
  }
  for (size_t k = 0; k < parts.size(); ++k)
    op.set(k, e.concatenate(parts[k], 0));
}

} // namespace

const OperatorTable &controlFlow() {
  static const OperatorTable table{{"If", branch}, {"Loop", loopOrUnrolled}, {"Scan", scan}};
  return table;
}

} // namespace plim::importers
