#include "jit/Compiler.h"

#include "engine/abi/plim_abi.h"
#include "ir/Conversion/Passes.h"
#include "ir/Gpu/GpuCompiler.h"
#include "ir/Pipelines/Load.h"
#include "ir/Pipelines/Pipelines.h"
#include "ir/Plim/Plim.h"
#include "jit/ConstantTable.h"
#include "jit/DataCollector.h"
#include "jit/Exhaustion.h"
#include "jit/Exporter.h"
#include "jit/ModuleSplitter.h"
#include "jit/ObjectCache.h"
#include "jit/ObjectEmitter.h"
#include "jit/Report.h"
#include "jit/Signatures.h"
#include "jit/SourceNames.h"
#include "jit/StackUse.h"
#include "jit/TargetMachines.h"
#include "support/FloatEnvironment.h"
#include "targets/AllocationOptions.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/TargetParser/Triple.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

using namespace mlir;

namespace plim::jit {

namespace {

constexpr unsigned compileStackBytes = 64u << 20;

Diagnostic diagnosticAt(Location location, Diagnostic::Severity severity, std::string message) {
  Diagnostic diagnostic{severity, "", 0, 0, 0, 0, std::move(message)};
  if (auto place = location->findInstanceOf<FileLineColLoc>()) {
    diagnostic.file = place.getFilename().str();
    diagnostic.line = place.getLine();
    diagnostic.column = place.getColumn();
  }
  return diagnostic;
}

/// Keeps what upstream says, with its place.
class Diagnostics {
public:
  Diagnostics(MLIRContext &context, StringRef source, StringRef name,
              const std::function<void(const Diagnostic &)> &witness)
      : source(source), name(name), witness(witness),
        handler(&context, [this](mlir::Diagnostic &said) {
          add(said);
          return success();
        }) {}

  /// The message is that of the first error, with its place in front.
  Status status(StringRef stage) const {
    auto first = firstError();
    if (first == all.end())
      return invalidArgumentError((stage + " failed").str());
    return Status(StatusCode::InvalidArgument, toString(*first), all);
  }

private:
  static constexpr size_t most = 100; // a pass may say the same of every operation

  std::vector<Diagnostic>::const_iterator firstError() const {
    return llvm::find_if(all, [](const Diagnostic &diagnostic) {
      return diagnostic.severity == Diagnostic::Severity::Error;
    });
  }

  void add(mlir::Diagnostic &said) {
    const bool isFirstError =
        said.getSeverity() == DiagnosticSeverity::Error && firstError() == all.end();
    if (all.size() >= most && !isFirstError)
      return;
    all.push_back(diagnosticAt(said.getLocation(), severityOf(said.getSeverity()), said.str()));
    if (auto place = said.getLocation()->findInstanceOf<FileLineColLoc>())
      if (size_t bytes = tokenAt(place)) {
        all.back().endLine = all.back().line;
        all.back().endColumn = all.back().column + uint32_t(bytes);
      }
    if (isFirstError && witness)
      witness(all.back());
    for (mlir::Diagnostic &note : said.getNotes())
      add(note);
  }

  static Diagnostic::Severity severityOf(DiagnosticSeverity severity) {
    switch (severity) {
    case DiagnosticSeverity::Note:
      return Diagnostic::Severity::Note;
    case DiagnosticSeverity::Warning:
      return Diagnostic::Severity::Warning;
    case DiagnosticSeverity::Error:
      return Diagnostic::Severity::Error;
    case DiagnosticSeverity::Remark:
      return Diagnostic::Severity::Remark;
    }
    return Diagnostic::Severity::Error;
  }

  /// How long what begins there is: a name, a number, a string, or one sign. 0 for what is no place of the text.
  size_t tokenAt(FileLineColLoc place) const {
    if (ir::isBytecode(source) || place.getFilename() != name || place.getLine() == 0 ||
        place.getColumn() == 0)
      return 0;
    StringRef rest = source;
    for (unsigned line = 1; line < place.getLine() && !rest.empty(); ++line)
      rest = rest.split('\n').second;
    rest = rest.split('\n').first.substr(place.getColumn() - 1);
    if (rest.empty())
      return 0;
    if (rest.front() == '"')
      return std::min(rest.find('"', 1), rest.size() - 1) + 1;
    auto isWord = [](char c) { return llvm::isAlnum(c) || StringRef("_.$-").contains(c); };
    const size_t sigil = StringRef("%@#!^").contains(rest.front()) ? 1 : 0;
    return std::max<size_t>(sigil + rest.substr(sigil).take_while(isWord).size(), 1);
  }

