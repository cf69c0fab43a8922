#include "engine/session/Deferred.h"

#include "engine/runtime/LockUnless.h"
#include "engine/session/State.h"

#include <utility>

namespace plim::session {

namespace {

/// Will it be refused each time?
bool isFinal(StatusCode code) {
  return code == StatusCode::InvalidArgument || code == StatusCode::Unimplemented ||
         code == StatusCode::FailedPrecondition;
}

/// Those of the load alone are left out.
LoadOptions optionsOfFunctions(LoadOptions options) {
  options.lazy = false;
  options.progress = nullptr;
  options.stop = {};
  options.timeout = {};
  options.begin.reset();
  return options;
}

} // namespace

StatusOr<const Function *> DeferredFunction::make(const std::stop_token &stop) {
  std::unique_lock lock(mutex, std::defer_lock);
  if (!runtime::lockUnless(lock, [&] { return stop.stop_requested(); }))
    return cancelledError("the call was cancelled");
  if (const Function *there = made())
    return there;
  PLIM_RETURN_IF_ERROR(refused);
  StatusOr<Function> loaded = all->load(name, stop);
  if (!loaded.ok()) {
    if (isFinal(loaded.status().code()))
      refused = loaded.status();
    return loaded.status();
  }
  const Function *there = &function.emplace(*std::move(loaded));
  current.store(there, std::memory_order_release);
  return there;
}

DeferredFunctions::DeferredFunctions(const Module &module, std::string_view source,
                                     const Digest &digest, LoadOptions options)
    : module(module), source(source), digest(digest),
      options(optionsOfFunctions(std::move(options))), count(module.functions().size()),
      functions(std::make_unique<DeferredFunction[]>(count)) {
  for (size_t i = 0; i < count; ++i) {
    functions[i].all = this;
    functions[i].name = module.functions()[i].name;
  }
}

StatusOr<Function> DeferredFunctions::load(std::string_view name,
                                           const std::stop_token &stop) const {
  const Module::State &lazy = *module.state;
  LoadOptions own = options;
  own.stop = stop;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> made,
                        lazy.engine->load(source, digest, lazy.artifact.source, own,
                                          std::chrono::steady_clock::now(), name));
  made->state->layout = lazy.layout; // states of the lazy module fit: neither has variables
  return made->lookup(name);
}

SpecializationStatistics DeferredFunctions::specializationStatistics() const {
  SpecializationStatistics sum;
  for (size_t i = 0; i < count; ++i)
    if (const Function *made = functions[i].made()) {
      const SpecializationStatistics each = made->module->specializationStatistics();
      sum.made += each.made;
      sum.inWork += each.inWork;
      sum.failed += each.failed;
      sum.evicted += each.evicted;
      sum.calls += each.calls;
    }
  return sum;
}

} // namespace plim::session
