// ExpandExtremes: minima and maxima that a code generator cannot select, as comparisons.
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// Takes llvm.maximum and llvm.minimum of f16 and f64 apart. For 32-bit Arm LLVM 22 expands them itself behind the
/// legalisation of types, into comparisons of 16 and 64-bit integers, and ends the process ("Cannot select: setcc"). To be
/// run last.
class ExpandExtremes : public llvm::PassInfoMixin<ExpandExtremes> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace plim::jit
