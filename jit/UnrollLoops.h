// UnrollLoops: which loops are unrolled in dispatches that the engine made: those over small
// constants, and innermost loops of sums in registers. Loops that the author of a kernel wrote go
// through LLVM's own unrolling as well (ObjectEmitter).
#pragma once

#include "llvm/IR/PassManager.h"

namespace plim::jit {

/// To be run after vectorisation. Before it, LLVM would vectorise the loop around one that became
/// straight code, with gathers.
///
/// - Loops with few iterations that read from a constant of the module become straight code, in
///   which its elements are immediate.
/// - Innermost loops that keep sums of floats in four vectors or more run several iterations at a
///   time, all if they are few. Counting and branching is a tenth of what a tile of products has to
///   issue, and a third where the loop is along a window. Iterations are taken together by a
///   divisor of their number only, as a remainder would cost as much code again. Elements that
///   iterations have in common, as those of a window, are loaded once if the sums leave registers
///   for them.
class UnrollLoops : public llvm::PassInfoMixin<UnrollLoops> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace plim::jit
