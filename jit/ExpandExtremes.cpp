#include "jit/ExpandExtremes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

Value *expand(IRBuilder<> &builder, Value *a, Value *b, bool isMaximum) {
  Type *type = a->getType();
  Value *isFirst = isMaximum ? builder.CreateFCmpOGT(a, b) : builder.CreateFCmpOLT(a, b);
  Value *result = builder.CreateSelect(isFirst, a, b);
  // Numbers that are equal have the same bits, but for zeros: of these the sign decides.
  Type *bits = type->getWithNewType(builder.getIntNTy(type->getScalarSizeInBits()));
  Value *x = builder.CreateBitCast(a, bits), *y = builder.CreateBitCast(b, bits);
  Value *both = isMaximum ? builder.CreateAnd(x, y) : builder.CreateOr(x, y);
  result =
      builder.CreateSelect(builder.CreateFCmpOEQ(a, b), builder.CreateBitCast(both, type), result);
  return builder.CreateSelect(builder.CreateFCmpUNO(a, b), builder.CreateFAdd(a, b), result);
}

} // namespace

PreservedAnalyses plim::jit::ExpandExtremes::run(Function &function, FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call ||
        (call->getIntrinsicID() != Intrinsic::maximum &&
         call->getIntrinsicID() != Intrinsic::minimum) ||
        call->getType()->getScalarSizeInBits() == 32)
      continue;
    IRBuilder<> builder(call);
    call->replaceAllUsesWith(expand(builder, call->getArgOperand(0), call->getArgOperand(1),
                                    call->getIntrinsicID() == Intrinsic::maximum));
    call->eraseFromParent();
    hasChanged = true;
  }
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
