// Extents of results, told by those of operands.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace plim::ir {

/// What upstream's `resolve-shaped-type-result-dims` does to the extents that a function asks for, in time that goes with their
/// number: that pass goes through all of the module, simplifying it, again and again.
std::unique_ptr<mlir::Pass> createResolveExtents();

} // namespace plim::ir
