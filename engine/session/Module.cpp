#include "engine/session/State.h"
#include "support/Nearest.h"

namespace plim {

using jit::FunctionSignature;

Module::Module() : state(std::make_unique<State>()) {}
Module::~Module() {
  if (!state->engine)
    return;
  if (state->specializations)
    state->specializations->close();
  Engine::State &engine = *state->engine->state;
  state->keptConstants.clear(); // before another module may have the pools
  engine.release(state->constants);
  // The slabs may have been this module's alone.
  engine.slabs->trim(runtime::MemoryPoolOptions().maxKeptBytes);
}

StatusOr<std::shared_ptr<ModuleState>> Module::createState() const {
  const Engine::State &engine = *state->engine->state;
  return ModuleState::create(state->layout, engine.pool, engine.guarded);
}

Status Module::prepareConstants(const FunctionSignature &preparing) const {
  StatusOr<std::vector<runtime::Value>> called = Function(shared_from_this(), &preparing).call({});
  if (!called.ok())
    return called.status().withContext("preparing the constants of " + state->artifact.source);
  return okStatus();
}

const std::vector<FunctionSignature> &Module::functions() const {
  return state->artifact.functions;
}
bool Module::isLazy() const { return state->deferred != nullptr; }
const std::string &Module::report() const { return state->artifact.report; }
const LoadStatistics &Module::statistics() const { return state->statistics; }
SpecializationStatistics Module::specializationStatistics() const {
  if (state->deferred)
    return state->deferred->specializationStatistics();
  return state->specializations ? state->specializations->statistics() : SpecializationStatistics();
}

StatusOr<Function> Module::lookup(std::string_view name) const {
  std::vector<std::string> names;
  for (const FunctionSignature &function : state->artifact.functions) {
    if (function.name == name)
      return Function(shared_from_this(), &function);
    names.push_back(function.name);
  }
  return notFoundError("no public function '" + std::string(name) + "' in " +
                       state->artifact.source + suggestion(name, names));
}

} // namespace plim
