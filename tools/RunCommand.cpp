#include "tools/RunCommand.h"

#include "engine/io/Npy.h"
#include "tools/io/ValueText.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <ostream>

namespace plim::tools {

namespace {

using runtime::Value;

/// Messages of the compiler begin with their location, which is worth more than the code's name.
int fail(std::ostream &err, const Status &status) {
  err << "error: " << status.message() << "\n";
  return 1;
}

std::string withoutAt(const std::string &path) {
  return path.starts_with('@') ? path.substr(1) : path;
}

Status writeOutputs(const RunOptions &options, const std::vector<Value> &results) {
  if (options.outputs.size() > results.size())
    return invalidArgumentError("--output given " + std::to_string(options.outputs.size()) +
                                " times, but there are " + std::to_string(results.size()) +
                                " results");
  for (size_t i = 0; i < options.outputs.size(); ++i)
    PLIM_RETURN_IF_ERROR(io::writeNpy(withoutAt(options.outputs[i]), results[i]));
  return okStatus();
}

void printLoad(const LoadStatistics &statistics, std::ostream &err) {
  auto ms = [](double seconds) { return seconds * 1e3; };
  err << std::fixed << std::setprecision(2) << "load: " << ms(statistics.totalSeconds) << " ms";
  if (statistics.fromCache)
    err << " (from the cache";
  else
    err << " (parse " << ms(statistics.compile.parse) << ", lower " << ms(statistics.compile.lower)
        << ", optimise " << ms(statistics.compile.optimise) << ", codegen "
        << ms(statistics.compile.codegen);
  err << ", link " << ms(statistics.linkSeconds) << ")\n";
}

Status run(const RunOptions &options, std::ostream &out, std::ostream &err) {
  auto pool = std::make_shared<runtime::MemoryPool>();
  // Inputs first: a typo in one should not cost a compilation.
  PLIM_ASSIGN_OR_RETURN(std::vector<Value> inputs, readInputs(options.call, pool));
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  LoadOptions load;
  load.oracle = options.module.oracle;
  PLIM_ASSIGN_OR_RETURN(load.parameters, readParameters(options.call, pool));
  std::vector<runtime::Buffer> pools; // must outlive the module
  PLIM_ASSIGN_OR_RETURN(load.pools, makePools(options.call, pool, pools));
  std::string assembly;
  if (!options.assembly.empty())
    load.assembly = &assembly;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        engine->loadFile(options.module.file, load));
  if (options.assembly == "-")
    out << assembly;
  else if (!options.assembly.empty() && !(std::ofstream(options.assembly) << assembly))
    return unavailableError("cannot write '" + options.assembly + "'");

  PLIM_ASSIGN_OR_RETURN(Function function, chooseFunction(*module, options.call));
  PLIM_RETURN_IF_ERROR(adaptScalars(function.signature(), pool, inputs));
  std::vector<Value> results(function.signature().results.size());
  std::vector<double> times;
  for (int64_t i = 0; i < std::max<int64_t>(1, options.repeat); ++i) {
    auto start = std::chrono::steady_clock::now();
    PLIM_RETURN_IF_ERROR(function.callInto(inputs, results));
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  // What a function leaves in its buffers is an effect too.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (function.signature().arguments[i].isMemref)
      out << "arg[" << i << "]: " << printValue(inputs[i]) << "\n";
  for (size_t i = 0; i < results.size(); ++i)
    out << "result[" << i << "]: " << printValue(results[i]) << "\n";
  if (options.timing) {
    printLoad(module->statistics(), err);
    std::sort(times.begin(), times.end());
    err << "call: median " << times[times.size() / 2] << " us, minimum " << times.front()
        << " us, maximum " << times.back() << " us, " << times.size() << " calls\n";
  }
  return writeOutputs(options, results);
}

} // namespace

int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err) {
  Status status = run(options, out, err);
  return status.ok() ? 0 : fail(err, status);
}

} // namespace plim::tools
