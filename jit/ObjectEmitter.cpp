#include "jit/ObjectEmitter.h"

#include "jit/ExpandExtremes.h"
#include "jit/LoadWholeBytes.h"
#include "jit/NumericExtremes.h"
#include "jit/ObjectCache.h"
#include "jit/TargetMachines.h"
#include "jit/UnrollLoops.h"
#include "jit/VectorFunctions.h"
#include "jit/VectorMath.h"
#include "jit/VectorPipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/RuntimeLibcallInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <utility>

namespace plim::jit {

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Without this LLVM would make one function of another: x * x of pow(x, 2), exp2(x) of pow(2, x). Its vectoriser makes intrinsics
/// of intrinsics, which nothing holds any more, so pow is called by its name.
void keepMathCalls(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !call->getType()->isFPOrFPVectorTy())
        continue;
      llvm::Type *type = call->getType();
      if (call->getIntrinsicID() == llvm::Intrinsic::pow &&
          (type->isFloatTy() || type->isDoubleTy())) {
        llvm::CallInst *named = llvm::CallInst::Create(
            module.getOrInsertFunction(type->isFloatTy() ? "powf" : "pow", type, type, type),
            {call->getArgOperand(0), call->getArgOperand(1)}, "", call->getIterator());
        named->setDebugLoc(call->getDebugLoc());
        call->replaceAllUsesWith(named);
        call->eraseFromParent();
        call = named;
      }
      call->addFnAttr(llvm::Attribute::NoBuiltin);
    }
}

/// Empties the functions that the code generator comes to after the end of patience.
class DropWhenStopped : public llvm::FunctionPass {
public:
  static char ID;
  explicit DropWhenStopped(const Patience &patience) : FunctionPass(ID), patience(patience) {}

  bool runOnFunction(llvm::Function &function) override {
    if (!patience.isOver())
      return false;
    function.dropAllReferences();
    new llvm::UnreachableInst(function.getContext(),
                              llvm::BasicBlock::Create(function.getContext(), "", &function));
    return true;
  }

private:
  const Patience &patience;
};
char DropWhenStopped::ID = 0;

/// llvm::TargetMachine::addPassesToEmitFile(); for host code, which is straight and long, the same passes without the schedulers
/// of instructions: they compare each access to memory of a block with all others. False for a machine that cannot.
bool addCodeGenerator(llvm::legacy::PassManager &passes, llvm::TargetMachine &machine,
                      CodeKind kind, llvm::raw_pwrite_stream &stream, llvm::CodeGenFileType type) {
  if (kind != CodeKind::Host)
    return !machine.addPassesToEmitFile(passes, stream, nullptr, type);
  llvm::TargetPassConfig *generator = machine.createPassConfig(passes);
  if (!generator)
    return false;
  for (const void *scheduler :
       {&llvm::MachineSchedulerID, &llvm::PostMachineSchedulerID, &llvm::PostRASchedulerID})
    generator->disablePass(scheduler);
  generator->setDisableVerify(true);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&machine); // the passes own all
  const llvm::TargetOptions &options = machine.Options;
  passes.add(new llvm::RuntimeLibraryInfoWrapper(machine.getTargetTriple(), options.ExceptionModel,
                                                 options.FloatABIType, options.EABIVersion,
                                                 options.MCOptions.ABIName, options.VecLib));
  passes.add(generator);
  passes.add(info);
  if (generator->addISelPasses())
    return false;
  generator->addMachinePasses();
  generator->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

/// Iterations up to which a loop of a kernel becomes straight code. LLVM alone goes on to what is a page of code.
constexpr unsigned shortLoop = 16;

/// Behind vectorisation: short loops become straight code and long ones run several iterations at a time. What a loop around them
/// adds to the same place each time then stays in registers.
void addLoopUnrolling(llvm::FunctionPassManager &passes) {
  passes.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(/*OptLevel=*/3).setFullUnrollMaxCount(shortLoop)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
}

} // namespace

ObjectEmitter::ObjectEmitter(mlir::ModuleOp source, const targets::DeviceDescription &device,
                             CodeKind kind, Numerics numerics)
    : device(&device), kind(kind), numerics(numerics),
      context(std::make_unique<llvm::LLVMContext>()),
      module(mlir::translateModuleToLLVMIR(source, *context, "plimsoll")) {}

ObjectEmitter::~ObjectEmitter() = default;
ObjectEmitter::ObjectEmitter(ObjectEmitter &&) noexcept = default;

bool ObjectEmitter::usesTiles() const {
  // Whatever is done with tiles, they are loaded from memory, or made of zeros, and stored.
  return llvm::any_of(module->functions(), [](const llvm::Function &function) {
    return function.getName().starts_with("llvm.x86.tile");
  });
}

size_t ObjectEmitter::size() const { return module->getInstructionCount(); }

