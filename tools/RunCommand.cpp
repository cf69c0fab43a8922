#include "tools/RunCommand.h"

#include "engine/io/Npy.h"
#include "support/Trace.h"
#include "tools/EarlyChecks.h"
#include "tools/Progress.h"
#include "tools/RunStatistics.h"
#include "tools/Text.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <ostream>
#include <sys/resource.h>

namespace plim::tools {

namespace {

using runtime::Value;

std::string withoutAt(const std::string &path) {
  return path.starts_with('@') ? path.substr(1) : path;
}

/// Before the work: what it makes shall not be lost.
Status checkOutputs(const RunOptions &options) {
  for (const std::string &output : options.outputs)
    PLIM_RETURN_IF_ERROR(checkWritable(withoutAt(output)));
  return options.assembly.empty() || options.assembly == "-" ? okStatus()
                                                             : checkWritable(options.assembly);
}

Status writeOutputs(const RunOptions &options, const std::vector<Value> &results) {
  for (size_t i = 0; i < options.outputs.size(); ++i)
    PLIM_RETURN_IF_ERROR(io::writeNpy(withoutAt(options.outputs[i]), results[i]));
  return okStatus();
}

int64_t bytesOf(const std::vector<Value> &values) {
  int64_t bytes = 0;
  for (const Value &value : values)
    if (const auto *buffer = std::get_if<runtime::Buffer>(&value))
      bytes += static_cast<int64_t>(buffer->bytes());
  return bytes;
}

/// The most that this process ever had in memory.
int64_t peakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

StatusOr<std::shared_ptr<Module>> loadWithProgress(const RunOptions &options, Engine &engine,
                                                   LoadOptions load, std::ostream &err) {
  std::optional<ProgressLine> line;
  if (options.progress) {
    line.emplace(err);
    load.progress = [&](const jit::CompileProgress &progress) { line->update(progress); };
  }
  return loadModule(options.module, engine, load, [&](std::string_view text) {
    return checkCall(text, moduleName(options.module), options.call.function, options.outputs);
  });
}

Status run(const RunOptions &options, const std::shared_ptr<Profiler> &profiler, std::ostream &out,
           std::ostream &err) {
  auto pool = std::make_shared<runtime::MemoryPool>();
  // First: a typo should not cost a compilation.
  PLIM_RETURN_IF_ERROR(checkOutputs(options));
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs, readInputs(options.call, pool));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module, profiler));
  LoadOptions load = loadOptions(options.module, err);
  load.lazy = options.lazy;
  if (options.specialize && options.module.specialization == Specialization::None)
    load.specialization = {Specialization::OnRequest};
  PLIM_ASSIGN_OR_RETURN(load.parameters, readParameters(options.call, pool));
  std::vector<runtime::Buffer> pools; // must outlive the module
  PLIM_ASSIGN_OR_RETURN(load.pools, makePools(options.call, pool, pools));
  std::string assembly;
  if (!options.assembly.empty())
    load.assembly = &assembly;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        loadWithProgress(options, *engine, load, err));
  if (module->statistics().precompiled)
    PLIM_RETURN_IF_ERROR(checkPrecompiled(options.module));
  if (options.assembly == "-")
    out << assembly;
  else if (!options.assembly.empty() && !(std::ofstream(options.assembly) << assembly))
    return unavailableError("cannot write '" + options.assembly + "'");

  PLIM_ASSIGN_OR_RETURN(Function function, chooseFunction(*module, options.call));
  const size_t resultCount = function.signature().results.size();
  if (options.outputs.size() > resultCount)
    return invalidArgumentError("--output given " + std::to_string(options.outputs.size()) +
                                " times, but there are " + std::to_string(resultCount) +
                                " results");
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    const auto element = runtime::elementTypeFromName(function.signature().results[i].element);
    if (element)
      PLIM_RETURN_IF_ERROR(
          io::checkNpyElements(*element).withContext(withoutAt(options.outputs[i])));
  }
  PLIM_RETURN_IF_ERROR(adaptScalars(function.signature(), pool, inputs));
  if (options.specialize)
    PLIM_RETURN_IF_ERROR(function.specialize(inputs));
  std::vector<Value> results(resultCount);
  std::vector<double> times;
  for (int64_t i = 0; i < std::max<int64_t>(1, options.repeat); ++i) {
    auto start = std::chrono::steady_clock::now();
    PLIM_RETURN_IF_ERROR(function.callInto(inputs, results));
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  printValues(function.signature(), inputs, results, options.print, out);
  if (options.stats)
    printStatistics({.load = module->statistics(),
                     .specializations = module->specializationStatistics(),
                     .callSeconds = std::move(times),
                     .callBytes = bytesOf(inputs) + bytesOf(results),
                     .memory = engine->memoryStatistics(),
                     .residentBytes = peakResidentBytes(),
                     .counters = profiler->counters()},
                    err);
  return writeOutputs(options, results);
}

} // namespace

void printValues(const jit::FunctionSignature &signature, std::span<const Value> arguments,
                 std::span<const Value> results, Print print, std::ostream &out) {
  if (print == Print::None)
    return;
  const bool summarize = print == Print::Summary;
  // What a function leaves in its buffers is an effect too.
  for (size_t i = 0; i < arguments.size(); ++i)
    if (signature.arguments[i].isMemref)
      out << "arg[" << i << "]: " << printValue(arguments[i], summarize) << "\n";
  for (size_t i = 0; i < results.size(); ++i)
    out << "result[" << i << "]: " << printValue(results[i], summarize) << "\n";
}

int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err) {
  std::shared_ptr<Profiler> profiler;
  std::ofstream trace;
  auto cannotWrite = [&] {
    return unavailableError("cannot write '" + options.trace + "': " + std::strerror(errno));
  };
  if (!options.trace.empty()) {
    // First, as inputs are.
    trace.open(options.trace, std::ios::binary);
    if (!trace)
      return exitStatus(err, cannotWrite());
    profiler = std::make_shared<Profiler>();
  } else if (options.stats) {
    profiler = std::make_shared<Profiler>(0);
  }
  Status status = run(options, profiler, out, err);
  if (trace.is_open()) {
    writeTrace(*profiler, trace);
    trace.close();
    if (!trace && status.ok())
      status = cannotWrite();
  }
  return exitStatus(err, status);
}

} // namespace plim::tools