  StringRef source, name;
  const std::function<void(const Diagnostic &)> &witness;
  std::vector<Diagnostic> all;
  ScopedDiagnosticHandler handler;
};

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

/// A span for each pass. The passes of a compilation run on one thread.
class PassSpans : public PassInstrumentation {
public:
  explicit PassSpans(Profiler &profiler) : profiler(profiler) {}

  void runBeforePass(Pass *, Operation *) override { begins.push_back(profiler.now()); }
  void runAfterPass(Pass *pass, Operation *) override { finish(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { finish(pass); }

private:
  void finish(Pass *pass) {
    int64_t begin = begins.pop_back_val(), end = profiler.now();
    // Without an argument: what runs others on nested operations.
    if (pass->getArgument().empty())
      return;
    Profiler::Subject &subject =
        profiler.subject(Profiler::Kind::Compile, std::string_view(pass->getArgument()));
    profiler.count(subject, end - begin);
    profiler.keep(subject, begin, end);
  }

  Profiler &profiler;
  SmallVector<int64_t> begins;
};

/// Tells the witness which pass begins, on what.
class PassWitness : public PassInstrumentation {
public:
  explicit PassWitness(const std::function<void(const Diagnostic &)> &witness) : witness(witness) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      witness(diagnosticAt(op->getLoc(), Diagnostic::Severity::Note,
                           ("in pass '" + pass->getArgument() + "'").str()));
  }

private:
  const std::function<void(const Diagnostic &)> &witness;
};

/// Where the work of a compilation stands when the stage begins: measured with models on one thread.
namespace begins {
constexpr double stages[] = {0.01, 0.03, 0.05, 0.06, 0.13, 0.19, 0.20};
constexpr double translation = 0.40, objects = 0.43;
} // namespace begins

/// Tells the host how far the compilation is. One call at a time, from whatever thread.
class ProgressReport {
public:
  explicit ProgressReport(const ProgressCallback &callback) : callback(callback) {
    if (callback)
      callback(progress);
  }

  explicit operator bool() const { return bool(callback); }

  /// Before the jobs are known. A second lowering begins where the first one ended.
  void advance(double fraction) {
    if (callback && fraction >= progress.fraction + leastStep)
      tell(fraction);
  }

  void begin(ArrayRef<ObjectEmitter> emitters) {
    if (!callback)
      return;
    progress.total += emitters.size();
    for (const ObjectEmitter &emitter : emitters)
      totalSize += emitter.size();
    tell(begins::objects);
  }
  /// `size` is that of the job before it began.
  void end(size_t size, bool ok) {
    if (!callback)
      return;
    std::lock_guard lock(mutex);
    hasFailed |= !ok;
    ++progress.done;
    doneSize += size;
    const double part =
        totalSize == 0 ? 1 : static_cast<double>(doneSize) / static_cast<double>(totalSize);
    if (!hasFailed)
      tell(begins::objects + (1 - begins::objects) * part);
  }

private:
  static constexpr double leastStep = 0.005;

  void tell(double fraction) {
    progress.fraction = std::max(progress.fraction, fraction);
    callback(progress);
  }

  const ProgressCallback &callback;
  std::mutex mutex;
  CompileProgress progress;
  size_t doneSize = 0, totalSize = 0;
  bool hasFailed = false;
};

/// The progress of a pipeline, which is so much of the whole: each pass of the module counts alike, and what runs passes
/// on functions as many times as much, in the course of which each function counts alike.
class PassProgress : public PassInstrumentation {
public:
  PassProgress(ProgressReport &report, OpPassManager &manager, double begin, double end)
      : report(report), begin(begin), end(end) {
    // Upstream makes one of adaptors that follow each other.
    bool isBehindAdaptor = false;
    for (Pass &pass : manager) {
      const bool isAdaptor = weightOf(&pass) > 1;
      if (!isAdaptor || !isBehindAdaptor)
        total += weightOf(&pass);
      isBehindAdaptor = isAdaptor;
    }
  }

