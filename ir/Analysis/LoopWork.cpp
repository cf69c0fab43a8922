#include "ir/Analysis/LoopWork.h"

#include "support/CheckedMath.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace {

/// Of a function of the math dialect, in the same unit.
constexpr int64_t functionCost = 16;

int64_t capped(std::optional<int64_t> work) {
  return std::clamp<int64_t>(work.value_or(plim::ir::workgroupCost), 0, plim::ir::workgroupCost);
}

/// The most iterations of all loops of `op` together, one for an op that is no loop.
int64_t iterationsOf(Operation *op) {
  if (isa<scf::WhileOp>(op))
    return plim::ir::unknownTripCount;
  int64_t iterations = 1;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    for (int64_t extent : linalgOp.getStaticLoopRanges())
      iterations = capped(plim::checkedMul(
          iterations, ShapedType::isDynamic(extent) ? plim::ir::unknownTripCount : extent));
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  const std::optional<SmallVector<OpFoldResult>> from = loop ? loop.getLoopLowerBounds()
                                                             : std::nullopt,
                                                 to = loop ? loop.getLoopUpperBounds()
                                                           : std::nullopt,
                                                 by = loop ? loop.getLoopSteps() : std::nullopt;
  if (from && to && by)
    for (auto [lower, upper, step] : llvm::zip(*from, *to, *by)) {
      const std::optional<APInt> trips =
          constantTripCount(lower, upper, step, /*isSigned=*/true, scf::computeUbMinusLb);
      iterations = capped(plim::checkedMul(
          iterations, trips ? int64_t(trips->getLimitedValue(plim::ir::workgroupCost))
                            : plim::ir::unknownTripCount));
    }
  return iterations;
}

int64_t operationsOf(Region &region) {
  int64_t sum = 0;
  for (Block &block : region)
    for (Operation &op : block.without_terminator()) {
      if (op.hasTrait<OpTrait::ConstantLike>())
        continue;
      int64_t work = isa<math::MathDialect>(op.getDialect()) ? functionCost : 1;
      for (Region &inner : op.getRegions())
        work = capped(plim::checkedMul(work + operationsOf(inner), iterationsOf(&op)));
      sum = capped(plim::checkedAdd(sum, work));
    }
  return sum;
}

} // namespace

int64_t plim::ir::operationsOf(LoopLikeOpInterface loop) {
  return ::operationsOf(*loop.getLoopRegions().front());
}

SmallVector<int64_t> plim::ir::tripCountsOf(scf::ParallelOp loop) {
  SmallVector<int64_t> counts;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    const std::optional<APInt> trips =
        constantTripCount(lower, upper, step, /*isSigned=*/true, scf::computeUbMinusLb);
    counts.push_back(trips ? int64_t(trips->getLimitedValue(INT64_MAX)) : ShapedType::kDynamic);
  }
  return counts;
}
