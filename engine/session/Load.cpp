// A load, from a text, a file or compiled code to a module: which of them a source is, what it has to be read for, and how long
// each step takes.
#include "engine/io/File.h"
#include "engine/session/DataBindings.h"
#include "engine/session/State.h"
#include "jit/ArtifactFile.h"
#include "support/Hash.h"
#include "targets/AllocationOptions.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

namespace plim {

using jit::DataKind;
using jit::DataSymbol;
using namespace session;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Lets go of parameters that no code reads as they are: they lie arranged in the module. Code for certain extents may read
/// what the code for all does not.
void releaseArranged(const jit::Artifact &artifact, Parameters &parameters) {
  for (const DataSymbol &symbol : artifact.symbols)
    if (symbol.kind == DataKind::Parameter && symbol.isSourceOnly)
      parameters.erase(symbol.name);
}

/// Refuses what the compiler would, in the same words, before it is read.
Status checkTextSize(const std::string &path, uint64_t bytes,
                     std::initializer_list<std::span<const std::string>> given) {
  targets::SourceLimits limits;
  for (std::span<const std::string> each : given)
    PLIM_RETURN_IF_ERROR(targets::setSourceLimits(each, limits));
  if (bytes <= static_cast<uint64_t>(std::max<int64_t>(0, limits.textBytes)))
    return okStatus();
  return errorAtPlace(StatusCode::InvalidArgument,
                      path + ":1:1: a text of " + std::to_string(bytes) +
                          " bytes, more than max_text_bytes = " + std::to_string(limits.textBytes));
}

} // namespace

StatusOr<std::shared_ptr<Module>> Engine::load(std::string_view source, std::string_view sourceName,
                                               const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  auto start = std::chrono::steady_clock::now();
  if (jit::isArtifact(source)) {
    StatusOr<jit::Artifact> artifact = jit::deserialize(source);
    if (!artifact.ok())
      return artifact.status().withContext(sourceName);
    return loadCompiled(std::move(*artifact), sourceName, options, start);
  }
  return load(source, state->digestOf(source), sourceName, options, start);
}

StatusOr<std::shared_ptr<Module>> Engine::load(std::string_view source, const Digest &digest,
                                               std::string_view sourceName,
                                               const LoadOptions &options,
                                               std::chrono::steady_clock::time_point start,
                                               std::string_view only) {
  if (options.lazy)
    return loadLazily(source, digest, sourceName, options, start);
  const std::string what =
      "load " + (only.empty() ? "" : std::string(only) + " of ") + std::string(sourceName);
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, what.c_str());
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  compileOptions.onlyFunction = only;
  // Those who wait for the function may be all threads of the arena that would help.
  if (!only.empty() && state->options.workers.ofCaller)
    compileOptions.parallelFor = nullptr;
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled,
                        state->compileToRun(source, digest, sourceName, compileOptions));
  LoadStatistics statistics;
  statistics.fromCache = compiled.fromCache;
  statistics.compile = compiled.times;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        linkTimed(std::move(compiled.artifact), options, statistics, start));
  SpecializationOptions specialization =
      options.specialization.value_or(state->options.specialization);
  bool mayHaveSome = specialization.mode != Specialization::None && specialization.atMost > 0;
  if (mayHaveSome && !options.oracle && !state->options.checked)
    module->state->specializations = Specializations::create(
        *module,
        {source, digest, std::string(sourceName), std::move(compileOptions), options.functions},
        specialization);
  if (!module->state->specializations)
    releaseArranged(module->state->artifact, module->state->parameters);
  return module;
}

StatusOr<std::shared_ptr<Module>> Engine::loadLazily(std::string_view source, const Digest &digest,
                                                     std::string_view sourceName,
                                                     const LoadOptions &options,
                                                     std::chrono::steady_clock::time_point start) {
  for (auto [isGiven, what] : {std::pair(!options.pools.empty(), "pools: lend them to calls"),
                               {options.assembly != nullptr, "assembly"},
                               {!options.irAfter.empty(), "IR"}})
    if (isGiven)
      return invalidArgumentError("a lazy load of " + std::string(sourceName) + " takes no " +
                                  what);
  const std::string what = "load " + std::string(sourceName) + " without code";
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, what.c_str());
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  compileOptions.describesOnly = true;
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled,
                        state->compile(source, digest, sourceName, compileOptions));
  Parameters parameters = options.parameters; // are they those of the source?
  PLIM_RETURN_IF_ERROR(bindParameters(compiled.artifact, parameters).status());

  std::shared_ptr<Module> module(new Module());
  Module::State &lazy = *module->state;
  lazy.engine = shared_from_this();
  lazy.artifact = std::move(compiled.artifact);
  lazy.layout = std::make_shared<const StateLayout>(lazy.artifact);
  PLIM_ASSIGN_OR_RETURN(lazy.variables, module->createState());
  LoadOptions kept = options;
  if (!kept.sourceOwner) {
    auto copy = std::make_shared<const std::string>(source);
    source = *copy;
    kept.sourceOwner = std::move(copy);
  }
  lazy.deferred = std::make_unique<DeferredFunctions>(*module, source, digest, std::move(kept));
  lazy.statistics.fromCache = compiled.fromCache;
  lazy.statistics.compile = compiled.times;
  lazy.statistics.totalSeconds = secondsSince(start);
  return module;
}

