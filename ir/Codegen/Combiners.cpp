#include "ir/Codegen/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace plim::ir;

namespace {

Reordering reorderingOf(Value yielded, BlockArgument accumulator) {
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != accumulator.getOwner() || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner)
    return Reordering::Forbidden;
  if (isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp,
          arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaximumFOp, arith::MinimumFOp>(
          combiner))
    return Reordering::Exact;
  // Of zeros with different signs maxnumf and minnumf may take either.
  if (isa<arith::AddFOp, arith::MulFOp, arith::MaxNumFOp, arith::MinNumFOp, complex::AddOp,
          complex::MulOp>(combiner))
    return Reordering::Rounding;
  return Reordering::Forbidden;
}

} // namespace

Reordering plim::ir::reorderingOf(linalg::LinalgOp op) {
  Reordering all = Reordering::Exact;
  Operation *yield = op.getBlock()->getTerminator();
  for (auto [yielded, accumulator] : llvm::zip(yield->getOperands(), op.getRegionOutputArgs()))
    all = std::min(all, ::reorderingOf(yielded, accumulator));
  return all;
}
