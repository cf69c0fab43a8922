#include "ir/Codegen/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace plim::ir;

bool plim::ir::mayReorderReduction(linalg::LinalgOp op) {
  Operation *yield = op.getBlock()->getTerminator();
  return llvm::all_of(
      llvm::zip(yield->getOperands(), op.getRegionOutputArgs()), [](auto yieldedAndAccumulator) {
        auto [yielded, accumulator] = yieldedAndAccumulator;
        Operation *combiner = yielded.getDefiningOp();
        return accumulator.hasOneUse() && *accumulator.user_begin() == combiner &&
               isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                   arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::AddFOp,
                   arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                   arith::MinNumFOp, complex::AddOp, complex::MulOp>(combiner);
      });
}
