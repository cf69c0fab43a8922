#include "jit/Compiler.h"

#include "ir/Conversion/Passes.h"
#include "ir/Gpu/GpuCompiler.h"
#include "ir/Pipelines/Load.h"
#include "ir/Pipelines/Pipelines.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "jit/CompileContext.h"
#include "jit/ConstantTable.h"
#include "jit/DataCollector.h"
#include "jit/DispatchLowering.h"
#include "jit/Exhaustion.h"
#include "jit/Exporter.h"
#include "jit/ModuleSplitter.h"
#include "jit/ObjectCache.h"
#include "jit/ObjectEmitter.h"
#include "jit/PassInstruments.h"
#include "jit/ProgressReport.h"
#include "jit/Report.h"
#include "jit/Signatures.h"
#include "jit/SourceNames.h"
#include "jit/StackProofs.h"
#include "jit/TargetMachines.h"
#include "support/FloatEnvironment.h"
#include "targets/AllocationOptions.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

using namespace mlir;

namespace plim::jit {

namespace {

constexpr unsigned compileStackBytes = 64u << 20;

/// So many dispatches are lowered by several threads, each of which starts MLIR for itself.
constexpr size_t leastShared = 8;

/// What the witness is told behind the passes.
constexpr std::string_view whileGenerating = "in code generation";

/// What an operation of a dispatch becomes.
constexpr size_t instructionsPerOperation = 6;

/// Adds the stack limits among `name=value` assignments to an attribute of the module.
Status attachLimits(ModuleOp module, StringRef attribute, ArrayRef<std::string> limits) {
  Builder builder(module.getContext());
  NamedAttrList list(module->getAttrOfType<DictionaryAttr>(attribute));
  PLIM_ASSIGN_OR_RETURN(std::vector<targets::Limit> parsed, targets::stackLimitsOf(limits));
  for (const targets::Limit &limit : parsed) {
    if (const bool *flag = std::get_if<bool>(&limit.value))
      list.set(limit.name, builder.getBoolAttr(*flag));
    else
      list.set(limit.name, builder.getI64IntegerAttr(std::get<int64_t>(limit.value)));
  }
  if (!list.empty())
    module->setAttr(attribute, list.getDictionary(module.getContext()));
  return okStatus();
}

std::vector<ModulePiece> wholeModule(OwningOpRef<ModuleOp> module) {
  std::vector<ModulePiece> pieces(1);
  pieces[0].module = std::move(module);
  pieces[0].kind = CodeKind::Whole;
  return pieces;
}

/// What one lowering after the other has in common.
class Compilation {
public:
  Compilation(const targets::TargetDescription &target, const CompileOptions &options,
              CompileTimes &times)
      : target(target), options(options), times(times), progress(options.progress) {
    if (options.witness)
      witness = [this](const Diagnostic &what) {
        std::lock_guard lock(witnessMutex);
        this->options.witness(what);
      };
    if (options.cache)
      cache.emplace(*options.cache, target, options.numerics);
  }

  StatusOr<Artifact> run(StringRef source, StringRef name);

private:
  /// An artifact and what decides whether it stays.
  struct Attempt {
    Artifact artifact;
    llvm::json::Object report;
    StackProofs stack;
    std::vector<FunctionFrame> frames; // of exported code
  };

  /// One object on its way: what it is made of, and what came of it.
  struct Job {
    std::string name; // for people
    size_t size = 0;  // instructions of LLVM, roughly
    /// What the emitter is made of, if there is none yet.
    const DispatchLowering::Dispatch *dispatch = nullptr;
    std::optional<ObjectEmitter> emitter;
    bool usesTiles = false;
    double lowerSeconds = 0;
    Status status;
  };

  /// The way of the source to proven objects.
  class Lowering {
  public:
    /// With `stackReserve` bytes less of the stack for placement.
    Lowering(Compilation &all, StringRef source, StringRef name, int64_t stackReserve);

    StatusOr<Attempt> run();
    /// Instead of that: an artifact without code.
    StatusOr<Artifact> readSignatures();

