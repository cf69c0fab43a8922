#include "jit/VectorPipeline.h"

#include "jit/LoadWholeBytes.h"
#include "jit/NumericExtremes.h"
#include "jit/UnrollLoops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopLoadElimination.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

namespace plim::jit {
namespace {

/// Of so few, LLVM's -O3 pipeline costs little, and the copies among them are a large part of the work.
constexpr unsigned fewInstructions = 300;

/// A loop around copies of memory has nothing to vectorise either.
bool computesWithVectors(const llvm::Instruction &instruction) {
  if (llvm::isa<llvm::MemIntrinsic>(instruction))
    return true;
  auto isVector = [](const llvm::Type *type) { return type->isVectorTy() || type->isX86_AMXTy(); };
  return isVector(instruction.getType()) ||
         llvm::any_of(instruction.operands(),
                      [&](const llvm::Use &operand) { return isVector(operand->getType()); });
}

bool callsDefinition(const llvm::Instruction &instruction) {
  const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && !callee->isDeclaration();
}

bool anyInstruction(const llvm::Loop &loop,
                    llvm::function_ref<bool(const llvm::Instruction &)> predicate) {
  return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock *block) {
    return llvm::any_of(*block, predicate);
  });
}

/// Does the loop store what it loads, as it is? Beside products that is what is left of a copy across, which the vectoriser would
/// make gathers of, that are no faster.
bool onlyCopies(const llvm::Loop &loop) {
  return !anyInstruction(loop, [&](const llvm::Instruction &instruction) {
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store)
      return llvm::isa<llvm::CallBase>(instruction);
    const llvm::Value *value = store->getValueOperand();
    return !llvm::isa<llvm::LoadInst>(value) && !loop.isLoopInvariant(value);
  });
}

/// Does the loop go from element to element in memory, and call nothing? Nearly all loops of host code call dispatches.
bool isOfElements(const llvm::Loop &loop) {
  bool loads = false, stores = false;
  return loop.isInnermost() &&
         !anyInstruction(loop,
                         [&](const llvm::Instruction &instruction) {
                           loads |= llvm::isa<llvm::LoadInst>(instruction);
                           stores |= llvm::isa<llvm::StoreInst>(instruction);
                           return llvm::isa<llvm::CallBase>(instruction) &&
                                  !llvm::isa<llvm::IntrinsicInst>(instruction);
                         }) &&
         loads && stores;
}

/// What a sequential loop over tensors becomes, in functions that have one.
class OptimizeElementLoops : public llvm::PassInfoMixin<OptimizeElementLoops> {
public:
  OptimizeElementLoops() {
    llvm::LoopPassManager loops;
    loops.addPass(llvm::LoopRotatePass());
    loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
    loops.addPass(llvm::SimpleLoopUnswitchPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass(), /*UseMemorySSA=*/false));
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::LoopLoadEliminationPass());
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(/*OptLevel=*/2)));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass());
  }

  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    if (llvm::none_of(loops.getLoopsInPreorder(),
                      [](const llvm::Loop *loop) { return isOfElements(*loop); }))
      return llvm::PreservedAnalyses::all();
    return passes.run(function, analyses);
  }

private:
  llvm::FunctionPassManager passes;
};

} // namespace

bool isVectorized(const llvm::Module &module) {
  bool hasVectors = false, hasCopies = false;
  for (const llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    const llvm::DominatorTree dominance(const_cast<llvm::Function &>(function));
    const llvm::LoopInfo loops(dominance);
    for (const llvm::Loop *loop : loops.getLoopsInPreorder()) {
      if (anyInstruction(*loop, callsDefinition))
        return false;
      if (!loop->isInnermost() || llvm::getBooleanLoopAttribute(loop, "llvm.loop.isvectorized"))
        continue;
      if (anyInstruction(*loop, computesWithVectors))
        hasVectors = true;
      else if (onlyCopies(*loop))
        hasCopies = true;
      else
        return false;
    }
  }
  return !hasCopies || (hasVectors && module.getInstructionCount() > fewInstructions);
}

llvm::ModulePassManager makeShortPipeline() {
  llvm::FunctionPassManager passes;
  passes.addPass(NumericExtremes());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  // Masks that are constants: what they leave out of a sum.
  passes.addPass(llvm::VectorCombinePass());
  passes.addPass(UnrollLoops());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(LoadWholeBytes());
  llvm::ModulePassManager module;
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  module.addPass(llvm::GlobalDCEPass());
  return module;
}

llvm::ModulePassManager makeHostPipeline() {
  llvm::FunctionPassManager passes;
  passes.addPass(NumericExtremes());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(OptimizeElementLoops());
  passes.addPass(LoadWholeBytes());
  llvm::ModulePassManager module;
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  module.addPass(llvm::GlobalDCEPass());
  return module;
}

} // namespace plim::jit
