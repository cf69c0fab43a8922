#include "jit/NumericExtremes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

PreservedAnalyses plim::jit::NumericExtremes::run(Function &function, FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || (call->getIntrinsicID() != Intrinsic::maxnum &&
                  call->getIntrinsicID() != Intrinsic::minnum))
      continue;
    IRBuilder<> builder(call);
    FastMathFlags flags = call->getFastMathFlags();
    flags.setNoSignedZeros();
    builder.setFastMathFlags(flags);
    const Intrinsic::ID extreme =
        call->getIntrinsicID() == Intrinsic::maxnum ? Intrinsic::maximumnum : Intrinsic::minimumnum;
    call->replaceAllUsesWith(
        builder.CreateBinaryIntrinsic(extreme, call->getArgOperand(0), call->getArgOperand(1)));
    call->eraseFromParent();
    hasChanged = true;
  }
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