  void runBeforePass(Pass *pass, Operation *op) override {
    if (++depth == 1) {
      functions =
          weightOf(pass) > 1 ? llvm::range_size(op->getRegion(0).getOps<func::FuncOp>()) : 0;
      functionsDone = 0;
      function = nullptr;
    } else if (depth == 2 && functions > 0 && op != function) {
      if (std::exchange(function, op))
        ++functionsDone;
      tell(double(weightOfFunctions) * double(functionsDone) / double(functions));
    }
  }
  void runAfterPass(Pass *pass, Operation *) override { finish(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { finish(pass); }

private:
  static constexpr unsigned weightOfFunctions = 10;
  /// Upstream's adaptor has no argument.
  static unsigned weightOf(const Pass *pass) {
    return pass->getArgument().empty() ? weightOfFunctions : 1;
  }

  void finish(Pass *pass) {
    if (--depth > 0)
      return;
    done += weightOf(pass);
    tell(0);
  }
  void tell(double more) {
    report.advance(begin + (end - begin) * std::min(1.0, (double(done) + more) / double(total)));
  }

  ProgressReport &report;
  const double begin, end;
  unsigned total = 0, done = 0, depth = 0; // passes by their weight; passes that run
  size_t functions = 0, functionsDone = 0; // of the pass that runs
  const Operation *function = nullptr;
};

class Compilation {
public:
  Compilation(const targets::TargetDescription &target, const CompileOptions &options,
              CompileTimes &times)
      : target(target), options(options), times(times), progress(options.progress) {
    if (options.cache)
      cache.emplace(*options.cache, target, options.numerics);
  }

  StatusOr<Artifact> run(StringRef source, StringRef name) {
    PLIM_RETURN_IF_ERROR(targets::setSourceLimits(options.engineLimits, limits));
    PLIM_RETURN_IF_ERROR(targets::setSourceLimits(options.loadLimits, limits));
    if (isExport())
      PLIM_RETURN_IF_ERROR(checkExportName(options.exportName));
    PLIM_RETURN_IF_ERROR(checkStages());
    PLIM_ASSIGN_OR_RETURN(Attempt first, lower(source, name, /*stackReserve=*/0));
    int64_t reserve = reserveFor(first);
    if (reserve == 0)
      return finish(std::move(first), 1, 0);
    // What the author wants on the stack may not fit beside the reserve: the first one is correct too.
    StatusOr<Attempt> second = lower(source, name, reserve);
    if (isStopped())
      return stopped();
    if (!second.ok())
      return finish(std::move(first), 1, 0);
    return finish(std::move(*second), 2, reserve);
  }

private:
  /// An artifact and what decides whether it stays.
  struct Attempt {
    Artifact artifact;
    llvm::json::Object report;
    std::vector<FunctionFrame> frames; // of exported code
    /// Stack of a whole call by public function, of a whole range by dispatch.
    std::vector<int64_t> totals; // parallel to artifact.stack
  };

  Status checkStages() const {
    const std::vector<std::string_view> known = stageNames();
    for (const std::string &stage : options.irAfter)
      if (!llvm::is_contained(known, stage))
        return invalidArgumentError("there is no stage '" + stage + "'");
    return okStatus();
  }

  /// Everything from the source to proven objects, with `stackReserve` bytes less for placement.
  StatusOr<Attempt> lower(StringRef source, StringRef name, int64_t stackReserve) {
    auto start = std::chrono::steady_clock::now();
    const targets::DeviceDescription &device = target.devices[0];
    DialectRegistry registry;
    ir::registerDialects(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false); // places say it
    Diagnostics diagnostics(context, source, name, options.witness);
    auto begins = [&](std::string_view what) {
      if (options.witness)
        options.witness({Diagnostic::Severity::Note, "", 0, 0, 0, 0, std::string(what)});
    };
    begins(whileParsing);
    // What has begun ends; passes that follow are left out, and what they would have been for is dropped.
    if (patience.isFinite())
      context.registerActionHandler(
          [this](llvm::function_ref<void()> action, const tracing::Action &kind) {
            if (!isa<PassExecutionAction>(kind) || !isStopped())
              action();
          });

    auto lap = [&] {
      auto now = std::chrono::steady_clock::now();
      return std::chrono::duration<double>(now - std::exchange(start, now)).count();
    };
    OwningOpRef<ModuleOp> module;
    {
      ProfilerSpan span = step("parse");
      module = ir::loadModule(context, source, name, limits);
    }
    if (!module)
      return diagnostics.status("parsing");
    times.parse += lap();

    Attempt attempt;
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
    const Specialization &special = options.specialization;
    if (!special.function.empty())
      std::erase_if(artifact.functions, [&](const FunctionSignature &function) {
        return function.name != special.function;
      });
    if (artifact.functions.empty())
      return invalidArgumentError((name + ": the module has no public function").str());
    targets::dlti::attachTarget(*module, target);
    PLIM_RETURN_IF_ERROR(attachLimits(*module, ir::engineLimitsAttr, options.engineLimits));
    PLIM_RETURN_IF_ERROR(attachLimits(*module, ir::limitsAttr, options.loadLimits));

    ir::PipelineOptions pipeline;
    pipeline.policy = artifact.policy;
    pipeline.oracle = options.oracle;
    pipeline.strict = options.numerics == Numerics::Strict;
    pipeline.stackReserveBytes = stackReserve;
    pipeline.specializedFunction = special.function;
    pipeline.specializedExtents = special.extents;
    pipeline.guarded = options.guarded;
    pipeline.standalone = isExport();
    if (!device.caches.empty() && device.caches[0].lineBytes > 0)
      pipeline.inlineConstantBytes = device.caches[0].lineBytes;
    for (const DeviceCompiler &each : options.devices)
      pipeline.devices.push_back(each.device);
    addOwnDevices(*module, pipeline.devices);
    pipeline.preferredDevice = options.preferredDevice;
    pipeline.deviceMemories = options.deviceMemories;
    pipeline.compileForDevice = [this](const ir::DeviceSource &dispatch) {
      return compileForDevice(dispatch);
    };
    auto runStage = [&](const ir::Stage &stage) {
      if (isStopped())
        return stopped();
      ProfilerSpan span = step(stage.name.data());
      const size_t index = size_t(&stage - ir::stages().begin());
      // Verified once a stage, not after each pass: faults surface here, not in LLVM.
      PassManager manager(&context);
      manager.enableVerifier(false);
      if (options.profiler)
        manager.addInstrumentation(std::make_unique<PassSpans>(*options.profiler));
      if (options.witness)
        manager.addInstrumentation(std::make_unique<PassWitness>(options.witness));
      ir::addStage(manager, stage, pipeline);
      if (progress)
        manager.addInstrumentation(std::make_unique<PassProgress>(
            progress, manager, begins::stages[index],
            index + 1 < std::size(begins::stages) ? begins::stages[index + 1]
                                                  : begins::translation));
      bool ok = succeeded(manager.run(*module));
      if (isStopped())
        return stopped();
      ok = ok && succeeded(verify(*module));
      if (!ok)
        return diagnostics.status("lowering");
      if (options.takeIr && llvm::is_contained(options.irAfter, stage.name))
        takeIr(stage, *module);
      return okStatus();
    };
    const ArrayRef<ir::Stage> stages = ir::stages();
    for (const ir::Stage &stage : stages.drop_back())
      PLIM_RETURN_IF_ERROR(runStage(stage));
    for (auto function : module->getOps<func::FuncOp>())
      if (function->hasAttr(ir::preparedAttr)) {
        FunctionSignature &preparing = artifact.functions.emplace_back();
        preparing.name = function.getName().str();
        preparing.prepares = true;
      }
    completeSignatures(*module, artifact);
    std::vector<ExternalTypes> externalTypes;
    if (isExport())
      externalTypes = externalTypesOf(*module, artifact);
    attempt.report = makeReport(*module, artifact.functions);
    collectStack(*module, attempt);
    PLIM_RETURN_IF_ERROR(runStage(stages.back()));
    PLIM_RETURN_IF_ERROR(collectData(*module, artifact, constants, {options.sourceOwner, source},
                                     limits.constantBytes));
    std::vector<ExportedContext> contexts;
    if (isExport()) {
      PLIM_ASSIGN_OR_RETURN(
          contexts, exportFunctions(*module, artifact, externalTypes, device, options.exportName));
    }
    const SymbolTable symbols(*module);
    for (FunctionSignature &function : artifact.functions)
      if (Operation *raw = symbols.lookup((ir::rawPrefix + function.name).str()))
        function.rawTakesContext = raw->hasAttr(ir::needsContextAttr);

    std::vector<ObjectEmitter> emitters;
    std::vector<std::string> names;
    bool usesTiles = false;
    begins("in code generation");
    {
      ProfilerSpan span = step("translate");
      for (ModulePiece &piece :
           isExport() ? wholeModule(std::move(module)) : splitModule(*module)) {
        if (isStopped())
          return stopped();
        emitters.emplace_back(*piece.module, device, options.oracle ? CodeKind::Plain : piece.kind,
                              options.numerics);
        if (!emitters.back().translated())
          return diagnostics.status("translation to LLVM IR");
        usesTiles |= emitters.back().usesTiles();
        names.push_back(piece.name.empty() ? "host code" : std::move(piece.name));
      }
    }
    if (!usesTiles)
      std::erase_if(artifact.requiredFeatures,
                    [](std::string_view feature) { return feature.starts_with("amx-"); });
    times.lower += lap();
    if (Status status = emitAll(emitters, names); !status.ok())
      return status;
    std::vector<std::vector<FunctionFrame>> frames;
    if (options.assembly)
      options.assembly->clear();
    times.objects = times.cachedObjects = 0; // of the last lowering
    for (ObjectEmitter &emitter : emitters) {
      artifact.objects.push_back(std::move(emitter.code.object));
      frames.push_back(std::move(emitter.code.frames));
      if (options.assembly)
        *options.assembly += emitter.assembly;
      ++times.objects;
      times.cachedObjects += emitter.isFromCache;
      times.optimise += emitter.optimiseSeconds;
      times.codegen += emitter.codegenSeconds;
    }
    if (isExport())
      attempt.frames = frames[0];
    PLIM_RETURN_IF_ERROR(prove(attempt, StackUse(std::move(frames))));
    if (isExport())
      PLIM_RETURN_IF_ERROR(writeHeader(artifact, externalTypes, contexts));
    return attempt;
  }

  bool isExport() const { return !options.exportName.empty(); }

  static std::vector<ModulePiece> wholeModule(OwningOpRef<ModuleOp> module) {
    std::vector<ModulePiece> pieces(1);
    pieces[0].module = std::move(module);
    pieces[0].kind = CodeKind::Whole;
    return pieces;
  }

  Status writeHeader(Artifact &artifact, const std::vector<ExternalTypes> &externals,
                     const std::vector<ExportedContext> &contexts) const {
    PLIM_ASSIGN_OR_RETURN(std::vector<std::string> undefined,
                          undefinedSymbols(artifact.objects[0]));
    PLIM_ASSIGN_OR_RETURN(artifact.header, exportHeader(artifact, externals, contexts, target,
                                                        options.exportName, undefined));
    // They are in the object.
    artifact.symbols.clear();
    artifact.data.clear();
    artifact.blocks.clear();
    return okStatus();
  }

  /// The functions that a proof is for, with what is on the stack for each by placement.
  void collectStack(ModuleOp module, Attempt &attempt) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if ((!function.isPublic() && !function->hasAttr(ir::dispatchFunctionAttr)) ||
          function->hasAttr(ir::extentsFunctionAttr))
        continue;
      StackProof proof;
      proof.function = function.getName().str();
      proof.budget = function->getAttrOfType<IntegerAttr>(ir::stackBudgetAttr).getInt();
      proof.estimated = function->getAttrOfType<IntegerAttr>(ir::stackBytesAttr).getInt();
      attempt.artifact.stack.push_back(std::move(proof));
    }
  }

