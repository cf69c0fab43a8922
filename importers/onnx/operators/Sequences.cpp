// Sequences and optional values, where their lengths are known at import. Each stands on
// https://onnx.ai/onnx/operators/onnx__NAME.html.
#include "importers/onnx/Importer.h"
#include "importers/onnx/Operator.h"

namespace plim::importers {

namespace {

const Value &sequenceOf(Operator &op, size_t i) {
  if (i >= op.inputs.size() || op.inputs[i].kind != Value::Kind::Sequence)
    invalid("input " + std::to_string(i) + " is no sequence");
  return op.inputs[i];
}

/// A position that is known now, from 0 to `end`.
size_t positionOf(Operator &op, size_t input, size_t end) {
  const auto known = op.emit.known(op.input(input));
  if (!known || known->size() != 1)
    unsupported("a position that only a run knows");
  const auto size = static_cast<int64_t>(end);
  const int64_t at = (*known)[0] < 0 ? (*known)[0] + size : (*known)[0];
  if (at < 0 || at > size)
    invalid("position " + std::to_string((*known)[0]) + " of a sequence of " +
            std::to_string(size));
  return static_cast<size_t>(at);
}

void construct(Operator &op) { op.set(0, op.emit.sequence(op.inputs)); }
void empty(Operator &op) { op.set(0, op.emit.sequence({})); }

void insert(Operator &op) {
  Values items = sequenceOf(op, 0).items;
  const size_t at = op.has(2) ? positionOf(op, 2, items.size()) : items.size();
  items.insert(items.begin() + static_cast<long>(at), op.input(1));
  op.set(0, op.emit.sequence(std::move(items)));
}

void erase(Operator &op) {
  Values items = sequenceOf(op, 0).items;
  if (items.empty())
    invalid("the sequence is empty");
  const size_t at = op.has(1) ? positionOf(op, 1, items.size()) : items.size() - 1;
  if (at >= items.size())
    invalid("position " + std::to_string(at) + " of a sequence of " + std::to_string(items.size()));
  items.erase(items.begin() + static_cast<long>(at));
  op.set(0, op.emit.sequence(std::move(items)));
}

void at(Operator &op) {
  const Values &items = sequenceOf(op, 0).items;
  const size_t position = positionOf(op, 1, items.size());
  if (position >= items.size())
    invalid("position " + std::to_string(position) + " of a sequence of " +
            std::to_string(items.size()));
  op.set(0, items[position]);
}

void length(Operator &op) {
  op.set(0, op.emit.scalar(op.emit.index(static_cast<int64_t>(sequenceOf(op, 0).items.size()))));
}

void splitToSequence(Operator &op) {
  Emitter &e = op.emit;
  const Value &x = op.input(0);
  const int64_t axis = op.axis(0, x.rank());
  const Scalar &extent = x.dims[static_cast<size_t>(axis)];
  if (!extent.known || *extent.known > 4096)
    unsupported("into more than 4096 parts, or as many as only a run knows");
  Scalars sizes;
  bool single = !op.has(1);
  if (op.has(1) && op.input(1).rank() == 1) {
    sizes = e.elements(op.input(1));
  } else {
    int64_t size = 1;
    if (op.has(1)) {
      const auto known = e.known(op.input(1));
      if (!known || (*known)[0] < 1)
        unsupported("into as many parts as only a run knows");
      size = (*known)[0];
    }
    for (int64_t rest = *extent.known; rest > 0; rest -= size)
      sizes.push_back(e.index(std::min(size, rest)));
  }
  Values items;
  Scalar offset = e.index(0);
  for (const Scalar &size : sizes) {
    const bool drops = single && op.integer("keepdims", 1) == 0;
    items.push_back(drops ? e.pick(x, axis, offset) : e.sliceAxis(x, axis, offset, size));
    offset = e.add(offset, size);
  }
  op.set(0, e.sequence(std::move(items)));
}

void concatFromSequence(Operator &op) {
  Emitter &e = op.emit;
  Values items = sequenceOf(op, 0).items;
  if (items.empty())
    invalid("the sequence is empty");
  const bool isNew = op.integer("new_axis", 0) != 0;
  const int64_t axis = Operator::axisOf(op.integer("axis", 0), items[0].rank() + isNew);
  if (isNew)
    for (Value &item : items) {
      Scalars dims = item.dims;
      dims.insert(dims.begin() + axis, e.index(1));
      item = e.reshape(item, dims);
    }
  op.set(0, e.concatenate(items, axis));
}

/// The body for each item; inputs that are no sequences are the same for all.
void map(Operator &op) {
  const Graph &body = *op.graph("body");
  const size_t count = sequenceOf(op, 0).items.size();
  std::vector<Values> results(op.node.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    Values inputs;
    for (const Value &input : op.inputs) {
      if (input.kind == Value::Kind::Sequence && input.items.size() <= i)
        invalid("its sequences have different lengths");
      inputs.push_back(input.kind == Value::Kind::Sequence ? input.items[i] : input);
    }
    const Values outputs = op.importer.runGraph(body, inputs);
    for (size_t k = 0; k < results.size(); ++k)
      results[k].push_back(outputs.at(k));
  }
  for (size_t k = 0; k < results.size(); ++k)
    op.set(k, op.emit.sequence(std::move(results[k])));
}

void optional(Operator &op) {
  if (op.inputs.empty() || !op.inputs[0])
    unsupported("that is empty");
  op.set(0, op.inputs[0]);
}

void optionalHasElement(Operator &op) {
  const bool has = !op.inputs.empty() && op.inputs[0];
  op.set(0, op.emit.ofElements(ElementType::I1, {}, {op.emit.truth(has)}));
}

void optionalGetElement(Operator &op) {
  if (op.inputs.empty() || !op.inputs[0])
    invalid("the optional value is empty");
  op.set(0, op.inputs[0]);
}

} // namespace

const OperatorTable &sequences() {
  static const OperatorTable table{{"SequenceConstruct", construct},
                                   {"SequenceEmpty", empty},
                                   {"SequenceInsert", insert},
                                   {"SequenceErase", erase},
                                   {"SequenceAt", at},
                                   {"SequenceLength", length},
                                   {"SequenceMap", map},
                                   {"SplitToSequence", splitToSequence},
                                   {"ConcatFromSequence", concatFromSequence},
                                   {"Optional", optional},
                                   {"OptionalHasElement", optionalHasElement},
                                   {"OptionalGetElement", optionalGetElement}};
  return table;
}

} // namespace plim::importers
