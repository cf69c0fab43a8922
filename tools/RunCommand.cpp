#include "tools/RunCommand.h"

#include "engine/session/Engine.h"
#include "jit/ArtifactCache.h"
#include "tools/io/Npy.h"
#include "tools/io/Safetensors.h"
#include "tools/io/ValueText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <ostream>

namespace plim::tools {

namespace {

using runtime::Value;
using PoolPtr = std::shared_ptr<runtime::MemoryPool>;

/// Messages of the compiler begin with their location, which is worth more than the code's name.
int fail(std::ostream &err, const Status &status) {
  err << "error: " << status.message() << "\n";
  return 1;
}

std::string withoutAt(const std::string &path) {
  return path.starts_with('@') ? path.substr(1) : path;
}

StatusOr<std::shared_ptr<Engine>> makeEngine(const ModuleOptions &options) {
  EngineOptions engine;
  engine.target = options.target;
  engine.targetOverrides = options.overrides;
  engine.limits = options.limits;
  engine.policy = options.policy;
  engine.threads = options.threads;
  if (options.cache || !options.cacheFolder.empty())
    engine.cacheFolder =
        options.cacheFolder.empty() ? jit::ArtifactCache::defaultFolder() : options.cacheFolder;
  engine.logger = makeStderrLogger(LogLevel::Warning);
  return Engine::create(std::move(engine));
}

Status readParameters(const RunOptions &options, const PoolPtr &pool, Parameters &parameters) {
  for (const std::string &path : options.parameterFiles) {
    PLIM_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
    for (const auto &[name, entry] : file.entries()) {
      PLIM_ASSIGN_OR_RETURN(runtime::Buffer buffer, file.tensor(name));
      parameters[name] = std::move(buffer);
    }
  }
  for (const std::string &text : options.parameters) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      return invalidArgumentError("parameter '" + text + "' must be NAME=VALUE");
    std::string name = text.substr(0, equals);
    StatusOr<Value> value = parseValue(text.substr(equals + 1), pool);
    if (!value.ok())
      return value.status().withContext("parameter '" + name + "'");
    const auto *buffer = std::get_if<runtime::Buffer>(&*value);
    if (!buffer)
      return invalidArgumentError("parameter '" + name + "' must be a tensor");
    parameters[name] = *buffer;
  }
  return okStatus();
}

/// Memory for the pools of the command line, owned by `memories`.
Status makePools(const RunOptions &options, const PoolPtr &pool,
                 std::vector<runtime::Buffer> &memories, Pools &pools) {
  for (const std::string &text : options.pools) {
    size_t equals = text.find('=');
    std::string_view digits = std::string_view(text).substr(std::min(equals + 1, text.size()));
    int64_t bytes = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (equals == std::string::npos || error != std::errc() ||
        end != digits.data() + digits.size() || bytes < 0)
      return invalidArgumentError("pool '" + text + "' must be NAME=BYTES");
    StatusOr<runtime::Buffer> memory =
        runtime::Buffer::allocate(pool, runtime::ElementType::I8, std::span(&bytes, 1));
    if (!memory.ok())
      return memory.status().withContext("pool '" + text + "'");
    pools[text.substr(0, equals)] = {memory->mutableData(), static_cast<size_t>(bytes)};
    memories.push_back(std::move(*memory));
  }
  return okStatus();
}

/// The text of a tensor of rank 0 is that of a scalar: the signature tells which is meant.
Status adaptScalars(const jit::FunctionSignature &signature, const PoolPtr &pool,
                    std::vector<Value> &inputs) {
  for (size_t i = 0; i < std::min(inputs.size(), signature.arguments.size()); ++i) {
    const auto *scalar = std::get_if<runtime::Scalar>(&inputs[i]);
    if (!scalar || !signature.arguments[i].isShaped || !signature.arguments[i].shape.empty())
      continue;
    auto bytes = std::as_bytes(std::span(&scalar->bits, 1));
    PLIM_ASSIGN_OR_RETURN(
        runtime::Buffer buffer,
        runtime::Buffer::fromCopy(pool, scalar->type, {},
                                  bytes.first(static_cast<size_t>(elementBytes(scalar->type)))));
    inputs[i] = std::move(buffer);
  }
  return okStatus();
}

Status writeOutputs(const RunOptions &options, const std::vector<Value> &results) {
  if (options.outputs.size() > results.size())
    return invalidArgumentError("--output given " + std::to_string(options.outputs.size()) +
                                " times, but there are " + std::to_string(results.size()) +
                                " results");
  for (size_t i = 0; i < options.outputs.size(); ++i)
    PLIM_RETURN_IF_ERROR(writeNpy(withoutAt(options.outputs[i]), results[i]));
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
  std::vector<Value> inputs;
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    StatusOr<Value> value = parseValue(options.inputs[i], pool);
    if (!value.ok())
      return value.status().withContext("input #" + std::to_string(i));
    inputs.push_back(std::move(*value));
  }
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  LoadOptions load;
  load.oracle = options.module.oracle;
  PLIM_RETURN_IF_ERROR(readParameters(options, pool, load.parameters));
  std::vector<runtime::Buffer> pools; // must outlive the module
  PLIM_RETURN_IF_ERROR(makePools(options, pool, pools, load.pools));
  std::string assembly;
  if (!options.assembly.empty())
    load.assembly = &assembly;
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Module> module,
                        engine->loadFile(options.module.file, load));
  if (options.assembly == "-")
    out << assembly;
  else if (!options.assembly.empty() && !(std::ofstream(options.assembly) << assembly))
    return unavailableError("cannot write '" + options.assembly + "'");

  std::string name = options.function;
  if (name.empty()) {
    if (module->functions().size() != 1)
      return invalidArgumentError(options.module.file + " has " +
                                  std::to_string(module->functions().size()) +
                                  " public functions: choose one with --function");
    name = module->functions()[0].name;
  }
  PLIM_ASSIGN_OR_RETURN(Function function, module->lookup(name));
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