  /// Fills in what the frames of the objects come to.
  Status prove(Attempt &attempt, StackUse use) const {
    Artifact &artifact = attempt.artifact;
    // In exported code they are part of the functions that run them.
    if (isExport())
      llvm::erase_if(artifact.stack, [&](const StackProof &proof) {
        return llvm::none_of(artifact.functions, [&](const FunctionSignature &signature) {
          return signature.name == proof.function;
        });
      });
    for (StackProof &proof : artifact.stack) {
      auto function = llvm::find_if(artifact.functions, [&](const FunctionSignature &signature) {
        return signature.name == proof.function;
      });
      bool isPublic = function != artifact.functions.end();
      PLIM_ASSIGN_OR_RETURN(
          StackNeed need,
          use.needOf(isExport() ? exportedSymbol(options.exportName, proof.function)
                                : (isPublic ? ir::entryPrefix : ir::dispatchPrefix).str() +
                                      proof.function));
      attempt.totals.push_back(need.total);
      proof.proven = need.code;
      if (isPublic) {
        function->stackBytes =
            isExport() ? need.frames : need.total + (need.recursive ? PLIM_RECURSION_STACK : 0);
        function->workerStackBytes = need.worker;
      }
      // What a raw call runs, without the entry that unpacks views for it.
      if (isPublic && function->isKernel && !isExport()) {
        PLIM_ASSIGN_OR_RETURN(StackNeed raw, use.needOf(ir::rawPrefix.str() + proof.function));
        proof.proven = raw.code;
      }
    }
    return okStatus();
  }