  private:
    Status parse();
    Status describe();
    Status dropOtherFunctions();
    ir::PipelineOptions pipelineOptions();
    Status runStage(const ir::Stage &stage, const ir::PipelineOptions &pipeline);
    void readDecisions();
    /// The module, all at once. `begin` and `end` are of the whole compilation (ProgressReport).
    Status runPasses(StringRef name, double begin, double end,
                     llvm::function_ref<void(PassManager &)> add);
    Status separate(const ir::PipelineOptions &pipeline);
    Status takeData();
    Status translate();
    Status emit();
    Status writeHeader();

    bool showsIrAfter(const ir::Stage &stage) const {
      return options.takeIr && llvm::is_contained(options.irAfter, stage.name);
    }
    /// Seconds since the last time.
    double lap();

    Compilation &all;
    const CompileOptions &options;
    const targets::DeviceDescription &device;
    const StringRef source, name;
    const int64_t stackReserve;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

    CompileContext in;
    OwningOpRef<ModuleOp> module;                 // what has not been separated
    std::unique_ptr<DispatchLowering> dispatches; // the rest
    bool sharesLowering = false;                  // by jobs
    std::vector<ExternalTypes> externalTypes;     // of exported code
    std::vector<ExportedContext> exportedContexts;
    std::vector<Job> jobs;
    Attempt attempt;
  };

  /// Are there the stages that the host wants to see?
  Status checkStages() const {
    const std::vector<std::string_view> known = stageNames();
    for (const std::string &stage : options.irAfter)
      if (!llvm::is_contained(known, stage))
        return invalidArgumentError("there is no stage '" + stage + "'");
    return okStatus();
  }

  bool isExport() const { return !options.exportName.empty(); }

  StatusOr<Artifact> finish(Attempt attempt, int lowerings, int64_t reserve) const;

  static Status lower(Job &job, DispatchLowering &dispatches) {
    PLIM_ASSIGN_OR_RETURN(ObjectEmitter emitter, dispatches.lower(*job.dispatch));
    job.emitter.emplace(std::move(emitter));
    return okStatus();
  }

  Status runJobs(std::vector<Job> &jobs, DispatchLowering *dispatches) {
    ProfilerSpan span = step("objects");
    // The largest first: none of them is to keep one thread busy when the others have nothing left.
    std::vector<std::pair<size_t, size_t>> order; // size, position
    std::vector<size_t> sizes;
    for (const auto &[i, job] : llvm::enumerate(jobs)) {
      order.emplace_back(job.size, i);
      sizes.push_back(job.size);
    }
    llvm::sort(order, std::greater());
    progress.begin(sizes);
    const Status exhausted = outOfMemory("compiling");
    std::atomic<bool> isExhausted = false;
    TargetMachines machines(target.devices[0]);
    auto run = [&](size_t number) {
      const FloatEnvironment environment;
      Job &job = jobs[order[number].second];
      if (isStopped()) {
        job.status = stopped();
        return;
      }
      bool isDone = false;
      job.status = catchExhaustion(exhausted, [&] {
        Status status = runJob(job, dispatches, machines);
        isDone = true;
        return status;
      });
      if (!isDone)
        isExhausted = true;
      progress.end(job.size, job.status.ok());
    };
    if (options.parallelFor)
      options.parallelFor(jobs.size(), run);
    else
      for (size_t i = 0; i < jobs.size(); ++i)
        run(i);
    // What LLVM left behind must not be destroyed: to runOnThread, past all that owns it.
    if (isExhausted)
      llvm::report_bad_alloc_error("code generation");
    for (Job &job : jobs)
      PLIM_RETURN_IF_ERROR(job.status);
    return okStatus();
  }

  void tellWitness(std::string_view what) const {
    if (witness)
      witness({Diagnostic::Severity::Note, "", 0, 0, 0, 0, std::string(what)});
  }