std::string text(const llvm::json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

template <typename VisitT>
void forEach(const llvm::json::Object &object, llvm::StringRef key, VisitT visit) {
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &value : *array)
      visit(*value.getAsObject());
}

/// "a, b", or "nobody".
std::string names(const llvm::json::Object &object, llvm::StringRef key) {
  std::string list;
  if (const llvm::json::Array *array = object.getArray(key))
    for (const llvm::json::Value &name : *array)
      list += (list.empty() ? "" : ", ") + name.getAsString().value_or("").str();
  return list.empty() ? "nobody" : list;
}

/// The report for people: what runs, what it touches, where everything lives and why.
void printReport(const llvm::json::Object &report, std::ostream &out) {
  forEach(report, "functions", [&](const llvm::json::Object &function) {
    out << "function @" << text(function, "name") << ", " << text(function, "kind") << "\n";
    if (int64_t bytes = function.getInteger("workspace_bytes").value_or(0))
      out << "  workspace: " << bytes << " bytes a call\n";
    if (const llvm::json::Object *pools = function.getObject("pool_bytes"))
      for (const auto &[pool, bytes] : *pools)
        out << "  pool " << pool.str() << ": " << bytes.getAsInteger().value_or(0)
            << " bytes a call\n";
    forEach(function, "dispatches", [&](const llvm::json::Object &dispatch) {
      out << "  dispatch @" << text(dispatch, "name") << " on " << text(dispatch, "device")
          << ", from " << text(dispatch, "location") << "\n";
      forEach(dispatch, "bindings", [&](const llvm::json::Object &binding) {
        out << "    " << std::left << std::setw(9) << text(binding, "access") << "  "
            << text(binding, "type") << "\n";
      });
    });
  });
  bool first = true;
  forEach(report, "allocations", [&](const llvm::json::Object &allocation) {
    out << (first ? "allocations\n" : "") << "  " << text(allocation, "type") << " in @"
        << text(allocation, "function") << ", from " << text(allocation, "location") << "\n    "
        << text(allocation, "scope");
    if (auto offset = allocation.getInteger("offset"))
      out << " at " << *offset;
    out << ": " << text(allocation, "reason") << " (" << text(allocation, "level") << ")\n    ";
    if (auto bytes = allocation.getInteger("bytes"))
      out << *bytes << " bytes";
    else
      out << "no bound";
    if (const llvm::json::Array *life = allocation.getArray("lifetime"))
      out << ", live from " << *(*life)[0].getAsInteger() << " to " << *(*life)[1].getAsInteger();
    out << ", used by " << names(allocation, "accessors") << ", could be in "
        << names(allocation, "candidates") << "\n";
    first = false;
  });
  const llvm::json::Object *stack = report.getObject("stack");
  if (!stack)
    return;
  out << "stack";
  if (stack->getInteger("lowerings").value_or(1) > 1)
    out << ", lowered again with " << stack->getInteger("reserve").value_or(0)
        << " bytes left to frames";
  out << "\n";
  forEach(*stack, "functions", [&](const llvm::json::Object &function) {
    auto bytes = [&](llvm::StringRef key) { return function.getInteger(key).value_or(0); };
    out << "  @" << text(function, "name") << ": " << bytes("proven") << " bytes ("
        << bytes("estimated") << " estimated) of " << bytes("budget") << "; " << bytes("call")
        << " with the runtime's frames\n";
  });
}

