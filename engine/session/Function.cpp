#include "engine/session/Arguments.h"
#include "engine/session/SmallArray.h"
#include "engine/session/State.h"
#include "engine/session/Workspace.h"

#include <algorithm>
#include <optional>

namespace plim {

using jit::FunctionSignature;
using jit::ValueType;
using runtime::Value;
using namespace session;

Function::Function(std::shared_ptr<const Module> owner, const FunctionSignature *description)
    : module(std::move(owner)), description(description),
      specializations(module->state->specializations.get()),
      position(static_cast<size_t>(description - module->functions().data())) {
  const Module::State &state = *module->state;
  general.signature = description;
  if (state.deferred)
    deferred = &(*state.deferred)[position];
  else
    general.entry = state.linked->entry(description->name);
  if (auto it = state.planners.find(description); it != state.planners.end()) {
    general.planner = it->second.get();
    general.extentsEntry = state.linked->entry(description->plan.function);
  }
  general.workersFit = description->workerStackBytes <= executor().workerStackBytes();
  size_t memrefs = 0, tensors = 0;
  for (const ValueType &type : description->arguments) {
    if (type.isShaped)
      ++(type.isMemref ? memrefs : tensors);
    writesArguments |= type.access != jit::Access::ReadOnly;
  }
  hasVariants = description->isKernel && memrefs > 1;
  mixesTensors = memrefs != 0 && tensors != 0;
  donors.resize(description->results.size(), noDonor);
  for (size_t i = 0; i < description->arguments.size(); ++i)
    if (std::optional<uint32_t> result = description->arguments[i].donatedTo)
      donors[*result] = i;
  // Import admits only the types of the list.
  for (const ValueType &type : description->arguments)
    argumentTypes.push_back(*runtime::elementTypeFromName(type.element));
  for (const ValueType &type : description->results)
    resultTypes.push_back(*runtime::elementTypeFromName(type.element));
}

runtime::Executor &Function::executor() const { return *module->state->engine->state->executor; }

size_t Function::stackBytes() const {
  const Function *code = deferred ? deferred->made() : this;
  return code ? static_cast<size_t>(code->description->stackBytes) : 0;
}

StatusOr<WorkspaceRequirement> Function::workspaceRequirement() const {
  if (deferred) {
    PLIM_ASSIGN_OR_RETURN(const Function *made, deferred->make({}));
    return made->workspaceRequirement();
  }
  if (general.planner)
    return failedPreconditionError("the workspace of '" + description->name +
                                   "' depends on the extents of its arguments: ask with them");
  return session::workspaceRequirement(general, static_cast<size_t>(description->workspaceBytes),
                                       executor());
}

StatusOr<WorkspaceRequirement>
Function::workspaceRequirement(std::span<const Value> arguments) const {
  if (deferred) {
    PLIM_ASSIGN_OR_RETURN(const Function *made, deferred->make({}));
    return made->workspaceRequirement(arguments);
  }
  PLIM_RETURN_IF_ERROR(checkArguments(*description, argumentTypes, arguments));
  SmallArray<plim_view, 16> views(arguments.size());
  makeViews(arguments, views.span());
  SmallArray<int64_t, 32> offsets(description->plan.buffers.size());
  PLIM_ASSIGN_OR_RETURN(size_t slabBytes,
                        planSlab(general, views.data(), offsets.span(), executor(),
                                 *module->state->engine->state->slabs));
  return session::workspaceRequirement(general, slabBytes, executor());
}

Status Function::specialize(std::span<const Value> arguments) const {
  if (deferred) {
    PLIM_ASSIGN_OR_RETURN(const Function *made, deferred->make({}));
    return made->specialize(arguments);
  }
  PLIM_RETURN_IF_ERROR(checkArguments(*description, argumentTypes, arguments));
  if (specializations)
    return specializations->make(position, arguments);
  bool isOpen = std::ranges::any_of(description->arguments, [](const ValueType &type) {
    return std::ranges::any_of(type.shape, [](int64_t extent) { return extent < 0; });
  });
  if (!isOpen)
    return okStatus();
  return failedPreconditionError("'" + description->name +
                                 "' was loaded without leave to specialise it");
}

StatusOr<std::vector<Value>> Function::call(std::span<const Value> arguments,
                                            const CallOptions &options) const {
  std::vector<Value> results(description->results.size());
  PLIM_RETURN_IF_ERROR(callInto(arguments, results, options));
  return results;
}

Status Function::callDeferred(std::span<const Value> arguments, std::span<Value> results,
                              const CallOptions &options) const {
  const Function *made = deferred->made();
  if (!made) {
    // Nothing is compiled for a call that cannot be. What is done to memrefs is not known yet.
    FunctionSignature known = *description;
    for (ValueType &argument : known.arguments)
      if (argument.isMemref)
        argument.access = jit::Access::ReadOnly;
    PLIM_RETURN_IF_ERROR(checkArguments(known, argumentTypes, arguments));
    PLIM_ASSIGN_OR_RETURN(made, deferred->make(options.stop));
  }
  return made->callInto(arguments, results, options);
}

void *Function::rawPointer() const {
  if (deferred) {
    StatusOr<const Function *> made = deferred->make({});
    return made.ok() ? (*made)->rawPointer() : nullptr;
  }
  if (!description->isKernel || description->rawTakesContext)
    return nullptr;
  return module->state->linked->raw(description->name);
}

} // namespace plim
