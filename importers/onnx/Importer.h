// From a model to the text of a module: names, nodes, sub-graphs and functions.
//
// Throws ImportError. Not for several threads.
#pragma once

#include "importers/emit/Emitter.h"
#include "importers/onnx/Model.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace plim::importers {

/// What the names of a graph stand for; those of an inner graph are looked for outside too.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}
  const Value *find(const std::string &name) const;
  /// Refuses a name that is there already in this graph.
  void define(const std::string &name, Value value);

private:
  const Scope *outer;
  std::map<std::string, Value> values;
};

struct ImportedModel {
  std::string text; // of the module
  std::vector<TensorPtr> parameters;
  std::vector<std::string> inputNames, outputNames;
};

class Importer {
public:
  explicit Importer(const Model &model) : model(model) {}

  /// A module with one function, "main".
  ImportedModel run();

  // For operators with sub-graphs.

  /// Runs a sub-graph where the emitter is, with these values for its inputs; names that it lacks are those of the graph
  /// around the node that is being imported.
  Values runGraph(const Graph &graph, const Values &inputs);
  /// Its inputs may have names only.
  static size_t inputCount(const Graph &graph) { return graph.inputs.size(); }

private:
  void enter();
  void runNodes(const std::vector<Node> &nodes, Scope &scope, const Opsets &opsets);
  void runNode(const Node &node, Scope &scope, const Opsets &opsets);
  Values runFunction(const FunctionBody &body, const Node &node, const Values &inputs);
  int64_t opsetOf(const std::string &domain, const Opsets &opsets) const;
  Value declareInput(const ValueInfo &input, std::string &signature);
  std::string returnValues(const Graph &graph, const Scope &scope, std::vector<std::string> &names,
                           std::string &types);

  const Model &model;
  Emitter emit;
  std::map<std::string, Scalar> extents; // by name
  std::set<std::string> argumentNames;
  const Scope *current = nullptr; // around the node that is being imported
  const Opsets *currentOpsets = nullptr;
  int depth = 0;       // of functions and sub-graphs; after an error nobody asks
  int64_t visited = 0; // nodes, each as often as it is run
};

} // namespace plim::importers
