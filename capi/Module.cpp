#include "plimsoll/module.h"

#include "plimsoll/bytes.h"

#include "capi/Border.h"
#include "capi/Limits.h"
#include "capi/Numerics.h"
#include "capi/Objects.h"
#include "capi/Pools.h"
#include "capi/Specialization.h"
#include "importers/Import.h"

#include <chrono>
#include <limits>

using namespace plim;
using namespace plim::capi;

namespace {

Status readOptions(const plim_load_options *options, plim_load_options &given, LoadOptions &out) {
  PLIM_RETURN_IF_ERROR(readStruct(options, "options", given));
  PLIM_RETURN_IF_ERROR(checkFlags(given.flags, PLIM_LOAD_ORACLE | PLIM_LOAD_LAZY, "options"));
  out.oracle = given.flags & PLIM_LOAD_ORACLE;
  out.lazy = given.flags & PLIM_LOAD_LAZY;
  if (given.reserved != 0)
    return invalidArgumentError("a reserved field of options is not 0");
  PLIM_RETURN_IF_ERROR(readNumerics(given.numerics, out.numerics));
  if (given.policy)
    out.policy = given.policy;
  PLIM_RETURN_IF_ERROR(readLimits(given.limits, out.limits));
  if (given.parameters) {
    PLIM_RETURN_IF_ERROR(checkHandle(given.parameters));
    out.parameters = given.parameters->byName;
  }
  if (given.host_functions) {
    PLIM_RETURN_IF_ERROR(checkHandle(given.host_functions));
    out.functions = given.host_functions->byName;
  }
  PLIM_RETURN_IF_ERROR(readPools(given.pools, given.pool_count, out.pools));
  PLIM_RETURN_IF_ERROR(
      readSpecialization(given.specialization, given.specialization_count, out.specialization));
  if (given.device)
    out.device = given.device;
  if (given.stop) {
    PLIM_RETURN_IF_ERROR(checkHandle(given.stop));
    out.stop = given.stop->source.get_token();
  }
  // One that no clock reaches is none.
  if (given.timeout_nanoseconds < uint64_t(std::numeric_limits<int64_t>::max()))
    out.timeout = std::chrono::nanoseconds(given.timeout_nanoseconds);
  if (given.progress)
    out.progress = [callback = given.progress, user = given.progress_user](
                       const jit::CompileProgress &progress) { callback(user, progress.fraction); };
  return okStatus();
}

/// What loading and compiling have in common.
Status readSource(const plim_engine *engine, const void *source, size_t size, const char *name,
                  const plim_load_options *options, plim_load_options &given, LoadOptions &out) {
  PLIM_RETURN_IF_ERROR(checkHandle(engine));
  PLIM_RETURN_IF_ERROR(checkArray(source, size, "source"));
  PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
  return readOptions(options, given, out);
}

/// The source itself, or the text of what is imported if it is a model. The weights of a model
/// become parameters of `options`, unless there are some of the same name already; they may lie in
/// memory that `owner` keeps.
StatusOr<std::string_view> importIfModel(std::string_view source, const std::string &name,
                                         const std::shared_ptr<const void> &owner,
                                         importers::ImportedSource &imported,
                                         LoadOptions &options) {
  if (!importers::isModel(source, name))
    return source;
  PLIM_ASSIGN_OR_RETURN(imported, importers::importModel(source, name, owner));
  options.parameters.merge(imported.parameters);
  return std::string_view(imported.text);
}

/// From MLIR or a model to a module. `owner` keeps the source; null: the caller does for the load.
StatusOr<std::shared_ptr<Module>> loadSource(Engine &engine, std::string_view source,
                                             const std::string &name,
                                             std::shared_ptr<const void> owner,
                                             LoadOptions options) {
  const auto imported = std::make_shared<importers::ImportedSource>();
  PLIM_ASSIGN_OR_RETURN(std::string_view text,
                        importIfModel(source, name, owner, *imported, options));
  // What a module may keep is the text that a model became, and not the model.
  options.sourceOwner = std::move(owner);
  if (text.data() != source.data())
    options.sourceOwner = imported;
  return engine.load(text, name, options);
}

StatusOr<std::shared_ptr<Module>> loadFile(Engine &engine, const std::string &path,
                                           LoadOptions options) {
  if (!importers::isModelFile(path))
    return engine.loadFile(path, options);
  PLIM_ASSIGN_OR_RETURN(importers::ImportedSource imported, importers::importModelFile(path));
  options.parameters.merge(imported.parameters);
  return engine.load(imported.text, path, options);
}

/// What plim_module_load_file() and its like are given.
Status readFile(const plim_engine *engine, const char *path, const plim_load_options *options,
                LoadOptions &out) {
  PLIM_RETURN_IF_ERROR(checkHandle(engine));
  PLIM_RETURN_IF_ERROR(checkPointer(path, "path"));
  plim_load_options given;
  PLIM_RETURN_IF_ERROR(readOptions(options, given, out));
  if (given.release_source)
    return invalidArgumentError("a file has no source of the host's to release");
  return okStatus();
}

/// Begins `work`, and hands its event out.
Status startLoad(plim_engine *engine, Engine::LoadWork work, LoadOptions options,
                 plim_event **out_event) {
  // Nothing may fail when the load has begun.
  auto *event = makeHandle<plim_event>(engine->quarantine);
  Status status = okStatus();
  try {
    StatusOr<Event> begun = engine->engine->loadAsync(std::move(work), std::move(options));
    status = begun.status();
    if (begun.ok())
      event->event = *std::move(begun);
  } catch (...) {
    release(event);
    throw;
  }
  if (status.ok())
    *out_event = event;
  else
    release(event);
  return status;
}

} // namespace

