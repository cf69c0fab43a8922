// Elements by their order. Each is a section of https://openxla.org/stablehlo/spec under its name.
#include "importers/emit/Sorting.h"
#include "importers/stablehlo/Operator.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace plim::importers::stablehlo {

namespace {

bool areSame(const Attribute &a, const Attribute &b) {
  if (a.kind == Attribute::Kind::Type || a.kind == Attribute::Kind::Resource)
    return false; // none is in what is compared
  if (a.kind != b.kind || a.integer != b.integer || a.text != b.text ||
      std::memcmp(&a.real, &b.real, sizeof a.real) != 0 || a.items.size() != b.items.size() ||
      a.fields.size() != b.fields.size() || !a.dense != !b.dense)
    return false;
  if (a.dense && (a.dense->type != b.dense->type || a.dense->shape != b.dense->shape ||
                  !std::ranges::equal(a.dense->bytes, b.dense->bytes)))
    return false;
  return std::ranges::equal(a.items, b.items, areSame) &&
         std::ranges::equal(a.fields, b.fields, [](const auto &x, const auto &y) {
           return x.first == y.first && areSame(x.second, y.second);
         });
}

/// A comparator that computes the same of an element of both sides and compares that: it has a key.
class KeyedComparator {
public:
  /// None if `region` is another comparator, or not seen to be one.
  static std::optional<KeyedComparator> find(Operator &op, const Region &region) {
    KeyedComparator result(region);
    return result.read(op) ? std::optional(std::move(result)) : std::nullopt;
  }

  /// The operand that it looks at.
  size_t operand() const { return *pair; }

  Key key(Operator &op) const {
    const Key inOrder = isTotal ? totalOrder(op.emit, how) : numbersFirst(op.emit, how);
    return [this, &op, inOrder](const Scalar &x) {
      Scalars elements;
      for (const Value &input : op.inputs)
        for (int side = 0; side < 2; ++side)
          elements.push_back(&input == &op.inputs[*pair] ? x : op.emit.number(input.type, 0));
      return inOrder(callOnElements(op, ofOneSide, elements, {x.type})[0]);
    };
  }

private:
  explicit KeyedComparator(const Region &region) : ofOneSide(region) {}

  bool read(Operator &op) {
    const std::vector<Operation> &operations = ofOneSide.operations;
    if (operations.empty() || operations.size() > mostOperations ||
        !returnsTruth(operations.back()))
      return false;
    const Operation *compare = definitionOf(operations.back().operands[0]);
    if (!compare || compare->name != "stablehlo.compare" || compare->operands.size() != 2 ||
        compare->results.size() != 1)
      return false;
    const Operator comparison(op.importer, op.emit, *compare, Values());
    const std::string direction = comparison.word("comparison_direction", "");
    const std::string type = comparison.word("compare_type", "");
    if ((direction != "LT" && direction != "GT") || type == "WEAKORDER")
      return false;
    isTotal = type == "TOTALORDER";
    const Use own = compare->operands[0];
    if (!mirror(own, compare->operands[1]) || !pair)
      return false;
    const Operation *of = definitionOf(own);
    if (of && (own.number >= of->resultTypes.size() ||
               of->resultTypes[own.number].element != op.inputs[*pair].type))
      return false;
    how = (direction == "LT") == isFirst ? Compare::Less : Compare::Greater;
    ofOneSide.operations.back().operands = {own};
    ofOneSide.operations.back().operandTypes.clear();
    return true;
  }

  static bool returnsTruth(const Operation &last) {
    if (last.name != "stablehlo.return" || last.operands.size() != 1 ||
        last.operands[0].number != 0 || last.operandTypes.size() > 1)
      return false;
    return std::ranges::all_of(last.operandTypes, [](const Type &type) {
      return type.kind == Type::Kind::Tensor && type.element == ElementType::I1 &&
             type.shape.empty();
    });
  }

