#include "importers/stablehlo/Operator.h"

#include "importers/stablehlo/Importer.h"

#include <algorithm>
#include <utility>

namespace plim::importers::stablehlo {

const Region &Operator::region(size_t i) const {
  if (i >= operation.regions.size())
    invalid("it has " + std::to_string(operation.regions.size()) + " regions, not " +
            std::to_string(i + 1));
  return operation.regions[i];
}

const Type &Operator::resultType(size_t i) const {
  if (i >= operation.resultTypes.size() || operation.resultTypes[i].kind != Type::Kind::Tensor)
    invalid("its result must be a tensor");
  return operation.resultTypes[i];
}

Scalars Operator::knownDims(const Type &type) const {
  Scalars out;
  for (int64_t extent : type.shape) {
    if (extent == open)
      unsupported("the extents of its result must be known");
    out.push_back(emit.index(extent));
  }
  return out;
}

const Attribute *Operator::find(const std::string &name) const {
  const auto found = operation.attributes.find(name);
  return found == operation.attributes.end() ? nullptr : &found->second;
}

int64_t Operator::integer(const std::string &name) const {
  const Attribute *attribute = find(name);
  if (!attribute)
    invalid("its attribute '" + name + "' is missing");
  const Numbers numbers = numbersOf(*attribute);
  if (numbers.size() != 1)
    invalid("its attribute '" + name + "' must be a number");
  return numbers[0];
}

int64_t Operator::integer(const std::string &name, int64_t otherwise) const {
  return has(name) ? integer(name) : otherwise;
}

double Operator::real(const std::string &name) const {
  const Attribute *attribute = find(name);
  if (!attribute ||
      (attribute->kind != Attribute::Kind::Real && attribute->kind != Attribute::Kind::Integer))
    invalid("its attribute '" + name + "' must be a number");
  return attribute->real;
}

bool Operator::truth(const std::string &name, bool otherwise) const {
  const Attribute *attribute = find(name);
  if (!attribute)
    return otherwise;
  if (attribute->kind == Attribute::Kind::Unit)
    return true;
  const Numbers numbers = numbersOf(*attribute);
  if (numbers.size() != 1)
    invalid("its attribute '" + name + "' must be true or false");
  return numbers[0] != 0;
}

std::string Operator::word(const std::string &name, const std::string &otherwise) const {
  const Attribute *attribute = find(name);
  if (!attribute)
    return otherwise;
  if (attribute->kind != Attribute::Kind::Name && attribute->kind != Attribute::Kind::Text &&
      attribute->kind != Attribute::Kind::Symbol)
    invalid("its attribute '" + name + "' must be a word");
  return attribute->text;
}

Numbers numbersOf(const Attribute &attribute) {
  Numbers out;
  switch (attribute.kind) {
  case Attribute::Kind::Integer:
  case Attribute::Kind::Truth:
    return {attribute.integer};
  case Attribute::Kind::List:
    for (const Attribute &item : attribute.items) {
      const Numbers inner = numbersOf(item);
      out.insert(out.end(), inner.begin(), inner.end());
    }
    return out;
  case Attribute::Kind::Dense: {
    if (!isInteger(attribute.dense->type))
      break;
    int64_t count = 1;
    for (int64_t extent : attribute.type.shape)
      count *= extent;
    if (count > 4096)
      break;
    const bool isSplat = attribute.dense->elementCount() == 1;
    for (int64_t i = 0; i < count; ++i)
      out.push_back(attribute.dense->integerAt(isSplat ? 0 : i));
    return out;
  }
  default:
    break;
  }
  invalid("one of its attributes must be made of integers");
}

Numbers numbersOf(const Attribute &fields, const std::string &name) {
  const auto found = fields.fields.find(name);
  return found == fields.fields.end() ? Numbers() : numbersOf(found->second);
}

Numbers Operator::integers(const std::string &name) const {
  const Attribute *attribute = find(name);
  if (!attribute)
    invalid("its attribute '" + name + "' is missing");
  return numbersOf(*attribute);
}

Numbers Operator::integers(const std::string &name, Numbers otherwise) const {
  return has(name) ? integers(name) : std::move(otherwise);
}

Numbers Operator::integers(const std::string &name, size_t count, int64_t otherwise) const {
  const Numbers out = integers(name, Numbers(count, otherwise));
  if (out.size() != count)
    invalid(name + " has " + std::to_string(out.size()) + " numbers, not " + std::to_string(count));
  return out;
}

Axes Operator::axes(const std::string &name, int64_t rank) const {
  const Axes out = integers(name);
  checkAxes(out, rank, name);
  return out;
}

const Attribute &Operator::fields(const std::string &name) const {
  const Attribute *attribute = find(name);
  if (!attribute || attribute->kind != Attribute::Kind::Fields)
    invalid("its attribute '" + name + "' is missing");
  return *attribute;
}

void checkAxes(const Axes &axes, int64_t rank, const std::string &what) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank)
      invalid(what + " has " + std::to_string(axes[i]) + ", which is no dimension of a rank of " +
              std::to_string(rank));
    if (std::find(axes.begin(), axes.begin() + static_cast<long>(i), axes[i]) !=
        axes.begin() + static_cast<long>(i))
      invalid(what + " has " + std::to_string(axes[i]) + " twice");
  }
}

