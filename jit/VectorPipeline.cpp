#include "jit/VectorPipeline.h"

#include "jit/LoadWholeBytes.h"
#include "jit/NumericExtremes.h"
#include "jit/UnrollTables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

namespace plim::jit {
namespace {

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

} // namespace

bool isVectorized(const llvm::Module &module) {
  return llvm::all_of(module, [](const llvm::Function &function) {
    if (function.isDeclaration())
      return true;
    const llvm::DominatorTree dominance(const_cast<llvm::Function &>(function));
    const llvm::LoopInfo loops(dominance);
    return llvm::all_of(loops.getLoopsInPreorder(), [](const llvm::Loop *loop) {
      return !anyInstruction(*loop, callsDefinition) &&
             (!loop->isInnermost() || anyInstruction(*loop, computesWithVectors));
    });
  });
}

llvm::ModulePassManager makeVectorPipeline() {
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
  passes.addPass(UnrollTables());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(LoadWholeBytes());
  llvm::ModulePassManager module;
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  module.addPass(llvm::GlobalDCEPass());
  return module;
}

} // namespace plim::jit
