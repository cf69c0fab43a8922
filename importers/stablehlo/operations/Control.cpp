// Regions, functions and tuples. Each is a section of https://openxla.org/stablehlo/spec
// under its name.
#include "importers/stablehlo/Importer.h"
#include "importers/stablehlo/Operator.h"

#include <algorithm>

namespace plim::importers::stablehlo {

namespace {

/// What a loop carries or a branch gives: tensors, and tensors of one element as plain scalars.
class Carried {
public:
  Carried(Operator &op, const std::vector<Type> &types) : emit(op.emit) {
    for (const Type &type : types)
      like.push_back(op.importer.argument(type, ""));
  }

  size_t size() const { return like.size(); }
  std::string type(size_t i) const {
    return like[i].dims.empty() ? mlirName(like[i].type) : emit.type(like[i]);
  }
  std::string types() const {
    std::string out;
    for (size_t i = 0; i < size(); ++i)
      out += (i ? ", " : "") + type(i);
    return out;
  }
  /// The name of a value that goes in or comes back.
  std::string name(size_t i, const Value &value) const {
    if (value.kind != Value::Kind::Tensor || value.type != like[i].type ||
        value.rank() != like[i].rank())
      invalid("a value of a loop or branch has another type than the result");
    if (like[i].dims.empty())
      return emit.use(emit.only(value));
    Scalars dims = value.dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Scalar &wanted = like[i].dims[d];
      if (wanted.known && dims[d].known && *wanted.known != *dims[d].known)
        invalid("a value of a loop or branch has another shape than the result");
      dims[d] = wanted;
    }
    return emit.use(emit.withDims(value, dims));
  }
  std::string names(const Values &values) const {
    if (values.size() != size())
      invalid("its region returns " + std::to_string(values.size()) + " values, not " +
              std::to_string(size()));
    std::string out;
    for (size_t i = 0; i < size(); ++i)
      out += (i ? ", " : "") + name(i, values[i]);
    return out;
  }
  std::string yielded(const Values &values) const {
    const std::string list = names(values);
    return list.empty() ? "" : " " + list + " : " + types();
  }
  Value value(size_t i, const std::string &name) const {
    if (like[i].dims.empty())
      return emit.splat({}, {like[i].type, name, {}});
    Value one = like[i];
    return emit.results(name, {one})[0];
  }
  Values results(const std::string &name) const {
    Values out;
    for (size_t i = 0; i < size(); ++i)
      out.push_back(value(i, size() == 1 ? name : name + "#" + std::to_string(i)));
    return out;
  }

private:
  Emitter &emit;
  Values like;
};

/// Positions of values that the body of a loop returns unchanged.
std::vector<bool> unchangedOf(const Region &body) {
  std::vector<bool> out(body.arguments.size());
  if (body.operations.empty())
    return out;
  const Operation &end = body.operations.back();
  for (size_t i = 0; i < out.size() && i < end.operands.size(); ++i)
    out[i] = end.operands[i].name == body.arguments[i].name;
  return out;
}

Scalar truthOf(Emitter &e, const Values &values) {
  if (values.size() != 1 || values[0].kind != Value::Kind::Tensor ||
      values[0].type != ElementType::I1 || values[0].rank() != 0)
    invalid("its condition must return a tensor<i1>");
  return e.only(values[0]);
}

void whileLoop(Operator &op) {
  Emitter &e = op.emit;
  const Region &condition = op.region(0), &body = op.region(1);
  const size_t count = op.inputs.size();
  if (op.operation.resultTypes.size() != count || body.arguments.size() != count ||
      condition.arguments.size() != count)
    invalid("its regions do not fit its operands");
  const std::vector<bool> unchanged = unchangedOf(body);
  std::vector<Type> types;
  std::vector<size_t> places; // of what changes
  for (size_t i = 0; i < count; ++i)
    if (!unchanged[i]) {
      types.push_back(op.operation.resultTypes[i]);
      places.push_back(i);
    }
  if (types.empty()) // it never runs, or never ends
    return void(op.outputs = op.inputs);
  const Carried carried(op, types);
  std::vector<std::string> before, after;
  std::string arguments, blockArguments;
  for (size_t k = 0; k < places.size(); ++k) {
    before.push_back(e.freshName());
    after.push_back(e.freshName());
    arguments += (k ? ", " : "") + before[k] + " = " + carried.name(k, op.input(places[k]));
    blockArguments += (k ? ", " : "") + after[k] + ": " + carried.type(k);
  }
  for (size_t i = 0; i < count; ++i)
    if (unchanged[i] && op.inputs[i].kind == Value::Kind::Tensor && !op.inputs[i].splat)
      e.use(op.inputs[i]); // outside of the loop
  auto all = [&](const std::vector<std::string> &names) {
    Values out = op.inputs;
    for (size_t k = 0; k < places.size(); ++k)
      out[places[k]] = carried.value(k, names[k]);
    return out;
  };
  std::string list;
  for (const std::string &name : before)
    list += (list.empty() ? "" : ", ") + name;
  const std::string test = e.region([&] {
    const Scalar holds = truthOf(e, op.importer.runRegion(condition, all(before)));
    e.line("scf.condition(" + e.use(holds) + ") " + list + " : " + carried.types());
  });
  const std::string work = e.region([&] {
    const Values next = op.importer.runRegion(body, all(after));
    if (next.size() != count)
      invalid("its body returns " + std::to_string(next.size()) + " values, not " +
              std::to_string(count));
    Values changed;
    for (size_t place : places)
      changed.push_back(next[place]);
    e.line("scf.yield" + carried.yielded(changed));
  });
  const std::string name = e.freshName();
  e.line(name + (places.size() > 1 ? ":" + std::to_string(places.size()) : "") + " = scf.while (" +
         arguments + ") : (" + carried.types() + ") -> (" + carried.types() + ") {");
  e.raw(test);
  e.line("} do {");
  e.line("^bb0(" + blockArguments + "):");
  e.raw(work);
  e.line("}");
  const Values results = carried.results(name);
  op.outputs = op.inputs;
  for (size_t k = 0; k < places.size(); ++k)
    op.outputs[places[k]] = results[k];
}

/// A value of a region that the next turn or the result takes.
void checkReturned(const Value &value, const Value &like) {
  if (value.kind != Value::Kind::Tensor)
    invalid("its region must return tensors");
  checkSameType(value, like);
  checkSameShape(value, like);
}

/// Slices of the inputs along one dimension, one after the other, with values that each turn hands
/// to the next.
void scan(Operator &op) {
  Emitter &e = op.emit;
  const Region &body = op.region(0);
  const Numbers sizes = op.integers("operandSegmentSizes", 2, 0);
  const size_t all = op.inputs.size(), results = op.operation.resultTypes.size();
  if (sizes[0] < 1 || sizes[1] < 0 || static_cast<size_t>(sizes[0] + sizes[1]) != all ||
      results < static_cast<size_t>(sizes[1]))
    invalid("operandSegmentSizes does not fit its operands and results");
  const auto inputs = static_cast<size_t>(sizes[0]);
  const size_t outputs = results - static_cast<size_t>(sizes[1]);
  const int64_t axis = op.integer("dimension");
  const auto a = static_cast<size_t>(axis);
  for (size_t i = 0; i < inputs; ++i) {
    checkAxes({axis}, op.input(i).rank(), "dimension");
    if (!sameExtent(op.input(i).dims[a], op.input(0).dims[a]))
      invalid("its inputs have different extents along dimension " + std::to_string(axis));
    e.use(op.input(i));
  }
  const Scalar count = op.input(0).dims[a];
  Values initial;
  for (size_t i = 0; i < outputs; ++i) {
    const Type &type = op.resultType(i);
    checkAxes({axis}, static_cast<int64_t>(type.shape.size()), "dimension");
    Scalars dims = op.knownDims(type);
    if (!sameExtent(dims[a], count))
      invalid("a result has another extent along dimension " + std::to_string(axis));
    initial.push_back(e.fill(dims, e.number(type.element, 0)));
  }
  for (size_t i = inputs; i < all; ++i)
    initial.push_back(op.input(i));
  if (count.is(0))
    return void(op.outputs = initial);
  const bool isReverse = op.truth("is_reverse", false);
  op.outputs = e.loop(count, initial, [&](const Scalar &turn, const Values &so) -> Values {
    const Scalar at = isReverse ? e.sub(e.sub(count, e.index(1)), turn) : turn;
    Values arguments, next;
    for (size_t i = 0; i < inputs; ++i)
      arguments.push_back(e.pick(op.input(i), axis, at));
    for (size_t i = outputs; i < results; ++i)
      arguments.push_back(so[i]);
    const Values given = op.importer.runRegion(body, arguments);
    if (given.size() != results)
      invalid("its region returns " + std::to_string(given.size()) + " values, not " +
              std::to_string(results));
    for (size_t i = 0; i < outputs; ++i) {
      Scalars offsets(so[i].dims.size(), e.index(0)), dims = so[i].dims;
      Value slice = so[i];
      slice.dims.erase(slice.dims.begin() + axis);
      checkReturned(given[i], slice);
      offsets[a] = at;
      dims[a] = e.index(1);
      next.push_back(e.insert(e.reshape(given[i], dims), so[i], offsets));
    }
    for (size_t i = outputs; i < results; ++i) {
      checkReturned(given[i], so[i]);
      next.push_back(given[i]);
    }
    return next;
  });
}

/// One of two, of which only that one is computed.
Values choose(Operator &op, const Scalar &condition, const std::function<Values()> &then,
              const std::function<Values()> &otherwise) {
  if (condition.known)
    return *condition.known ? then() : otherwise();
  Emitter &e = op.emit;
  const Carried carried(op, op.operation.resultTypes);
  const std::string test = e.use(condition);
  const std::string first = e.region([&] { e.line("scf.yield" + carried.yielded(then())); });
  const std::string second = e.region([&] { e.line("scf.yield" + carried.yielded(otherwise())); });
  if (carried.size() == 0)
    return {};
  const std::string name = e.freshName();
  e.line(name + (carried.size() > 1 ? ":" + std::to_string(carried.size()) : "") + " = scf.if " +
         test + " -> (" + carried.types() + ") {");
  e.raw(first);
  e.line("} else {");
  e.raw(second);
  e.line("}");
  return carried.results(name);
}

void branch(Operator &op) {
  const Region &then = op.region(0), &otherwise = op.region(1);
  op.outputs = choose(
      op, truthOf(op.emit, {op.input(0)}), [&] { return op.importer.runRegion(then, {}); },
      [&] { return op.importer.runRegion(otherwise, {}); });
}

/// By a number; one that is out of range takes the last.
void caseOf(Operator &op) {
  Emitter &e = op.emit;
  const Value &index = op.input(0);
  if (!isInteger(index.type) || index.rank() != 0)
    invalid("its operand must be an integer");
  const size_t count = op.operation.regions.size();
  if (count == 0)
    invalid("it has no branches");
  // Beyond the branches it is the last one. By halves, so that many branches are not nested deep.
  const Scalar given = e.firstIndex(index), last = e.index(static_cast<int64_t>(count) - 1);
  const Scalar which =
      e.select(e.compare(Compare::Less, given, e.index(0)), last, e.min(given, last));
  const std::function<Values(size_t, size_t)> among = [&](size_t low, size_t high) -> Values {
    if (high - low == 1)
      return op.importer.runRegion(op.region(low), {});
    const size_t middle = low + (high - low) / 2;
    return choose(
        op, e.compare(Compare::Less, which, e.index(static_cast<int64_t>(middle))),
        [&] { return among(low, middle); }, [&] { return among(middle, high); });
  };
  op.outputs = among(0, count);
}

void call(Operator &op) { op.outputs = op.importer.runFunction(op.word("callee", ""), op.inputs); }

/// By its decomposition.
void composite(Operator &op) {
  op.outputs = op.importer.runFunction(op.word("decomposition", ""), op.inputs);
}

void tuple(Operator &op) { op.give(op.emit.sequence(op.inputs)); }

void getTupleElement(Operator &op) {
  const Value &all = op.input(0);
  const int64_t index = op.integer("index");
  if (all.kind != Value::Kind::Sequence || index < 0 ||
      index >= static_cast<int64_t>(all.items.size()))
    invalid("its operand has no element " + std::to_string(index));
  op.give(all.items[static_cast<size_t>(index)]);
}

void passOn(Operator &op) { op.outputs = op.inputs; }
void token(Operator &op) { op.give(Value()); }

} // namespace

const OperationTable &control() {
  static const OperationTable table{
      {"chlo.scan", {scan, 1, any}},
      {"func.call", {call, 0, any}},
      {"sdy.propagation_barrier", {passOn, 1, 1}},
      {"sdy.reshard", {passOn, 1, 1}},
      {"sdy.sharding_constraint", {passOn, 1, 1}},
      {"stablehlo.after_all", {token, 0, any}},
      {"stablehlo.case", {caseOf, 1, 1}},
      {"stablehlo.composite", {composite, 0, any}},
      {"stablehlo.create_token", {token, 0, 0}},
      {"stablehlo.get_tuple_element", {getTupleElement, 1, 1}},
      {"stablehlo.if", {branch, 1, 1}},
      {"stablehlo.optimization_barrier", {passOn, 0, any}},
      {"stablehlo.tuple", {tuple, 0, any}},
      {"stablehlo.while", {whileLoop, 0, any}},
  };
  return table;
}

} // namespace plim::importers::stablehlo