bool contains(const Axes &axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void checkSameType(const Value &a, const Value &b) {
  if (a.type != b.type)
    invalid("its operands have elements of types " + elementText(a.type) + " and " +
            elementText(b.type));
}

void checkSameShape(const Value &a, const Value &b) {
  bool same = a.dims.size() == b.dims.size();
  for (size_t i = 0; same && i < a.dims.size(); ++i)
    same = !a.dims[i].known || !b.dims[i].known || *a.dims[i].known == *b.dims[i].known;
  if (!same)
    invalid("its operands have different shapes: " + tensorType(a.type, a.dims) + " and " +
            tensorType(b.type, b.dims));
}

namespace {

Values asTensors(Emitter &e, const Scalars &elements) {
  Values out;
  for (const Scalar &element : elements)
    out.push_back(e.splat({}, element));
  return out;
}

/// What a region or a function returned, which `who` names.
Scalars asElements(Emitter &e, const Values &results, const std::vector<ElementType> &types,
                   const std::string &who) {
  if (results.size() != types.size())
    invalid(who + " returns " + std::to_string(results.size()) + " values, not " +
            std::to_string(types.size()));
  Scalars out;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind != Value::Kind::Tensor || results[i].rank() != 0 ||
        results[i].type != types[i])
      invalid(who + " must return a tensor<" + elementText(types[i]) + ">");
    out.push_back(e.only(results[i]));
  }
  return out;
}

} // namespace

Scalars callOnElements(Operator &op, const Region &region, const Scalars &elements,
                       const std::vector<ElementType> &types) {
  const Values results = op.importer.runRegion(region, asTensors(op.emit, elements));
  return asElements(op.emit, results, types, "its region");
}

Scalars callOnElements(Operator &op, const std::string &function, const Scalars &elements,
                       const std::vector<ElementType> &types) {
  const Values results = op.importer.runFunction(function, asTensors(op.emit, elements));
  return asElements(op.emit, results, types, "@" + function);
}

Value elementwise(Emitter &emit, ElementType type, const Values &operands,
                  const Emitter::Element &element) {
  // The one whose extents are known best gives them to all; those that only a run knows are asserted to be equal.
  const Value *shape = nullptr;
  for (const Value &operand : operands)
    if (operand.rank() > 0 && !shape)
      shape = &operand;
  Scalars dims = shape ? shape->dims : Scalars();
  for (const Value &operand : operands) {
    if (operand.rank() == 0)
      continue;
    checkSameShape(*shape, operand);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (sameExtent(dims[i], operand.dims[i]))
        continue;
      emit.line("cf.assert " + emit.use(emit.compare(Compare::Equal, dims[i], operand.dims[i])) +
                ", \"shapes of operands differ\"");
      if (!dims[i].known)
        dims[i] = operand.dims[i];
    }
  }
  Values all;
  for (const Value &operand : operands) {
    if (operand.rank() == 0)
      all.push_back(emit.splat(dims, emit.only(operand)));
    else if (sameExtents(operand.dims, dims))
      all.push_back(operand);
    else
      all.push_back(emit.withDims(operand, dims));
  }
  return emit.elementwiseTo(type, dims, all, element);
}

const OperationEntry *findOperation(const std::string &name) {
  static const OperationTable table = [] {
    OperationTable all;
    for (const OperationTable *part :
         {&algebra(), &calls(), &chlo(), &collectives(), &control(), &elementwiseOperations(),
          &fourier(), &indexing(), &moving(), &normalisations(), &products(), &random(),
          &reductions(), &refused(), &sorting(), &windows()})
      all.insert(part->begin(), part->end());
    return all;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

} // namespace plim::importers::stablehlo