/// What every policy would have cost, proven: the same module lowered with each.
Status printPolicies(Engine &engine, const std::string &source, const ExplainOptions &options,
                     std::ostream &out) {
  out << "policies, in bytes\n  " << std::left << std::setw(12) << "" << std::right << std::setw(12)
      << "stack" << std::setw(12) << "workspace" << std::setw(12) << "scratch" << std::setw(12)
      << "allocator" << "\n";
  for (const char *policy : {"auto", "stack", "workspace", "heap", "fixed:1024"}) {
    LoadOptions load;
    load.policy = policy;
    PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact,
                          engine.compile(source, options.module.file, load));
    llvm::Expected<llvm::json::Value> report = llvm::json::parse(artifact.report);
    if (!report)
      return internalError("malformed report: " + llvm::toString(report.takeError()));
    const llvm::json::Object &object = *report->getAsObject();
    int64_t stack = 0, workspace = 0, scratch = 0, calls = 0;
    forEach(*object.getObject("stack"), "functions", [&](const llvm::json::Object &function) {
      stack = std::max(stack, function.getInteger("proven").value_or(0));
    });
    forEach(object, "functions", [&](const llvm::json::Object &function) {
      workspace = std::max(workspace, function.getInteger("workspace_bytes").value_or(0));
    });
    forEach(object, "allocations", [&](const llvm::json::Object &allocation) {
      bool isPlaced =
          allocation.getInteger("offset") || text(allocation, "scope") == "global.stack";
      calls += !isPlaced;
    });
    forEach(object, "scratch", [&](const llvm::json::Object &dispatch) {
      scratch = std::max(scratch, dispatch.getInteger("bytes").value_or(0));
    });
    out << "  " << std::left << std::setw(12) << policy << std::right << std::setw(12) << stack
        << std::setw(12) << workspace << std::setw(12) << scratch << std::setw(6) << calls
        << " calls\n";
  }
  return okStatus();
}

Status explain(const ExplainOptions &options, std::ostream &out) {
  PLIM_ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine, makeEngine(options.module));
  PLIM_ASSIGN_OR_RETURN(std::string source, Engine::readSource(options.module.file));
  LoadOptions load;
  load.oracle = options.module.oracle;
  // Not linked: parameters need no memory, and the target need not be this machine.
  PLIM_ASSIGN_OR_RETURN(jit::Artifact artifact, engine->compile(source, options.module.file, load));
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(artifact.report);
  if (!report)
    return internalError("malformed report: " + llvm::toString(report.takeError()));
  if (!options.json) {
    printReport(*report->getAsObject(), out);
    return printPolicies(*engine, source, options, out);
  }
  std::string pretty;
  llvm::raw_string_ostream(pretty) << llvm::formatv("{0:2}", *report) << "\n";
  out << pretty;
  return okStatus();
}

} // namespace

int runRunCommand(const RunOptions &options, std::ostream &out, std::ostream &err) {
  Status status = run(options, out, err);
  return status.ok() ? 0 : fail(err, status);
}

int runExplainCommand(const ExplainOptions &options, std::ostream &out, std::ostream &err) {
  Status status = explain(options, out);
  return status.ok() ? 0 : fail(err, status);
}

} // namespace plim::tools
