// From a StableHLO module to the text of a module in upstream dialects: functions, names, regions.
//
// Calls are inlined. Throws ImportError that begins with "line:column: ". Not for several threads.
#pragma once

#include "importers/emit/Emitter.h"
#include "importers/stablehlo/Module.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plim::importers::stablehlo {

/// What the names of a region stand for; those of an inner region are looked for outside too.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}
  const Values *find(std::string_view name) const;
  bool define(std::string_view name, Values given) {
    return values.emplace(name, std::move(given)).second;
  }

private:
  const Scope *outer;
  std::unordered_map<std::string_view, Values> values;
};

/// The text, and the constants that it names instead of having them.
struct ImportedModule {
  std::string text;
  std::vector<TensorPtr> parameters;
};

class Importer {
public:
  /// Borrows both: `text` is what the module was parsed from.
  Importer(const Module &module, std::string_view text) : module(module), text(text) {}

  /// Imports each function that is not private. Once.
  ImportedModule run();

  // For operations with regions and calls.

  /// Emits the region where the emitter is, and gives what it returns.
  Values runRegion(const Region &region, const Values &arguments);
  /// Emits the body of a function.
  Values runFunction(const std::string &name, const Values &arguments);
  /// The elements of a resource.
  TensorPtr resource(const std::string &key, const Type &type) const;
  /// A tensor of a type that has no open extents.
  Value argument(const Type &type, const std::string &name);

private:
  Values runBlock(const Region &region, const Values &arguments, const Scope *outer);
  void runOperation(const Operation &operation, Scope &scope);
  Values inputsOf(const Operation &operation, const Scope &scope);
  void checkResult(const Operation &operation, size_t i, Value &value);
  std::string runMain(const Function &function);
  void enter();

  const Module &module;
  std::string_view text;
  Emitter emit;
  const Scope *current = nullptr; // around the operation that is being imported
  int depth = 0;
  int64_t visited = 0; // operations, each as often as it is run
};

} // namespace plim::importers::stablehlo
