// UnrollTables: loops over a small constant become straight code, in which its elements are immediate.
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// Unrolls loops with few iterations that read from a constant of the module, after vectorisation: before it,
/// LLVM would vectorise the loop around them, with gathers. No other loop is unrolled.
class UnrollTables : public llvm::PassInfoMixin<UnrollTables> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace plim::jit
