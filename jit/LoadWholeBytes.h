// LoadWholeBytes: no load is of a part of a byte.
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// Makes each load of a vector whose elements are smaller than a byte, and which does not fill its last one, a load of
/// whole bytes whose low bits count. Generated code has no such load; LLVM's VectorCombine makes them of larger ones
/// (`<8 x i1>`, of which only the first element is used, becomes `<1 x i1>`), and the code generator then takes all
/// bits of the byte for the element. To be run after all other passes.
class LoadWholeBytes : public llvm::PassInfoMixin<LoadWholeBytes> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace plim::jit