  Status runJob(Job &job, DispatchLowering *dispatches, TargetMachines &machines) const {
    if (!job.emitter) {
      const auto start = std::chrono::steady_clock::now();
      ProfilerSpan span = step("lower");
      PLIM_RETURN_IF_ERROR(lower(job, *dispatches));
      job.lowerSeconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      tellWitness(whileGenerating);
    }
    job.usesTiles = job.emitter->usesTiles();
    return job.emitter->emit(machines,
                             {.assembly = options.assembly != nullptr,
                              .cache = cache ? &*cache : nullptr,
                              .profiler = options.profiler,
                              .name = job.name},
                             patience);
  }

  /// Adds the GPUs of the target that somebody wants, as far as nobody else compiles for them.
  void addOwnDevices(ModuleOp module, std::vector<std::string> &names) const {
    if (options.oracle)
      return;
    for (const targets::DeviceDescription &device : target.devices) {
      auto isNamed = [&](Operation *op) {
        auto name = op->getAttrOfType<StringAttr>(ir::deviceAttr);
        return name && name.getValue() == device.name ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      };
      if (ir::isGpu(device) && !llvm::is_contained(names, device.name) &&
          !llvm::is_contained(options.devicesWithoutCompiler, device.name) &&
          (options.preferredDevice == device.name || module.walk(isNamed).wasInterrupted()))
        names.push_back(device.name);
    }
  }

  ir::DeviceAnswer compileForDevice(const ir::DeviceSource &dispatch) {
    using enum ir::DeviceAnswer::Kind;
    // A second lowering takes the answers of the first.
    auto [answer, isNew] = deviceAnswers.try_emplace({dispatch.device.str(), dispatch.text.str()});
    if (!isNew)
      return answer->second;
    if (isStopped())
      return answer->second = {Failed, std::string(stopped().message())};
    const std::string what = "code of " + dispatch.device.str();
    ProfilerSpan span = step(what.c_str());
    auto device = llvm::find_if(options.devices, [&](const DeviceCompiler &each) {
      return each.device == dispatch.device;
    });
    if (device == options.devices.end())
      return answer->second = ir::compileForGpu(dispatch, *target.findDevice(dispatch.device.str()),
                                                options.numerics == Numerics::Strict);
    StatusOr<std::string> code = device->compile(dispatch.name, dispatch.text);
    return answer->second = code.ok() ? ir::DeviceAnswer{Taken, std::move(*code)}
                            : code.status().code() == StatusCode::Unimplemented
                                ? ir::DeviceAnswer{Refused, std::string(code.status().message())}
                                : ir::DeviceAnswer{Failed, std::string(code.status().message())};
  }

  bool isStopped() const { return patience.isOver(); }
  Status stopped() const { return patience.status(); }

  /// The name is borrowed for as long as the span lives.
  ProfilerSpan step(const char *name) const {
    return ProfilerSpan(options.profiler, Profiler::Kind::Compile, name);
  }

