// What the function of an operation gets: the operation, its inputs, and the emitter. And the table
// of these functions.
//
// A function reads inputs and attributes, emits, and sets outputs; inputs are tensors, as many as
// the table says. The importer compares outputs with the types that are written. What is not
// supported is refused with ImportError; the importer puts the place in front. Functions of one
// family share a file in operations/.
#pragma once

#include "importers/emit/Emitter.h"
#include "importers/emit/Error.h"
#include "importers/stablehlo/Module.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace plim::importers::stablehlo {

class Importer;

class Operator {
public:
  Operator(Importer &importer, Emitter &emitter, const Operation &operation, Values inputs)
      : importer(importer), emit(emitter), operation(operation), inputs(std::move(inputs)) {}

  Importer &importer; // for regions and functions
  Emitter &emit;
  const Operation &operation;
  Values inputs;
  Values outputs;

  const Value &input(size_t i) const { return inputs[i]; }
  void give(Value value) { outputs.push_back(std::move(value)); }
  const Region &region(size_t i) const;
  /// The type of a result that is a tensor.
  const Type &resultType(size_t i) const;
  /// Its extents; refuses open ones.
  Scalars knownDims(const Type &type) const;

  bool has(const std::string &name) const { return operation.attributes.count(name) != 0; }
  int64_t integer(const std::string &name) const;
  int64_t integer(const std::string &name, int64_t otherwise) const;
  double real(const std::string &name) const;
  bool truth(const std::string &name, bool otherwise) const;
  /// A bare word: "LT". Or the string or symbol.
  std::string word(const std::string &name, const std::string &otherwise) const;
  /// A list or a constant; nested ones one after the other.
  Numbers integers(const std::string &name) const;
  Numbers integers(const std::string &name, Numbers otherwise) const;
  /// As many; `otherwise` for each if they are left out.
  Numbers integers(const std::string &name, size_t count, int64_t otherwise) const;
  /// Axes of a tensor of that rank, each at most once.
  Axes axes(const std::string &name, int64_t rank) const;
  /// Those of an attribute that has names for its parts.
  const Attribute &fields(const std::string &name) const;

private:
  const Attribute *find(const std::string &name) const;
};

/// The numbers of a list, a constant or a number.
Numbers numbersOf(const Attribute &attribute);
/// A list of an attribute with parts; empty if it is left out.
Numbers numbersOf(const Attribute &fields, const std::string &name);
/// Refuses what is no axis of that rank, or is there twice.
void checkAxes(const Axes &axes, int64_t rank, const std::string &what);
bool contains(const Axes &axes, int64_t axis);

/// Refuses other types of elements, or other extents as far as they are known.
void checkSameType(const Value &a, const Value &b);
void checkSameShape(const Value &a, const Value &b);
/// Calls a region on single elements and gives those that it returns, whose types must be `types`.
Scalars callOnElements(Operator &op, const Region &region, const Scalars &elements,
                       const std::vector<ElementType> &types);
/// The same with a function of the module.
Scalars callOnElements(Operator &op, const std::string &function, const Scalars &elements,
                       const std::vector<ElementType> &types);
/// Each element of tensors of one shape; a scalar among them is used for all.
Value elementwise(Emitter &emit, ElementType type, const Values &operands,
                  const Emitter::Element &element);

using OperationFunction = void (*)(Operator &);
struct OperationEntry {
  OperationFunction function;
  size_t least = 0, most = 0; // inputs
};
using OperationTable = std::map<std::string_view, OperationEntry>;
constexpr size_t any = 4096; // inputs, as the parser lets through

// One for each file of operations/.
const OperationTable &algebra();
const OperationTable &calls();
const OperationTable &chlo();
const OperationTable &collectives();
const OperationTable &control();
const OperationTable &elementwiseOperations();
const OperationTable &fourier();
const OperationTable &indexing();
const OperationTable &moving();
const OperationTable &normalisations();
const OperationTable &products();
const OperationTable &random();
const OperationTable &reductions();
const OperationTable &refused();
const OperationTable &sorting();
const OperationTable &windows();

/// The entry of an operation by its whole name; null if there is none.
const OperationEntry *findOperation(const std::string &name);

} // namespace plim::importers::stablehlo