StatusOr<std::shared_ptr<Module>>
Engine::loadCompiled(jit::Artifact artifact, std::string_view name, const LoadOptions &options,
                     std::chrono::steady_clock::time_point start) {
  const std::string what = "load " + std::string(name);
  ProfilerSpan span(state->options.profiler.get(), Profiler::Kind::Load, what.c_str());
  const bool isSpecialized =
      options.specialization && options.specialization->mode != Specialization::None;
  std::string late;
  for (auto [isGiven, what] : {std::pair(!options.policy.empty(), "policy"),
                               {!options.limits.empty(), "limits"},
                               {options.oracle, "oracle"},
                               {options.numerics.has_value(), "numerics"},
                               {options.assembly != nullptr, "assembly"},
                               {!options.irAfter.empty(), "IR"},
                               {!options.device.empty(), "device"},
                               {options.lazy, "lazy"},
                               {isSpecialized, "specialization"}})
    if (isGiven)
      late += (late.empty() ? "" : ", ") + std::string(what);
  if (!late.empty())
    return invalidArgumentError(std::string(name) + " is compiled already, too late for: " + late);
  LoadStatistics statistics;
  statistics.precompiled = true;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        linkTimed(std::move(artifact), options, statistics, start));
  releaseArranged(module->state->artifact, module->state->parameters);
  return module;
}

StatusOr<std::shared_ptr<Module>> Engine::linkTimed(jit::Artifact artifact,
                                                    const LoadOptions &options,
                                                    LoadStatistics statistics,
                                                    std::chrono::steady_clock::time_point start) {
  auto linkStart = std::chrono::steady_clock::now();
  PLIM_ASSIGN_OR_RETURN(
      std::shared_ptr<Module> module,
      link(std::move(artifact), options.parameters, options.pools, options.functions));
  statistics.sharedConstantBytes = module->state->linked->sharedConstantBytes();
  statistics.linkSeconds = secondsSince(linkStart);
  statistics.totalSeconds = secondsSince(start);
  module->state->statistics = statistics;
  return module;
}

StatusOr<std::string> Engine::readSource(const std::string &path) { return io::readWhole(path); }

StatusOr<std::shared_ptr<Module>> Engine::loadFile(const std::string &path,
                                                   const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  auto start = std::chrono::steady_clock::now();
  // A pipe cannot be mapped, and text would be copied all the same.
  StatusOr<io::File> file = io::File::open(path);
  std::array<std::byte, 8> magic = {};
  const std::string_view begin(reinterpret_cast<const char *>(magic.data()), magic.size());
  const bool hasMagic = file.ok() && file->size() >= magic.size() && file->read(0, magic).ok();
  if (hasMagic && jit::isArtifact(begin)) {
    PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, jit::readArtifact(path));
    return loadCompiled(std::move(artifact), path, options, start);
  }
  if (!hasMagic || !jit::isBytecode(begin)) {
    if (file.ok())
      PLIM_RETURN_IF_ERROR(
          checkTextSize(path, file->size(), {state->options.limits, options.limits}));
    PLIM_ASSIGN_OR_RETURN(std::string source, readSource(path));
    auto kept = std::make_shared<const std::string>(std::move(source));
    LoadOptions owned = options;
    owned.sourceOwner = kept;
    return load(*kept, path, owned);
  }
  PLIM_ASSIGN_OR_RETURN(io::Mapping mapping, file->map());
  Digest digest;
  if (state->cache) {
    // Read, not touched where it is mapped: what comes from the cache takes no memory of the process.
    Hasher hasher;
    std::vector<std::byte> piece(size_t(1) << 18);
    for (uint64_t done = 0; done < file->size(); done += piece.size()) {
      piece.resize(std::min<uint64_t>(piece.size(), file->size() - done));
      PLIM_RETURN_IF_ERROR(file->read(done, piece));
      hasher.update(piece.data(), piece.size());
    }
    digest = hasher.digest();
  }
  LoadOptions mapped = options;
  mapped.sourceOwner = mapping;
  std::string_view source(reinterpret_cast<const char *>(mapping->data()), mapping->size());
  return load(source, digest, path, mapped, start);
}

} // namespace plim
