#include "jit/UnrollLoops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace plim::jit {
namespace {

/// Instructions that a loop may become. Near LLVM's own threshold, which counts better and later.
constexpr unsigned maxInstructions = 256, maxInstructionsOfSums = 400;
/// Vectors of sums from which on a loop is a tile of products, or as long as one.
constexpr unsigned leastSums = 4;
/// Iterations that run together, if their number can be divided by as many, and those of which all do.
constexpr unsigned iterationsTogether = 4, fewIterations = 7;

/// Does an iteration read an element of a constant that another one does not?
bool readsTable(const llvm::Loop &loop) {
  for (const llvm::BasicBlock *block : loop.blocks())
    for (const llvm::Instruction &instruction : *block) {
      const auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || loop.isLoopInvariant(load->getPointerOperand()))
        continue;
      const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(
          llvm::getUnderlyingObject(load->getPointerOperand()));
      if (global && global->isConstant() && global->hasDefinitiveInitializer())
        return true;
    }
  return false;
}

/// The instructions of the loop, and of those in it, when all are unrolled; none if one cannot be, or
/// is not worth it.
std::optional<unsigned> unrolledSize(const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  if (!readsTable(loop))
    return std::nullopt;
  const unsigned iterations = evolution.getSmallConstantTripCount(&loop);
  if (iterations == 0 || iterations > maxInstructions)
    return std::nullopt;
  unsigned size = 0;
  for (const llvm::Loop *inner : loop.getSubLoops()) {
    std::optional<unsigned> innerSize = unrolledSize(*inner, evolution);
    if (!innerSize)
      return std::nullopt;
    size += *innerSize;
  }
  for (const llvm::BasicBlock *block : loop.blocks())
    if (llvm::none_of(loop.getSubLoops(),
                      [&](const llvm::Loop *inner) { return inner->contains(block); }))
      size += block->size();
  size *= iterations;
  return size <= maxInstructions ? std::optional(size) : std::nullopt;
}

/// Registers of a vector of floats, or of rows of them; 0 for anything else. Sums of integers would be regrouped, with more of them
/// at a time than there are registers.
unsigned registersOf(llvm::Type &type, const llvm::TargetTransformInfo &target) {
  if (auto *rows = llvm::dyn_cast<llvm::ArrayType>(&type))
    return unsigned(rows->getNumElements()) * registersOf(*rows->getElementType(), target);
  return type.isFPOrFPVectorTy() && type.isVectorTy() ? target.getNumberOfParts(&type) : 0;
}

/// Registers of the vectors that a loop of one block adds to; 0 if it does anything else that lasts.
unsigned registersOfSums(const llvm::Loop &loop, const llvm::TargetTransformInfo &target) {
  if (loop.getNumBlocks() != 1)
    return 0;
  unsigned registers = 0;
  for (const llvm::Instruction &instruction : *loop.getHeader()) {
    if (llvm::isa<llvm::PHINode>(instruction))
      registers += registersOf(*instruction.getType(), target);
    if (llvm::isa<llvm::StoreInst>(instruction))
      return 0;
  }
  return registers;
}

/// How many iterations of a loop with sums in registers run together; 1 if it stays as it is.
unsigned togetherOf(const llvm::Loop &loop, unsigned iterations) {
  const auto most = unsigned(maxInstructionsOfSums / loop.getHeader()->size());
  if (iterations <= std::min(fewIterations, most))
    return std::max(iterations, 1U);
  unsigned together = std::min(iterationsTogether, most);
  while (together > 1 && iterations % together != 0)
    --together;
  return std::max(together, 1U);
}

/// Loads of an iteration stay behind those of the one before. Otherwise those of the same element become one, and where sums take most of
/// the registers, others are put on the stack for it. What nobody writes to is not held by a fence: LLVM is not to know.
void separateIterations(llvm::Loop &loop) {
  llvm::BasicBlock &block = *loop.getHeader();
  llvm::SetVector<llvm::Argument *> sources;
  for (llvm::Instruction &instruction : block)
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
      if (auto *source = llvm::dyn_cast<llvm::Argument>(
              const_cast<llvm::Value *>(llvm::getUnderlyingObject(load->getPointerOperand()))))
        sources.insert(source);
    }
  llvm::IRBuilder<> builder(&*loop.getHeader()->getParent()->getEntryBlock().getFirstInsertionPt());
  for (llvm::Argument *source : sources) {
    auto *same = llvm::InlineAsm::get(
        llvm::FunctionType::get(source->getType(), source->getType(), /*isVarArg=*/false), "",
        "=r,0", /*hasSideEffects=*/false);
    llvm::CallInst *other = builder.CreateCall(same, source);
    source->replaceUsesWithIf(other, [&](const llvm::Use &use) { return use.getUser() != other; });
  }
  builder.SetInsertPoint(&*block.getFirstInsertionPt());
  builder.CreateFence(llvm::AtomicOrdering::AcquireRelease, llvm::SyncScope::SingleThread);
}

} // namespace

llvm::PreservedAnalyses UnrollLoops::run(llvm::Function &function,
                                         llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto &target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const unsigned registers =
      target.getNumberOfRegisters(target.getRegisterClassForType(/*Vector=*/true));
  bool hasTables = false, hasSums = false;
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (unrolledSize(*loop, evolution)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
      hasTables = true;
      continue;
    }
    const unsigned sums = registersOfSums(*loop, target);
    if (sums < leastSums)
      continue;
    const unsigned together = togetherOf(*loop, evolution.getSmallConstantTripCount(loop));
    if (together == 1)
      continue;
    if (sums * 4 >= registers * 3)
      separateIterations(*loop);
    llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", together);
    hasSums = true;
  }
  if (!hasTables && !hasSums)
    return llvm::PreservedAnalyses::all();
  // What is known of memory does not know of the fences.
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(3, /*OnlyWhenForced=*/true)));
  if (hasTables)
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::InstCombinePass());
  // Addresses that are equal look so only now.
  if (hasSums)
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  return passes.run(function, analyses);
}

} // namespace plim::jit