  static bool areSameTypes(const std::vector<Type> &a, const std::vector<Type> &b) {
    return std::ranges::equal(a, b, [](const Type &x, const Type &y) {
      return x.kind == Type::Kind::Tensor && y.kind == x.kind && x.element == y.element &&
             x.shape == y.shape;
    });
  }

  std::optional<size_t> argumentOf(const Use &use) const {
    for (size_t i = 0; i < ofOneSide.arguments.size(); ++i)
      if (ofOneSide.arguments[i].name == use.name)
        return i;
    return std::nullopt;
  }

  const Operation *definitionOf(const Use &use) const {
    for (const Operation &operation : ofOneSide.operations)
      for (const auto &[name, count] : operation.results)
        if (name == use.name)
          return &operation;
    return nullptr;
  }

  /// Is `a` computed from the elements of one side as `b` is from those of the other side?
  bool mirror(const Use &a, const Use &b) {
    const std::optional<size_t> i = argumentOf(a), j = argumentOf(b);
    if (i || j) {
      if (!i || !j || *i == *j || *i / 2 != *j / 2 || (pair && *pair != *i / 2) ||
          (pair && isFirst != (*i % 2 == 0)))
        return false;
      pair = *i / 2;
      isFirst = *i % 2 == 0;
      return true;
    }
    const Operation *x = definitionOf(a), *y = definitionOf(b);
    if (a.number != b.number || (!x && !y))
      return a.number == b.number && a.name == b.name;
    if (!x || !y || x->name != y->name || !x->regions.empty() || !y->regions.empty() ||
        !areSameTypes(x->resultTypes, y->resultTypes))
      return false;
    if (!seen.emplace(x, y).second)
      return true; // or what asked first finds that it is not
    return x->results.size() == 1 && y->results.size() == 1 &&
           std::ranges::equal(x->attributes, y->attributes,
                              [](const auto &m, const auto &n) {
                                return m.first == n.first && areSame(m.second, n.second);
                              }) &&
           std::ranges::equal(x->operands, y->operands,
                              [this](const Use &m, const Use &n) { return mirror(m, n); });
  }

  /// What frameworks write has some twenty for each operand.
  static constexpr size_t mostOperations = 256;

  Region ofOneSide; // gives what is compared
  Compare how = Compare::Less;
  bool isTotal = false;
  std::optional<size_t> pair; // the operand whose elements are looked at
  std::set<std::pair<const Operation *, const Operation *>> seen; // looked at already
  bool isFirst = true; // does the first of both stand on the left of the comparison?
};

void sort(Operator &op) {
  Emitter &e = op.emit;
  const Region &comparator = op.region(0);
  const int64_t rank = op.input(0).rank();
  int64_t axis = op.integer("dimension", -1);
  axis = axis < 0 ? axis + rank : axis;
  checkAxes({axis}, rank, "dimension");
  for (const Value &input : op.inputs) {
    checkSameShape(op.input(0), input);
    e.use(input);
  }
  if (comparator.arguments.size() != 2 * op.inputs.size())
    invalid("its region needs " + std::to_string(2 * op.inputs.size()) + " arguments");
  if (e.count(op.input(0)).is(0))
    return void(op.outputs = op.inputs);
  if (const std::optional<KeyedComparator> keyed = KeyedComparator::find(op, comparator)) {
    const Value order = orderOf(e, op.inputs[keyed->operand()], axis, keyed->key(op));
    for (const Value &input : op.inputs)
      op.give(inOrder(e, input, axis, order));
    return;
  }
  op.outputs = sorted(e, op.inputs, axis, [&](const Scalars &a, const Scalars &b) {
    Scalars elements;
    for (size_t i = 0; i < a.size(); ++i) {
      elements.push_back(a[i]);
      elements.push_back(b[i]);
    }
    return callOnElements(op, comparator, elements, {ElementType::I1})[0];
  });
}

} // namespace

const OperationTable &sorting() {
  static const OperationTable table{{"stablehlo.sort", {sort, 1, any}}};
  return table;
}

} // namespace plim::importers::stablehlo
