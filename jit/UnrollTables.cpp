#include "jit/UnrollTables.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace plim::jit {
namespace {

/// Instructions that a loop may become. Near LLVM's own threshold, which counts better and later.
constexpr unsigned maxInstructions = 256;

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
  unsigned iterations = evolution.getSmallConstantTripCount(&loop);
  if (iterations == 0 || iterations > maxInstructions || !readsTable(loop))
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

} // namespace

llvm::PreservedAnalyses UnrollTables::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto &evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool found = false;
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (unrolledSize(*loop, evolution)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
      found = true;
    }
  if (!found)
    return llvm::PreservedAnalyses::all();
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(3, /*OnlyWhenForced=*/true)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::InstCombinePass());
  return passes.run(function, analyses);
}

} // namespace plim::jit
