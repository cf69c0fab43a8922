// What each iteration of a parallel loop over tensors has of the tensors that all of them write.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace plim::ir {

/// Does no iteration of the loop read or write what another one writes of the tensors that they share? Then it does not matter in which
/// order they run. False where that is not known: steps that are known are positive, and a slice has to begin at a multiple of an induction variable, one for each of
/// them, and end before that of the next iteration begins.
bool haveSlicesApart(mlir::scf::ForallOp loop);

} // namespace plim::ir
