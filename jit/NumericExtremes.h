// NumericExtremes: minima and maxima of numbers in the form that LLVM's loop vectoriser has right.
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// Makes each llvm.maxnum an llvm.maximumnum that may take either of two zeros, which is the same but for signalling NaNs, and
/// each llvm.minnum an llvm.minimumnum. In loops of a known number of iterations that is less than 16 and does not fill
/// vectors the vectoriser drops the last elements of a maximum by llvm.maxnum (LLVM 22.1; not reported). To be run before
/// it; needs fewer instructions, too.
class NumericExtremes : public llvm::PassInfoMixin<NumericExtremes> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace plim::jit