  /// How much of the budget another lowering should leave to frames; 0 if all is within it, or if
  /// nothing is on the stack that could go elsewhere.
  static int64_t reserveFor(const Attempt &attempt) {
    int64_t reserve = 0;
    for (const StackProof &proof : attempt.artifact.stack) {
      if (proof.proven <= proof.budget || proof.estimated == 0)
        continue;
      reserve = std::max({reserve, proof.proven - proof.estimated, proof.proven - proof.budget});
    }
    return reserve;
  }

  /// Nobody looks for exported code whether there is so much stack.
  Status checkStack(const Attempt &attempt) const {
    for (const FunctionSignature &function : attempt.artifact.functions) {
      auto proof = llvm::find_if(attempt.artifact.stack, [&](const StackProof &each) {
        return each.function == function.name;
      });
      const int64_t budget = proof == attempt.artifact.stack.end()
                                 ? 0
                                 : proof->budget; // 0: nothing is allocated there
      if (budget == 0 || function.stackBytes <= budget)
        continue;
      std::string frames;
      for (const FunctionFrame &frame : attempt.frames)
        frames += (frames.empty() ? "" : ", ") + frame.name + " " + std::to_string(frame.bytes);
      return errorAtPlace(StatusCode::FailedPrecondition,
                          function.location + "'" + function.name + "' takes " +
                              std::to_string(function.stackBytes) +
                              " bytes of stack, more than stack_budget_bytes = " +
                              std::to_string(budget) + "; frames in bytes: " + frames);
    }
    return okStatus();
  }

