#include "jit/LoadWholeBytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

PreservedAnalyses plim::jit::LoadWholeBytes::run(Function &function, FunctionAnalysisManager &) {
  bool hasChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    auto *type = load ? dyn_cast<FixedVectorType>(load->getType()) : nullptr;
    if (!type || !type->getElementType()->isIntegerTy())
      continue;
    unsigned bits = type->getNumElements() * type->getScalarSizeInBits();
    if (type->getScalarSizeInBits() % 8 == 0 || bits % 8 == 0)
      continue;
    IRBuilder<> builder(load);
    LoadInst *bytes = builder.CreateAlignedLoad(builder.getIntNTy(alignTo(bits, 8)),
                                                load->getPointerOperand(), load->getAlign());
    bytes->copyMetadata(*load, {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias});
    Value *low = builder.CreateTrunc(bytes, builder.getIntNTy(bits));
    load->replaceAllUsesWith(builder.CreateBitCast(low, type));
    load->eraseFromParent();
    hasChanged = true;
  }
  return hasChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
