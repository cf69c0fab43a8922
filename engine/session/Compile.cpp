// What an engine compiles, and for which target: from the options of a load and the engine's to the artifact, which may be in
// the cache already.
#include "engine/session/State.h"
#include "jit/CompilerIdentity.h"
#include "jit/WorkerRequest.h"
#include "support/Hash.h"

#include <utility>

namespace plim {

using namespace session;

StatusOr<jit::Artifact> Engine::compile(std::string_view source, std::string_view sourceName,
                                        const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  if (jit::isArtifact(source))
    return invalidArgumentError(std::string(sourceName) + " is compiled already");
  if (options.lazy)
    return invalidArgumentError("an artifact has the code of all functions: lazy is for loads");
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled, state->compile(source, state->digestOf(source),
                                                                 sourceName, compileOptions));
  return std::move(compiled.artifact);
}

StatusOr<ExportedCode> Engine::exportCode(std::string_view source, std::string_view sourceName,
                                          std::string_view exportName, const LoadOptions &options) {
  PLIM_RETURN_IF_ERROR(checkStack());
  if (jit::isArtifact(source))
    return invalidArgumentError(std::string(sourceName) + " is compiled already");
  if (options.lazy)
    return invalidArgumentError("exported code is that of all functions: lazy is for loads");
  if (state->options.checked)
    return invalidArgumentError("an engine that looks for faults exports no code");
  if (exportName.empty())
    return invalidArgumentError("the export has no name");
  PLIM_ASSIGN_OR_RETURN(jit::CompileOptions compileOptions, compileOptionsOf(options));
  compileOptions.exportName = exportName;
  PLIM_ASSIGN_OR_RETURN(State::Compiled compiled, state->compile(source, state->digestOf(source),
                                                                 sourceName, compileOptions));
  return ExportedCode{std::move(compiled.artifact.objects[0]), std::move(compiled.artifact.header)};
}

StatusOr<jit::CompileOptions> Engine::compileOptionsOf(const LoadOptions &options) const {
  PLIM_RETURN_IF_ERROR(state->checkDevice(options.device));
  jit::CompileOptions result;
  result.policy = policyOf(options);
  result.engineLimits = state->options.limits;
  result.loadLimits = options.limits;
  result.oracle = options.oracle;
  result.numerics = options.numerics.value_or(state->options.numerics);
  result.guarded = state->options.checked;
  result.devices = state->deviceCompilers();
  for (const std::shared_ptr<const Device> &device : state->options.devices)
    if (!device->compile)
      result.devicesWithoutCompiler.push_back(device->name);
  result.preferredDevice = options.device;
  result.deviceMemories = state->deviceMemories();
  result.cache = state->cache ? &*state->cache : nullptr;
  result.assembly = options.assembly;
  result.irAfter = options.irAfter;
  result.takeIr = options.takeIr;
  result.sourceOwner = options.sourceOwner;
  result.progress = options.progress;
  result.stop = options.stop;
  result.timeout = options.timeout;
  result.begin = options.begin;
  result.profiler = state->options.profiler.get();
  if (state->executor->threads() > 1)
    result.parallelFor = state->parallelFor();
  return result;
}

const std::string &Engine::policyOf(const LoadOptions &options) const {
  // Planned buffers share pages.
  static const std::string checked = "heap";
  return state->options.checked   ? checked
         : options.policy.empty() ? state->options.policy
                                  : options.policy;
}

Digest Engine::State::digestOf(std::string_view source) const {
  return cache ? hashBytes(source) : Digest();
}

std::string Engine::State::keyOf(const targets::TargetDescription &target) {
  return targets::toJson(targets::compiledPart(target));
}

StatusOr<Engine::State::Compiled>
Engine::State::compile(std::string_view source, const Digest &digest, std::string_view sourceName,
                       const jit::CompileOptions &compileOptions) {
  return compileFor(target, compiledTarget, source, digest, sourceName, compileOptions);
}

StatusOr<Engine::State::Compiled>
Engine::State::compileToRun(std::string_view source, const Digest &digest,
                            std::string_view sourceName,
                            const jit::CompileOptions &compileOptions) {
  if (!tiles)
    return compile(source, digest, sourceName, compileOptions);
  return tiles->compile(
      compileOptions, [&](bool mayUseTiles, const jit::CompileOptions &itsOptions) {
        if (mayUseTiles)
          return compile(source, digest, sourceName, itsOptions);
        options.logger.log(LogLevel::Info,
                           "the kernel refuses tile registers to this process: ", sourceName,
                           " is compiled without");
        return compileFor(targetWithoutTiles, compiledTargetWithoutTiles, source, digest,
                          sourceName, itsOptions);
      });
}

StatusOr<Engine::State::Compiled>
Engine::State::compileFor(const targets::TargetDescription &codeTarget,
                          const std::string &targetKey, std::string_view source,
                          const Digest &digest, std::string_view sourceName,
                          const jit::CompileOptions &compileOptions) {
  using enum Profiler::Kind;
  Profiler *profiler = options.profiler.get();
  Compiled result;
  std::string key;
  if (cache) {
    Hasher hasher;
    const bool isOfWorker = compileWorkers && !jit::isBytecode(source);
    hasher.updateInteger(jit::artifactVersion).updateField(jit::compilerIdentity());
    hasher.updateField(isOfWorker ? workerIdentity : "");
    hasher.update(digest.bytes.data(), Digest::byteCount);
    hasher.updateField(targetKey).updateField(jit::inputsOf(sourceName, compileOptions));
    for (const std::shared_ptr<const Device> &device : options.devices)
      hasher.updateField(device->name).updateField(device->version);
    key = hasher.digest().hex();
    if (!compileOptions.assembly && compileOptions.irAfter.empty()) {
      ProfilerSpan lookup(profiler, Load, "cache miss");
      if (std::optional<jit::Artifact> found = cache->load(key)) {
        lookup.rename("cache hit");
        result.artifact = std::move(*found);
        result.fromCache = true;
        return result;
      }
    }
  }
  // Text in a process of its own, if the engine has such. Bytecode is trusted, and large constants of its file are used
  // where they are mapped: here.
  PLIM_ASSIGN_OR_RETURN(
      result.artifact,
      compileWorkers && !jit::isBytecode(source)
          ? compileWorkers->compile(source, sourceName, codeTarget, compileOptions, &result.times)
          : jit::compile(source, sourceName, codeTarget, compileOptions, &result.times));
  if (cache) {
    ProfilerSpan store(profiler, Load, "store in cache");
    if (Status stored = cache->store(key, result.artifact); !stored.ok())
      options.logger.log(LogLevel::Warning, stored.toString());
  }
  return result;
}

} // namespace plim