  const targets::TargetDescription &target;
  const CompileOptions &options;
  CompileTimes &times;
  targets::SourceLimits limits;
  const Patience patience{options.stop, options.timeout, options.begin};
  ProgressReport progress;
  /// That of the options, of one thread at a time.
  std::function<void(const Diagnostic &)> witness;
  std::mutex witnessMutex;
  std::optional<ObjectCache> cache;
  ConstantTable constants; // a second lowering takes those of the first
  std::map<std::pair<std::string, std::string>, ir::DeviceAnswer> deviceAnswers; // device, text
};

StatusOr<Artifact> Compilation::run(StringRef source, StringRef name) {
  PLIM_RETURN_IF_ERROR(targets::setSourceLimits(options.engineLimits, limits));
  PLIM_RETURN_IF_ERROR(targets::setSourceLimits(options.loadLimits, limits));
  if (isExport())
    PLIM_RETURN_IF_ERROR(checkExportName(options.exportName));
  PLIM_RETURN_IF_ERROR(checkStages());
  if (options.describesOnly)
    return Lowering(*this, source, name, /*stackReserve=*/0).readSignatures();
  PLIM_ASSIGN_OR_RETURN(Attempt first, Lowering(*this, source, name, /*stackReserve=*/0).run());
  const int64_t reserve = first.stack.reserve();
  if (reserve == 0)
    return finish(std::move(first), 1, 0);
  // What the author wants on the stack may not fit beside the reserve: the first one is correct too.
  StatusOr<Attempt> second = Lowering(*this, source, name, reserve).run();
  if (isStopped())
    return stopped();
  if (!second.ok())
    return finish(std::move(first), 1, 0);
  return finish(std::move(*second), 2, reserve);
}

StatusOr<Artifact> Compilation::finish(Attempt attempt, int lowerings, int64_t reserve) const {
  if (isExport())
    PLIM_RETURN_IF_ERROR(attempt.stack.checkExported(attempt.artifact, attempt.frames));
  attempt.report["stack"] = llvm::json::Object{
      {"lowerings", lowerings}, {"reserve", reserve}, {"functions", attempt.stack.report()}};
  attempt.report["data"] = dataReport(attempt.artifact);
  attempt.artifact.report =
      llvm::formatv("{0}", llvm::json::Value(std::move(attempt.report))).str();
  return std::move(attempt.artifact);
}

Compilation::Lowering::Lowering(Compilation &all, StringRef source, StringRef name,
                                int64_t stackReserve)
    : all(all), options(all.options), device(all.target.devices[0]), source(source), name(name),
      stackReserve(stackReserve), in(source, name, all.witness, all.patience) {}

StatusOr<Compilation::Attempt> Compilation::Lowering::run() {
  PLIM_RETURN_IF_ERROR(parse());
  PLIM_RETURN_IF_ERROR(describe());
  const ir::PipelineOptions pipeline = pipelineOptions();
  const ArrayRef<ir::Stage> stages = ir::stages();
  for (const ir::Stage &stage : stages.drop_back())
    PLIM_RETURN_IF_ERROR(runStage(stage, pipeline));
  readDecisions();
  // What is exported is one object.
  PLIM_RETURN_IF_ERROR(all.isExport() ? runStage(stages.back(), pipeline) : separate(pipeline));
  PLIM_RETURN_IF_ERROR(takeData());
  PLIM_RETURN_IF_ERROR(translate());
  PLIM_RETURN_IF_ERROR(emit());
  return std::move(attempt);
}

StatusOr<Artifact> Compilation::Lowering::readSignatures() {
  PLIM_RETURN_IF_ERROR(parse());
  PLIM_RETURN_IF_ERROR(describe());
  if (all.isStopped())
    return all.stopped();
  if (Operation *variable = variableOf(*module))
    return errorAtPlace(StatusCode::Unimplemented,
                        ir::locationText(variable->getLoc()) +
                            "functions of a module with variables cannot be compiled one by one");
  if (failed(ir::checkSignatures(*module)))
    return in.diagnostics.status("checking");
  for (FunctionSignature &function : attempt.artifact.functions)
    for (ValueType &argument : function.arguments)
      if (argument.isMemref)
        argument.access = Access::ReadWrite; // as far as is known
  all.progress.advance(1);
  return std::move(attempt.artifact);
}

double Compilation::Lowering::lap() {
  auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(start, now)).count();
}

Status Compilation::Lowering::parse() {
  all.tellWitness(whileParsing);
  {
    ProfilerSpan span = all.step("parse");
    module = ir::loadModule(in.context, source, name, all.limits);
  }
  if (!module)
    return in.diagnostics.status("parsing");
  all.times.parse += lap();
  return okStatus();
}

/// What the artifact has from the source and the options, and what the module says from now on: target and limits.
Status Compilation::Lowering::describe() {
  Artifact &artifact = attempt.artifact;
  artifact.source = name.str();
  artifact.triple = device.triple;
  artifact.policy = options.oracle ? "heap" : options.policy;
  artifact.isGuarded = options.guarded;
  for (StringRef feature : device.features)
    if (feature.consume_front("+"))
      artifact.requiredFeatures.push_back(feature.str());
  if (std::string length = device.scalableVectorFeature(); !length.empty())
    artifact.requiredFeatures.push_back(std::move(length));
  const SourceNames sourceNames(ir::isBytecode(source) ? "" : source, name);
  nameArguments(*module, sourceNames);
  artifact.functions = signaturesOf(*module, sourceNames);
  artifact.unreadParameters = parametersOf(*module);
  if (const std::string &special = options.specialization.function; !special.empty())
    std::erase_if(artifact.functions,
                  [&](const FunctionSignature &function) { return function.name != special; });
  if (!options.onlyFunction.empty())
    PLIM_RETURN_IF_ERROR(dropOtherFunctions());
  if (artifact.functions.empty())
    return invalidArgumentError((name + ": the module has no public function").str());
  targets::dlti::attachTarget(*module, all.target);
  PLIM_RETURN_IF_ERROR(attachLimits(*module, ir::engineLimitsAttr, options.engineLimits));
  return attachLimits(*module, ir::limitsAttr, options.loadLimits);
}

/// All that the one function that is wanted does not need.
Status Compilation::Lowering::dropOtherFunctions() {
  const StringRef wanted = options.onlyFunction;
  std::erase_if(attempt.artifact.functions, [&](const FunctionSignature &function) {
    return StringRef(function.name) != wanted;
  });
  for (auto function : module->getOps<func::FuncOp>())
    if (function.getName() != wanted)
      function.setPrivate();
  PassManager drop(&in.context);
  drop.enableVerifier(false);
  drop.addPass(createSymbolDCEPass());
  return succeeded(drop.run(*module)) ? okStatus() : in.diagnostics.status("lowering");
}

ir::PipelineOptions Compilation::Lowering::pipelineOptions() {
  ir::PipelineOptions pipeline;
  pipeline.policy = attempt.artifact.policy;
  pipeline.oracle = options.oracle;
  pipeline.strict = options.numerics == Numerics::Strict;
  pipeline.stackReserveBytes = stackReserve;
  pipeline.specializedFunction = options.specialization.function;
  pipeline.specializedExtents = options.specialization.extents;
  pipeline.guarded = options.guarded;
  pipeline.standalone = all.isExport();
  if (!device.caches.empty() && device.caches[0].lineBytes > 0)
    pipeline.inlineConstantBytes = device.caches[0].lineBytes;
  for (const DeviceCompiler &each : options.devices)
    pipeline.devices.push_back(each.device);
  all.addOwnDevices(*module, pipeline.devices);
  pipeline.preferredDevice = options.preferredDevice;
  pipeline.deviceMemories = options.deviceMemories;
  pipeline.compileForDevice = [&all = all](const ir::DeviceSource &dispatch) {
    return all.compileForDevice(dispatch);
  };
  return pipeline;
}

Status Compilation::Lowering::runStage(const ir::Stage &stage,
                                       const ir::PipelineOptions &pipeline) {
  const size_t index = size_t(&stage - ir::stages().begin());
  const bool isLast = index + 1 == ir::stages().size();
  PLIM_RETURN_IF_ERROR(runPasses(
      stage.name, begins::stages[index], isLast ? begins::translation : begins::stages[index + 1],
      [&](PassManager &manager) { ir::addStage(manager, stage, pipeline); }));
  if (showsIrAfter(stage)) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out);
    out << "\n";
    options.takeIr(stage.name, text);
  }
  return okStatus();
}

