// SharedReductions: what a parallel loop reduces, for workgroups to share.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace plim::ir {

/// Makes of a parallel loop that reduces one of at most 64 parts of its iterations, each of which stores what it reduces, and a loop that
/// reduces these in their order. The parts depend on the extents alone, so results are the same however many threads share them. Returns
/// the loop of one part, which is in the other one; null if a reduction is none by a single operation that has a neutral element.
mlir::scf::ParallelOp shareReduction(mlir::RewriterBase &rewriter, mlir::scf::ParallelOp loop);

} // namespace plim::ir