void ObjectEmitter::describeTarget(const llvm::TargetMachine &machine) {
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  const std::string features = llvm::join(device->features, ",");
  for (llvm::Function &function : *module) {
    // Explicit features and a tuning CPU chosen from them: the detected name may be masked.
    function.addFnAttr("target-cpu", device->cpu);
    function.addFnAttr("target-features", features);
    function.addFnAttr("tune-cpu", device->tuneCpu.empty() ? device->cpu : device->tuneCpu);
    if (device->vectorBits > 0)
      function.addFnAttr("prefer-vector-width", std::to_string(device->vectorBits));
    // Vectors of the IR have fixed lengths; with their length known, LLVM puts them in scalable registers.
    if (int64_t scale = device->scalableVectorBits() / 128)
      function.addFnAttr(
          llvm::Attribute::getWithVScaleRangeArgs(*context, unsigned(scale), unsigned(scale)));
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

Status ObjectEmitter::emit(TargetMachines &machines, const EmitOptions &options,
                           const Patience &patience) {
  PLIM_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, machines.take(kind));
  Status status = emit(*machine, options, patience);
  machines.give(std::move(machine));
  return status;
}

Status ObjectEmitter::emit(llvm::TargetMachine &machine, const EmitOptions &options,
                           const Patience &patience) {
  describeTarget(machine);
  if (numerics == Numerics::Strict)
    keepMathCalls(*module);
  if (!options.cache)
    return generate(machine, options, patience);

  const ObjectCache::Key key = options.cache->keyOf(*module, kind);
  if (!options.assembly) {
    const std::string looking = options.name + ": look in cache";
    ProfilerSpan span(options.profiler, Profiler::Kind::Compile, looking.c_str());
    if (std::optional<ObjectCode> found = options.cache->load(key)) {
      code = std::move(*found);
      isFromCache = true;
      return okStatus();
    }
  }
  PLIM_RETURN_IF_ERROR(generate(machine, options, patience));
  options.cache->store(key, code);
  return okStatus();
}

Status ObjectEmitter::generate(llvm::TargetMachine &machine, const EmitOptions &options,
                               const Patience &patience) {
  const std::string optimising = options.name + ": optimise",
                    generating = options.name + ": generate code";
  auto start = std::chrono::steady_clock::now();
  {
    ProfilerSpan span(options.profiler, Profiler::Kind::Compile, optimising.c_str());
    PLIM_RETURN_IF_ERROR(optimise(machine, patience));
  }
  if (patience.isOver())
    return patience.status();
  optimiseSeconds = secondsSince(start);

  ProfilerSpan span(options.profiler, Profiler::Kind::Compile, generating.c_str());
  start = std::chrono::steady_clock::now();
  auto write = [&](llvm::Module &from, llvm::CodeGenFileType type, std::string &to) -> Status {
    llvm::SmallVector<char, 0> buffer;
    llvm::raw_svector_ostream stream(buffer);
    llvm::legacy::PassManager passes;
    if (patience.isFinite())
      passes.add(new DropWhenStopped(patience));
    if (!addCodeGenerator(passes, machine, kind, stream, type))
      return unimplementedError("the code generator cannot emit this file type");
    passes.run(from);
    to.assign(buffer.data(), buffer.size());
    return okStatus();
  };
  if (options.assembly) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
    PLIM_RETURN_IF_ERROR(write(*copy, llvm::CodeGenFileType::AssemblyFile, assembly));
  }
  PLIM_RETURN_IF_ERROR(write(*module, llvm::CodeGenFileType::ObjectFile, code.object));
  codegenSeconds = secondsSince(start);
  if (patience.isOver())
    return patience.status();
  PLIM_ASSIGN_OR_RETURN(code.frames, readFrames(code.object, *module));
  return okStatus();
}

Status ObjectEmitter::optimise(llvm::TargetMachine &machine, const Patience &patience) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  const bool isDispatched = kind == CodeKind::Dispatch || kind == CodeKind::Kernel;
  const bool isFast = isDispatched || kind == CodeKind::Whole;
  tuning.LoopVectorization = isFast;
  tuning.SLPVectorization = isFast;
  // Unrolling a short inner loop before vectorisation makes LLVM vectorise the outer one, with gathers
  // and scatters, or nothing; the vectoriser interleaves by itself. Nobody else does for processors without vectors.
  tuning.LoopUnrolling = kind == CodeKind::Whole && device->vectorBits == 0;
  llvm::PassInstrumentationCallbacks callbacks;
  if (patience.isFinite())
    callbacks.registerShouldRunOptionalPassCallback(
        [&](llvm::StringRef, llvm::Any) { return !patience.isOver(); });
  llvm::PassBuilder builder(&machine, tuning, /*PGOOpt=*/std::nullopt, &callbacks);
  // Functions without a polynomial: the C library's vector versions serve vectorised loops.
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  if (isDispatched && numerics == Numerics::Default &&
      machine.getTargetTriple().getArch() == llvm::Triple::x86_64)
    library.addVectorizableFunctions(vectorMathFunctions(device->vectorBits));
  const bool hasOwnFunctions =
      isFast && numerics == Numerics::Default && hasVectorFunctions(*device);
  if (hasOwnFunctions) {
    library.addVectorizableFunctions(vectorFunctions());
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(NameVectorFunctions());
        });
  }
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(NumericExtremes()));
      });
  if (isDispatched)
    builder.registerVectorizerEndEPCallback(
        [&](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(UnrollLoops());
          if (kind == CodeKind::Kernel)
            addLoopUnrolling(passes);
        });
  // A loop of few iterations is straight code before the loop around it is vectorised.
  if (kind == CodeKind::Kernel)
    builder.registerLateLoopOptimizationsEPCallback(
        [](llvm::LoopPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/3));
        });
  const bool isArm = machine.getTargetTriple().isARM() || machine.getTargetTriple().isThumb();
  builder.registerOptimizerLastEPCallback(
      [&](llvm::ModulePassManager &passes, llvm::OptimizationLevel, llvm::ThinOrFullLTOPhase) {
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(LoadWholeBytes()));
        if (isArm)
          passes.addPass(llvm::createModuleToFunctionPassAdaptor(ExpandExtremes()));
      });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (kind == CodeKind::Plain)
    passes = builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  else if (kind == CodeKind::Whole || (isDispatched && !isVectorized(*module)))
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  else
    passes = kind == CodeKind::Host ? makeHostPipeline() : makeShortPipeline();
  if (hasOwnFunctions)
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(ExpandVectorFunctions()));
  passes.run(*module, modules);
  return okStatus();
}

} // namespace plim::jit