Status Compilation::Lowering::runPasses(StringRef name, double begin, double end,
                                        llvm::function_ref<void(PassManager &)> add) {
  if (all.isStopped())
    return all.stopped();
  const std::string spanName = name.str();
  ProfilerSpan span = all.step(spanName.c_str());
  // Verified once a stage, not after each pass: faults surface here, not in LLVM.
  PassManager manager(&in.context);
  manager.enableVerifier(false);
  addInstruments(manager, options.profiler, all.witness);
  add(manager);
  if (all.progress)
    manager.addInstrumentation(std::make_unique<PassProgress>(all.progress, manager, begin, end));
  const bool ok = succeeded(manager.run(*module));
  if (all.isStopped())
    return all.stopped();
  return ok && succeeded(verify(*module)) ? okStatus() : in.diagnostics.status("lowering");
}

/// The last stage, but for dispatches that can be lowered each by itself.
Status Compilation::Lowering::separate(const ir::PipelineOptions &pipeline) {
  const ir::Stage &stage = ir::stages().back();
  const double begin = begins::stages[ir::stages().size() - 1];
  if (showsIrAfter(stage)) {
    // As one text; of a copy.
    OwningOpRef<ModuleOp> before(module->clone());
    PLIM_RETURN_IF_ERROR(runStage(stage, pipeline));
    module = std::move(before);
  }
  PLIM_RETURN_IF_ERROR(runPasses(stage.name, begin, begin, [&](PassManager &manager) {
    ir::addConversionOfWhole(manager, pipeline);
  }));
  std::vector<ir::SeparateDispatch> separate = ir::separateDispatches(*module);
  sharesLowering = options.parallelFor && separate.size() >= leastShared;
  dispatches =
      std::make_unique<DispatchLowering>(in, std::move(separate), sharesLowering,
                                         DispatchLoweringOptions{.pipeline = pipeline,
                                                                 .device = device,
                                                                 .numerics = options.numerics,
                                                                 .source = source,
                                                                 .name = name,
                                                                 .witness = all.witness,
                                                                 .patience = all.patience,
                                                                 .profiler = options.profiler});
  return runPasses(stage.name, begin, begins::restOfConversion,
                   [&](PassManager &manager) { ir::addConversionOfParts(manager, pipeline); });
}

