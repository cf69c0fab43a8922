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

StatusOr<std::shared_ptr<Module>> Engine::link(jit::Artifact artifact, Parameters parameters,
                                               const Pools &pools, const HostFunctions &functions) {
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, "link");
  PLIM_RETURN_IF_ERROR(checkRuns(artifact, state->host.devices[0], state->guarded != nullptr));
  PLIM_ASSIGN_OR_RETURN(std::vector<jit::DataBinding> bindings,
                        bindParameters(artifact, parameters));
  PLIM_RETURN_IF_ERROR(checkPools(pools, artifact));

  std::shared_ptr<Module> module(new Module());
  Module::State &moduleState = *module->state;
  moduleState.engine = shared_from_this();
  moduleState.parameters = std::move(parameters);
  moduleState.pools = pools;
  std::vector<HostMemory> constants;
  PLIM_ASSIGN_OR_RETURN(PinnedConstants pinned,
                        reserveConstants(artifact, moduleState.pools, constants));
  PLIM_RETURN_IF_ERROR(state->claim(constants));
  moduleState.constants = std::move(constants);
  if (state->guarded)
    PLIM_RETURN_IF_ERROR(
        guardData(artifact, bindings, moduleState.guarded.emplace(*state->guarded)));
  for (const auto &[symbol, address] : pinned) {
    bindings.emplace_back(symbol->name, address);
    moduleState.pinned[symbol->name] = address;
  }
  PLIM_ASSIGN_OR_RETURN(moduleState.externals, state->bindExternals(artifact, functions));
  PLIM_ASSIGN_OR_RETURN(
      moduleState.linked,
      state->session->link(artifact, bindings, bindingsOf(moduleState.externals)));
  moduleState.devicePools = state->makeDevicePools(artifact);
  for (const auto &[symbol, address] : pinned)
    std::memcpy(address, contentsOf(artifact, *symbol)->data(), static_cast<size_t>(symbol->bytes));
  for (const jit::StackProof &proof : artifact.stack)
    if (proof.proven > proof.budget)
      state->options.logger.log(LogLevel::Warning, "'", proof.function, "' of ", artifact.source,
                                " needs ", proof.proven,
                                " bytes of stack, more than the budget of ", proof.budget,
                                "; calls run where a stack has them");
  moduleState.pool = artifact.policy == "heap" ? state->heap : state->pool;
  moduleState.layout = std::make_shared<const StateLayout>(artifact);
  PLIM_ASSIGN_OR_RETURN(moduleState.variables, module->createState());
  if (const std::vector<ArrangedData> data = arrangedData(artifact, bindings, *moduleState.linked);
      !data.empty()) {
    ProfilerSpan arranging(state->options.profiler.get(), Profiler::Kind::Load,
                           "arrange constants");
    arrangeInParts(data, moduleState.parameters, state->parallelFor());
  }
  artifact.objects.clear();
  artifact.data.clear();
  artifact.data.shrink_to_fit();
  // The linked module has those that it uses.
  artifact.blocks.clear();
  moduleState.artifact = std::move(artifact);
  std::vector<FunctionSignature> &signatures = moduleState.artifact.functions;
  if (!signatures.empty() && signatures.back().prepares) {
    const FunctionSignature preparing = std::move(signatures.back());
    signatures.pop_back();
    PLIM_RETURN_IF_ERROR(module->prepareConstants(preparing));
  }
  if (!moduleState.linked->protectPrepared())
    return unavailableError("cannot protect the constants of " + moduleState.artifact.source);
  moduleState.keptConstants = state->keepConstants(moduleState.externals, *moduleState.linked);
  for (const FunctionSignature &function : moduleState.artifact.functions)
    if (!function.plan.buffers.empty())
      moduleState.planners[&function] = std::make_unique<CallPlanner>(function);
  return module;
}

} // namespace plim
