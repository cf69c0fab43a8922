// UnrollLoops: the only loops that are unrolled in dispatches of our making: over small constants, and the innermost one of sums in
// registers. What the author of a kernel wrote as loops goes through LLVM's own unrolling as well (ObjectEmitter).
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// After vectorisation, before which LLVM would vectorise the loop around one that became straight code, with gathers:
///
/// - Loops with few iterations that read from a constant of the module become straight code, in which its elements are immediate.
/// - Innermost loops that keep sums of floats in four vectors or more run several iterations at a time, all if they are few: counting and
///   branching is a tenth of what a tile of products has to issue, a third where the loop is along a window. Only by a divisor
///   of the iterations, as a remainder would cost as much code again. Elements that iterations have in common, as those of
///   a window do, are loaded once if the sums leave registers for them.
class UnrollLoops : public llvm::PassInfoMixin<UnrollLoops> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace plim::jit