  StatusOr<Artifact> finish(Attempt attempt, int lowerings, int64_t reserve) const {
    if (isExport())
      PLIM_RETURN_IF_ERROR(checkStack(attempt));
    llvm::json::Array functions;
    for (auto [proof, total] : llvm::zip(attempt.artifact.stack, attempt.totals)) {
      llvm::json::Object entry{{"name", proof.function},
                               {"estimated", proof.estimated},
                               {"proven", proof.proven},
                               {"budget", proof.budget},
                               {"call", total}};
      functions.push_back(std::move(entry));
    }
    attempt.report["stack"] = llvm::json::Object{
        {"lowerings", lowerings}, {"reserve", reserve}, {"functions", std::move(functions)}};
    attempt.report["data"] = dataReport(attempt.artifact);
    attempt.artifact.report =
        llvm::formatv("{0}", llvm::json::Value(std::move(attempt.report))).str();
    return std::move(attempt.artifact);
  }

  /// Bytes by what they are for; constants with equal contents count once.
  static llvm::json::Object dataReport(const Artifact &artifact) {
    int64_t constants = 0, variables = 0, parameters = 0, prepared = 0, duplicates = 0,
            duplicateBytes = 0;
    std::map<std::string, int64_t> pools;
    std::set<std::pair<int64_t, int64_t>> places;
    for (const DataSymbol &symbol : artifact.symbols) {
      if (!symbol.pool.empty()) {
        pools[symbol.pool] += symbol.bytes;
      } else if (symbol.kind != DataKind::Constant) {
        (symbol.kind == DataKind::Parameter  ? parameters
         : symbol.kind == DataKind::Prepared ? prepared
                                             : variables) += symbol.bytes;
      } else if (places.emplace(symbol.offset, symbol.block).second) {
        constants += symbol.bytes;
      } else {
        ++duplicates;
        duplicateBytes += symbol.bytes;
      }
    }
    llvm::json::Object pinned;
    for (const auto &[pool, bytes] : pools)
      pinned[pool] = bytes;
    return llvm::json::Object{{"constants", constants},
                              {"constants_in_pools", std::move(pinned)},
                              {"duplicate_constants", duplicates},
                              {"duplicate_constant_bytes", duplicateBytes},
                              {"parameters", parameters},
                              {"prepared", prepared},
                              {"variables", variables}};
  }

