// VectorFunctions: exponentials, logarithms and powers of machines with AVX-512, which are not calls of a library.
#pragma once

#include "targets/TargetDescription.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/PassManager.h"

#include <vector>

namespace plim::jit {

/// Has the device what FunctionEmitter.h needs? ir/Codegen/Host.h has the same, and leaves the functions as they are.
bool hasVectorFunctions(const targets::DeviceDescription &device);

/// Gives exp, exp2, log, log2, log10 and pow of f32 and f64 names that LLVM's vectoriser knows by vectorFunctions(). To be run before it, and
/// behind what makes simpler functions of them.
class NameVectorFunctions : public llvm::PassInfoMixin<NameVectorFunctions> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Those functions of vectors.
std::vector<llvm::VecDesc> vectorFunctions();

/// Replaces them all by instructions, with the same bits for elements and for vectors of any length. To be run after all other passes.
class ExpandVectorFunctions : public llvm::PassInfoMixin<ExpandVectorFunctions> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace plim::jit