/// What the stages have decided, before functions become LLVM's.
void Compilation::Lowering::readDecisions() {
  Artifact &artifact = attempt.artifact;
  for (auto function : module->getOps<func::FuncOp>())
    if (function->hasAttr(ir::preparedAttr)) {
      FunctionSignature &preparing = artifact.functions.emplace_back();
      preparing.name = function.getName().str();
      preparing.prepares = true;
    }
  completeSignatures(*module, artifact);
  if (all.isExport())
    externalTypes = externalTypesOf(*module, artifact);
  attempt.report = makeReport(*module, artifact.functions);
  attempt.stack = StackProofs(*module);
}

/// Constants and variables out of the module, into the artifact.
Status Compilation::Lowering::takeData() {
  Artifact &artifact = attempt.artifact;
  PLIM_RETURN_IF_ERROR(collectData(*module, artifact, all.constants, {options.sourceOwner, source},
                                   all.limits.constantBytes));
  if (all.isExport()) {
    PLIM_ASSIGN_OR_RETURN(exportedContexts, exportFunctions(*module, artifact, externalTypes,
                                                            device, options.exportName));
  }
  const SymbolTable symbols(*module);
  for (FunctionSignature &function : artifact.functions)
    if (Operation *raw = symbols.lookup((ir::rawPrefix + function.name).str()))
      function.rawTakesContext = raw->hasAttr(ir::needsContextAttr);
  return okStatus();
}

/// One job for each dispatch, and for each part of the rest, which becomes LLVM IR here.
Status Compilation::Lowering::translate() {
  ProfilerSpan span = all.step("translate");
  if (dispatches)
    for (const DispatchLowering::Dispatch &dispatch : dispatches->all()) {
      Job &job = jobs.emplace_back();
      job.name = dispatch.name;
      job.size = instructionsPerOperation * dispatch.size;
      job.dispatch = &dispatch;
      if (sharesLowering)
        continue;
      PLIM_RETURN_IF_ERROR(lower(job, *dispatches));
      job.size = job.emitter->size();
      all.progress.advance(begins::restOfConversion +
                           (begins::translation - begins::restOfConversion) * double(jobs.size()) /
                               double(dispatches->all().size()));
    }
  all.tellWitness(whileGenerating);
  for (ModulePiece &piece :
       all.isExport() ? wholeModule(std::move(module)) : splitModule(*module)) {
    if (all.isStopped())
      return all.stopped();
    Job &job = jobs.emplace_back();
    job.name = piece.name.empty() ? "host code" : std::move(piece.name);
    job.emitter.emplace(*piece.module, device, options.oracle ? CodeKind::Plain : piece.kind,
                        options.numerics);
    if (!job.emitter->translated())
      return in.diagnostics.status("translation to LLVM IR");
    job.size = job.emitter->size();
  }
  all.times.lower += lap();
  return okStatus();
}