  Status emitAll(std::vector<ObjectEmitter> &emitters, const std::vector<std::string> &names) {
    ProfilerSpan span = step("objects");
    progress.begin(emitters);
    std::vector<Status> statuses(emitters.size());
    const Status exhausted = outOfMemory("compiling");
    std::atomic<bool> isExhausted = false;
    TargetMachines machines(target.devices[0]);
    // The largest first: none of them is to keep one thread busy when the others have nothing left.
    std::vector<std::pair<size_t, size_t>> order; // size, position
    for (const auto &[i, emitter] : llvm::enumerate(emitters))
      order.emplace_back(emitter.size(), i);
    llvm::sort(order, std::greater());
    auto job = [&](size_t number) {
      const FloatEnvironment environment;
      const auto [size, i] = order[number];
      if (isStopped()) {
        statuses[i] = stopped();
        return;
      }
      bool isDone = false;
      statuses[i] = catchExhaustion(exhausted, [&] {
        Status status = emitters[i].emit(machines,
                                         {.assembly = options.assembly != nullptr,
                                          .cache = cache ? &*cache : nullptr,
                                          .profiler = options.profiler,
                                          .name = names[i]},
                                         patience);
        isDone = true;
        return status;
      });
      if (!isDone)
        isExhausted = true;
      progress.end(size, statuses[i].ok());
    };
    if (options.parallelFor)
      options.parallelFor(emitters.size(), job);
    else
      for (size_t i = 0; i < emitters.size(); ++i)
        job(i);
    // What LLVM left behind must not be destroyed: to runOnThread, past all that owns it.
    if (isExhausted)
      llvm::report_bad_alloc_error("code generation");
    for (Status &status : statuses)
      PLIM_RETURN_IF_ERROR(status);
    return okStatus();
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
    ProfilerSpan span = step(("code of " + dispatch.device.str()).c_str());
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

  void takeIr(const ir::Stage &stage, ModuleOp module) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.print(out);
    out << "\n";
    options.takeIr(stage.name, text);
  }

  bool isStopped() const { return patience.isOver(); }
  Status stopped() const { return patience.status(); }

  ProfilerSpan step(const char *name) const {
    return ProfilerSpan(options.profiler, Profiler::Kind::Compile, name);
  }

  const targets::TargetDescription &target;
  const CompileOptions &options;
  CompileTimes &times;
  targets::SourceLimits limits;
  const Patience patience{options.stop, options.timeout, options.begin};
  ProgressReport progress;
  std::optional<ObjectCache> cache;
  ConstantTable constants; // a second lowering takes those of the first
  std::map<std::pair<std::string, std::string>, ir::DeviceAnswer> deviceAnswers; // device, text
};

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
