#include "ir/Import/LoopBounds.h"
#include "ir/Import/Requirements.h"
#include "ir/Import/ShapeChecks.h"

using namespace mlir;

namespace plim::ir {

namespace {

void requireEqual(Requirements &requirements, linalg::LinalgOp op, const Extent &a,
                  const Extent &b) {
  Value left = requirements.extent(op->getOperand(a.operand), a.dimension);
  Value right = requirements.extent(op->getOperand(b.operand), b.dimension);
  if (left == right)
    return;
  requirements.require(requirements.compare(arith::CmpIPredicate::eq, left, right),
                       "extent " + Twine(a.dimension) + " of " +
                           operandText(op->getOpOperand(a.operand)) + " is {0}, but extent " +
                           Twine(b.dimension) + " of " + operandText(op->getOpOperand(b.operand)) +
                           " is {1}",
                       {left, right});
}

} // namespace

unsigned checkLoops(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<std::optional<Extent>> loops(op.getNumLoops());
  Requirements requirements(op);

  // Extents that are a loop by themselves: all must agree with the first.
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    ArrayRef<int64_t> shape = op.getShape(&operand);
    for (auto [dimension, result] :
         llvm::enumerate(maps[operand.getOperandNumber()].getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(result);
      if (!loop)
        continue;
      Extent extent{operand.getOperandNumber(), unsigned(dimension), shape[dimension]};
      std::optional<Extent> &first = loops[loop.getPosition()];
      if (!first)
        first = extent;
      else if (ShapedType::isDynamic(first->size) || ShapedType::isDynamic(extent.size))
        requireEqual(requirements, op, *first, extent);
    }
  }
  LoopBounds bounds(requirements, op, loops);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    for (auto [dimension, result] : llvm::enumerate(maps[operand.getOperandNumber()].getResults()))
      if (!isa<AffineDimExpr>(result))
        bounds.require(result, operand, unsigned(dimension));
  }
  return requirements.count;
}

} // namespace plim::ir