/// To objects, whose frames prove what they need of the stack.
Status Compilation::Lowering::emit() {
  Artifact &artifact = attempt.artifact;
  PLIM_RETURN_IF_ERROR(all.runJobs(jobs, dispatches.get()));
  if (llvm::none_of(jobs, [](const Job &job) { return job.usesTiles; }))
    std::erase_if(artifact.requiredFeatures,
                  [](std::string_view feature) { return feature.starts_with("amx-"); });
  std::vector<std::vector<FunctionFrame>> frames;
  if (options.assembly)
    options.assembly->clear();
  all.times.objects = all.times.cachedObjects = 0; // of the last lowering
  for (Job &job : jobs) {
    ObjectEmitter &emitter = *job.emitter;
    artifact.objects.push_back(std::move(emitter.code.object));
    frames.push_back(std::move(emitter.code.frames));
    if (options.assembly)
      *options.assembly += emitter.assembly;
    ++all.times.objects;
    all.times.cachedObjects += emitter.isFromCache;
    all.times.lower += job.lowerSeconds;
    all.times.optimise += emitter.optimiseSeconds;
    all.times.codegen += emitter.codegenSeconds;
  }
  if (all.isExport())
    attempt.frames = frames[0];
  PLIM_RETURN_IF_ERROR(
      attempt.stack.prove(artifact, StackUse(std::move(frames)), options.exportName));
  return all.isExport() ? writeHeader() : okStatus();
}

/// In place of what links an artifact, which is in the object.
Status Compilation::Lowering::writeHeader() {
  Artifact &artifact = attempt.artifact;
  PLIM_ASSIGN_OR_RETURN(std::vector<std::string> undefined, undefinedSymbols(artifact.objects[0]));
  PLIM_ASSIGN_OR_RETURN(artifact.header, exportHeader(artifact, externalTypes, exportedContexts,
                                                      all.target, options.exportName, undefined));
  artifact.symbols.clear();
  artifact.data.clear();
  artifact.blocks.clear();
  return okStatus();
}

} // namespace

std::vector<std::string_view> stageNames() {
  std::vector<std::string_view> names;
  for (const ir::Stage &stage : ir::stages())
    names.emplace_back(stage.name);
  return names;
}

bool isBytecode(std::string_view source) { return ir::isBytecode(source); }

StatusOr<Artifact> compile(std::string_view source, std::string_view sourceName,
                           const targets::TargetDescription &target, const CompileOptions &options,
                           CompileTimes *times) {
  PLIM_RETURN_IF_ERROR(targets::verify(target));
  if (target.devices[0].kind != targets::DeviceKind::Cpu)
    return unimplementedError("the first device of target '" + target.name +
                              "' is no CPU: host code cannot run on it");
  const targets::TargetDescription compiled = targets::compiledPart(target);
  CompileTimes unused;
  std::optional<Artifact> artifact;
  // The parser recurses on nesting: an own thread gives it the stack that its limit needs.
  PLIM_RETURN_IF_ERROR(runOnThread(
      compileStackBytes, outOfMemory("compiling " + std::string(sourceName)), [&]() -> Status {
        Profiler::nameThread("compiler");
        const FloatEnvironment environment; // a new thread has that of its maker
        PLIM_ASSIGN_OR_RETURN(
            artifact,
            Compilation(compiled, options, times ? *times : unused).run(source, sourceName));
        return okStatus();
      }));
  return std::move(*artifact);
}

} // namespace plim::jit