extern "C" {

plim_status *plim_module_load(plim_engine *engine, const void *source, size_t size,
                              const char *name, const plim_load_options *options,
                              plim_module **out_module) {
  return enter([&]() -> Status {
    plim_load_options given;
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readSource(engine, source, size, name, options, given, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(out_module, "out_module"));
    std::shared_ptr<UserData> owner;
    if (given.release_source)
      owner = std::make_shared<UserData>(given.source_user, given.release_source);
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                          loadSource(*engine->engine, {static_cast<const char *>(source), size},
                                     name, owner, std::move(loadOptions)));
    *out_module = makeHandle<plim_module>(engine->quarantine, std::move(module));
    if (owner)
      owner->take();
    return okStatus();
  });
}

plim_status *plim_module_load_async(plim_engine *engine, const void *source, size_t size,
                                    const char *name, const plim_load_options *options,
                                    plim_event **out_event) {
  return enter([&]() -> Status {
    plim_load_options given;
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readSource(engine, source, size, name, options, given, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(out_event, "out_event"));
    std::string_view bytes(static_cast<const char *>(source), size);
    std::shared_ptr<UserData> lent;
    std::shared_ptr<const void> owner;
    if (given.release_source) {
      owner = lent = std::make_shared<UserData>(given.source_user, given.release_source);
    } else {
      auto copy = std::make_shared<const std::string>(bytes);
      bytes = *copy;
      owner = std::move(copy);
    }
    PLIM_RETURN_IF_ERROR(startLoad(
        engine,
        [bytes, sourceName = std::string(name),
         owner = std::move(owner)](Engine &itsEngine, const LoadOptions &itsOptions) {
          return loadSource(itsEngine, bytes, sourceName, owner, itsOptions);
        },
        std::move(loadOptions), out_event));
    if (lent)
      lent->take();
    return okStatus();
  });
}

plim_status *plim_module_compile(plim_engine *engine, const void *source, size_t size,
                                 const char *name, const plim_load_options *options,
                                 plim_bytes **out_artifact) {
  return enter([&]() -> Status {
    plim_load_options given;
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readSource(engine, source, size, name, options, given, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(out_artifact, "out_artifact"));
    if (given.release_source)
      return invalidArgumentError("the source is not kept: release_source must be NULL");
    // The parameters go before the source does.
    const std::shared_ptr<const void> callers(std::shared_ptr<void>(), source);
    importers::ImportedSource imported;
    PLIM_ASSIGN_OR_RETURN(std::string_view text,
                          importIfModel({static_cast<const char *>(source), size}, name, callers,
                                        imported, loadOptions));
    PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, engine->engine->compile(text, name, loadOptions));
    *out_artifact = makeHandle<plim_bytes>(nullptr, jit::serialize(artifact));
    return okStatus();
  });
}

plim_status *plim_module_export(plim_engine *engine, const void *source, size_t size,
                                const char *name, const char *export_name,
                                const plim_load_options *options, plim_bytes **out_object,
                                plim_bytes **out_header) {
  return enter([&]() -> Status {
    plim_load_options given;
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readSource(engine, source, size, name, options, given, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(export_name, "export_name"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_object, "out_object"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_header, "out_header"));
    if (given.release_source)
      return invalidArgumentError("the source is not kept: release_source must be NULL");
    // The parameters go before the source does.
    const std::shared_ptr<const void> callers(std::shared_ptr<void>(), source);
    importers::ImportedSource imported;
    PLIM_ASSIGN_OR_RETURN(std::string_view text,
                          importIfModel({static_cast<const char *>(source), size}, name, callers,
                                        imported, loadOptions));
    PLIM_ASSIGN_OR_RETURN(ExportedCode code,
                          engine->engine->exportCode(text, name, export_name, loadOptions));
    plim_bytes *object = makeHandle<plim_bytes>(nullptr, std::move(code.object));
    plim_bytes *header = nullptr;
    try {
      header = makeHandle<plim_bytes>(nullptr, std::move(code.header));
    } catch (...) {
      plim_bytes_release(object);
      throw;
    }
    *out_object = object;
    *out_header = header;
    return okStatus();
  });
}

