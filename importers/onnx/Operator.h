// What the function of an operator gets: its node, its inputs, and the emitter. And the table of
// these functions.
//
// A function reads inputs and attributes, emits, and sets outputs. What it does not support it
// refuses with ImportError; the importer puts the node in front. Functions of one family share a
// file in operators/.
#pragma once

#include "importers/emit/Emitter.h"
#include "importers/emit/Error.h"
#include "importers/onnx/Model.h"

#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace plim::importers {

class Importer;

class Operator {
public:
  Operator(Importer &importer, Emitter &emitter, const Node &node, int64_t opset, Values inputs)
      : importer(importer), emit(emitter), node(node), opset(opset), inputs(std::move(inputs)),
        outputs(node.outputs.size()) {}

  Importer &importer; // for sub-graphs
  Emitter &emit;
  const Node &node;
  int64_t opset; // of the node's domain
  Values inputs;
  Values outputs;

  /// Is the input there, and not left out?
  bool has(size_t i) const { return i < inputs.size() && bool(inputs[i]); }
  /// A tensor; refuses one that is missing.
  const Value &input(size_t i) const;
  /// Does the node name this output? Others need not be set.
  bool wants(size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }
  void set(size_t output, Value value);

  // Attributes by name, `otherwise` for one that is not given; one of another kind is an
  // ImportError.

  bool hasAttribute(const std::string &name) const { return node.attributes.count(name) != 0; }
  int64_t integer(const std::string &name, int64_t otherwise) const;
  double real(const std::string &name, double otherwise) const;
  std::string text(const std::string &name, const std::string &otherwise) const;
  /// One of those, the first one if it is not given; refuses others.
  std::string choice(const std::string &name, std::initializer_list<const char *> choices) const;
  Numbers integers(const std::string &name, Numbers otherwise = {}) const;
  Reals reals(const std::string &name, Reals otherwise = {}) const;
  std::vector<std::string> texts(const std::string &name) const;
  /// Refuses a node that has others: for operators that are newer than libonnx.
  void onlyAttributes(std::initializer_list<std::string_view> names) const;
  const std::shared_ptr<const Graph> &graph(const std::string &name) const;

  /// From -rank..rank-1 to 0..rank-1; refuses others.
  static int64_t axisOf(int64_t axis, int64_t rank);
  /// An attribute that names an axis of a tensor of that rank.
  int64_t axis(int64_t otherwise, int64_t rank) const {
    return axisOf(integer("axis", otherwise), rank);
  }

private:
  const Attribute *find(const std::string &name, Attribute::Kind kind) const;
};

using OperatorFunction = void (*)(Operator &);
using OperatorTable = std::map<std::string_view, OperatorFunction>;

/// An operator that libonnx does not know: what its nodes may have stands beside its function.
struct DescribedOperator {
  OperatorFunction function;
  size_t inputs, mostInputs, mostOutputs;
  std::string_view attributes; // their names, with ! behind those that must be there
};

using DescribedTable = std::map<std::string_view, DescribedOperator>;

constexpr size_t anyNumber = std::numeric_limits<size_t>::max();

/// Its function; refuses a node that has what it has not.
OperatorFunction checkedFunction(const Node &node, const DescribedOperator &known);

// One for each file of operators/. The names are those of ONNX's own domain.
const OperatorTable &activations();
const OperatorTable &arithmetic();
const OperatorTable &columns();
const OperatorTable &controlFlow();
const OperatorTable &convolutions();
const OperatorTable &indexing();
const OperatorTable &logic();
const OperatorTable &normalisations();
const OperatorTable &pooling();
const OperatorTable &products();
const OperatorTable &quantisation();
const OperatorTable &recurrent();
const OperatorTable &reductions();
const OperatorTable &resizing();
const OperatorTable &sequences();
const OperatorTable &shapes();
const OperatorTable &signals();
const OperatorTable &sorting();
const OperatorTable &sources();
const OperatorTable &spatial();
const OperatorTable &text();
const OperatorTable &training();

// Of ONNX's own domain too, but newer than what libonnx knows.
const DescribedTable &attentions();
const DescribedTable &newerArithmetic();
const DescribedTable &newerIndexing();
const DescribedTable &newerSignals();
const DescribedTable &states();

/// The function of an operator of ONNX's own domain, or none.
OperatorFunction findOperator(const std::string &name);
/// That of one that is newer, or none. Refuses a node that has what its operator has not.
OperatorFunction findNewerOperator(const Node &node);

/// Refuses what `what` names in a model of an older opset.
void needOpset(const Operator &op, int64_t least, const std::string &what);

/// A function of an operator that is there since an opset, and what it says in a model of an older one.
template <int64_t Opset, void (*Function)(Operator &)> void since(Operator &op) {
  needOpset(op, Opset, "this operator");
  Function(op);
}

/// An attribute that counts something: from 1 to 2^31.
int64_t countOf(const Operator &op, const char *attribute, int64_t otherwise = 0);

/// An attribute that is 0 or 1.
bool flag(const Operator &op, const char *attribute, bool otherwise);

} // namespace plim::importers
