// A link: from an artifact to a module that runs in this process.
#include "engine/session/DataBindings.h"
#include "engine/session/State.h"
#include "targets/host/Host.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace plim {

using jit::FunctionSignature;
using namespace session;

namespace {

/// The part of a triple that decides whether code can run at all.
std::string_view architectureOf(std::string_view triple) {
  return triple.substr(0, triple.find('-'));
}

/// Can this machine run the code, in an engine that is checked or not? FailedPrecondition.
Status checkRuns(const jit::Artifact &artifact, const targets::DeviceDescription &host,
                 bool isChecked) {
  if (!artifact.header.empty())
    return failedPreconditionError("the code of " + artifact.source +
                                   " was exported for a program without an engine");
  if (artifact.isGuarded != isChecked)
    return failedPreconditionError(
        "the code of " + artifact.source + " is " + (artifact.isGuarded ? "" : "not ") +
        "made for looking for faults, and this engine does" + (artifact.isGuarded ? " not" : ""));
  if (architectureOf(artifact.triple) != architectureOf(host.triple))
    return failedPreconditionError("the code of " + artifact.source + " is for '" +
                                   artifact.triple + "' and cannot run on this machine, '" +
                                   host.triple + "'");
  for (const std::string &feature : artifact.requiredFeatures)
    if (!host.hasFeature(feature) && feature != host.scalableVectorFeature())
      return failedPreconditionError("the code of " + artifact.source + " needs '" + feature +
                                     "', which this machine does not have");
  if (jit::usesTiles(artifact) && !targets::requestTiles())
    return failedPreconditionError("the code of " + artifact.source +
                                   " needs tile registers (AMX), which the kernel refuses to this "
                                   "process: an alternate signal "
                                   "stack of one of its threads is too small for them");
  return okStatus();
}

} // namespace

/// A module on its way from an artifact, step by step.
class session::Linking {
public:
  Linking(Engine::State &engine, jit::Artifact &artifact, Module &module)
      : engine(engine), artifact(artifact), module(module), state(*module.state) {}

  /// Says which memory the constants and parameters of the artifact are in.
  Status bindData(Parameters parameters, const Pools &pools) {
    PLIM_ASSIGN_OR_RETURN(bindings, bindParameters(artifact, parameters));
    PLIM_RETURN_IF_ERROR(checkPools(pools, artifact));
    state.parameters = std::move(parameters);
    state.pools = pools;
    std::vector<HostMemory> constants;
    PLIM_ASSIGN_OR_RETURN(pinned, reserveConstants(artifact, state.pools, constants));
    PLIM_RETURN_IF_ERROR(engine.claim(constants));
    state.constants = std::move(constants);
    if (engine.guarded)
      PLIM_RETURN_IF_ERROR(guardData(artifact, bindings, state.guarded.emplace(*engine.guarded)));
    for (const auto &[symbol, address] : pinned) {
      bindings.emplace_back(symbol->name, address);
      state.pinned[symbol->name] = address;
    }
    return okStatus();
  }

  /// Makes the code runnable, with the functions of the host that it calls.
  Status linkCode(const HostFunctions &functions) {
    PLIM_ASSIGN_OR_RETURN(state.externals, engine.bindExternals(artifact, functions));
    PLIM_ASSIGN_OR_RETURN(state.linked,
                          engine.session->link(artifact, bindings, bindingsOf(state.externals)));
    state.devicePools = engine.makeDevicePools(artifact);
    for (const auto &[symbol, address] : pinned)
      std::memcpy(address, contentsOf(artifact, *symbol)->data(),
                  static_cast<size_t>(symbol->bytes));
    for (const jit::StackProof &proof : artifact.stack)
      if (proof.proven > proof.budget)
        engine.options.logger.log(LogLevel::Warning, "'", proof.function, "' of ", artifact.source,
                                  " needs ", proof.proven,
                                  " bytes of stack, more than the budget of ", proof.budget,
                                  "; calls run where a stack has them");
    return okStatus();
  }

  /// Makes the variables, and the constants that are computed or put in another order once.
  Status prepareData() {
    state.pool = artifact.policy == "heap" ? engine.heap : engine.pool;
    state.layout = std::make_shared<const StateLayout>(artifact);
    PLIM_ASSIGN_OR_RETURN(state.variables, module.createState());
    if (const std::vector<ArrangedData> data = arrangedData(artifact, bindings, *state.linked);
        !data.empty()) {
      ProfilerSpan arranging(engine.options.profiler.get(), Profiler::Kind::Load,
                             "arrange constants");
      arrangeInParts(data, state.parameters, engine.parallelFor());
    }
    keepArtifact();
    std::vector<FunctionSignature> &signatures = state.artifact.functions;
    if (!signatures.empty() && signatures.back().prepares) {
      const FunctionSignature preparing = std::move(signatures.back());
      signatures.pop_back();
      PLIM_RETURN_IF_ERROR(module.prepareConstants(preparing));
    }
    if (!state.linked->protectPrepared())
      return unavailableError("cannot protect the constants of " + state.artifact.source);
    state.keptConstants = engine.keepConstants(state.externals, *state.linked);
    return okStatus();
  }

  void makePlanners() {
    for (const FunctionSignature &function : state.artifact.functions)
      if (!function.plan.buffers.empty())
        state.planners[&function] = std::make_unique<CallPlanner>(function);
  }

private:
  /// Without its objects and its data: the linked module has those that it uses.
  void keepArtifact() {
    artifact.objects.clear();
    artifact.data.clear();
    artifact.data.shrink_to_fit();
    artifact.blocks.clear();
    state.artifact = std::move(artifact);
  }

  Engine::State &engine;
  jit::Artifact &artifact;
  Module &module;
  Module::State &state;
  std::vector<jit::DataBinding> bindings;
  PinnedConstants pinned; // symbols of the artifact
};

StatusOr<std::shared_ptr<Module>> Engine::link(jit::Artifact artifact, Parameters parameters,
                                               const Pools &pools, const HostFunctions &functions) {
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, "link");
  PLIM_RETURN_IF_ERROR(checkRuns(artifact, state->host.devices[0], state->guarded != nullptr));
  std::shared_ptr<Module> module(new Module());
  module->state->engine = shared_from_this();
  Linking linking(*state, artifact, *module);
  PLIM_RETURN_IF_ERROR(linking.bindData(std::move(parameters), pools));
  PLIM_RETURN_IF_ERROR(linking.linkCode(functions));
  PLIM_RETURN_IF_ERROR(linking.prepareData());
  linking.makePlanners();
  return module;
}

} // namespace plim