plim_status *plim_module_load_file(plim_engine *engine, const char *path,
                                   const plim_load_options *options, plim_module **out_module) {
  return enter([&]() -> Status {
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readFile(engine, path, options, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(out_module, "out_module"));
    PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                          loadFile(*engine->engine, path, std::move(loadOptions)));
    *out_module = makeHandle<plim_module>(engine->quarantine, std::move(module));
    return okStatus();
  });
}

plim_status *plim_module_load_file_async(plim_engine *engine, const char *path,
                                         const plim_load_options *options, plim_event **out_event) {
  return enter([&]() -> Status {
    LoadOptions loadOptions;
    PLIM_RETURN_IF_ERROR(readFile(engine, path, options, loadOptions));
    PLIM_RETURN_IF_ERROR(checkPointer(out_event, "out_event"));
    return startLoad(
        engine,
        [name = std::string(path)](Engine &itsEngine, const LoadOptions &itsOptions) {
          return loadFile(itsEngine, name, itsOptions);
        },
        std::move(loadOptions), out_event);
  });
}

size_t plim_module_function_count(const plim_module *module) {
  return isLive(module) ? module->module->functions().size() : 0;
}

const char *plim_module_function_name(const plim_module *module, size_t index) {
  if (!isLive(module) || index >= module->module->functions().size())
    return nullptr;
  return module->module->functions()[index].name.c_str();
}

plim_status *plim_module_function(const plim_module *module, const char *name,
                                  plim_function **out_function) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(module));
    PLIM_RETURN_IF_ERROR(checkPointer(name, "name"));
    PLIM_RETURN_IF_ERROR(checkPointer(out_function, "out_function"));
    PLIM_ASSIGN_OR_RETURN(Function function, module->module->lookup(name));
    *out_function = makeHandle<plim_function>(module->quarantine, std::move(function));
    return okStatus();
  });
}

plim_status *plim_module_explain(const plim_module *module, plim_report **out_report) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(module));
    PLIM_RETURN_IF_ERROR(checkPointer(out_report, "out_report"));
    if (module->module->isLazy())
      return failedPreconditionError("a lazy module decides when its functions are called: explain "
                                     "one that is not lazy");
    *out_report = makeHandle<plim_report>(nullptr, module->module->report());
    return okStatus();
  });
}

plim_status *plim_module_statistics(const plim_module *module,
                                    plim_load_statistics *out_statistics) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(module));
    PLIM_RETURN_IF_ERROR(checkOutStruct(out_statistics, "out_statistics"));
    const LoadStatistics &load = module->module->statistics();
    writeStruct(out_statistics,
                {.struct_size = 0,
                 .from_cache = load.fromCache,
                 .shared_constant_bytes = static_cast<uint64_t>(load.sharedConstantBytes),
                 .parse_seconds = load.compile.parse,
                 .lower_seconds = load.compile.lower,
                 .optimise_seconds = load.compile.optimise,
                 .codegen_seconds = load.compile.codegen,
                 .link_seconds = load.linkSeconds,
                 .total_seconds = load.totalSeconds,
                 .objects = static_cast<uint64_t>(load.compile.objects),
                 .cached_objects = static_cast<uint64_t>(load.compile.cachedObjects)});
    return okStatus();
  });
}

plim_status *plim_module_specialization_statistics(const plim_module *module,
                                                   plim_specialization_statistics *out_statistics) {
  return enter([&]() -> Status {
    PLIM_RETURN_IF_ERROR(checkHandle(module));
    PLIM_RETURN_IF_ERROR(checkOutStruct(out_statistics, "out_statistics"));
    const SpecializationStatistics all = module->module->specializationStatistics();
    writeStruct(out_statistics, {.struct_size = 0,
                                 .in_work = static_cast<uint32_t>(all.inWork),
                                 .made = static_cast<uint64_t>(all.made),
                                 .failed = static_cast<uint64_t>(all.failed),
                                 .evicted = static_cast<uint64_t>(all.evicted),
                                 .calls = static_cast<uint64_t>(all.calls)});
    return okStatus();
  });
}

void plim_module_retain(plim_module *module) { retain(module); }
void plim_module_release(plim_module *module) { release(module); }

} // extern "C"
