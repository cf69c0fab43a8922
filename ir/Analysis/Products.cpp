#include "ir/Analysis/Products.h"
#include "support/CheckedMath.h"

using namespace mlir;
using namespace plim::ir;

std::optional<int64_t> plim::ir::factorOf(AffineExpr index, unsigned loop) {
  if (auto dimension = dyn_cast<AffineDimExpr>(index))
    return dimension.getPosition() == loop ? 1 : 0;
  if (isa<AffineConstantExpr>(index))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> left = factorOf(binary.getLHS(), loop);
  if (!left)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add) {
    std::optional<int64_t> right = factorOf(binary.getRHS(), loop);
    return right ? std::optional(*left + *right) : std::nullopt;
  }
  // Constants stand on the right.
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !factor)
    return std::nullopt;
  return *left * factor.getValue();
}

std::optional<int64_t> plim::ir::stepAlong(AffineMap map, unsigned loop) {
  if (map.getNumResults() == 0 || llvm::any_of(map.getResults().drop_back(), [&](AffineExpr index) {
        return index.isFunctionOfDim(loop);
      }))
    return std::nullopt;
  return factorOf(map.getResults().back(), loop);
}

bool plim::ir::isContiguousAlong(AffineMap map, unsigned loop) { return stepAlong(map, loop) == 1; }

bool plim::ir::mayCollapseLoops(linalg::LinalgOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(sizes, 0)) // 0 times unknown is 0
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    return llvm::all_of(llvm::zip_equal(map.getResults(), op.getShape(&operand)), [&](auto pair) {
      auto [index, extent] = pair;
      auto loop = dyn_cast<AffineDimExpr>(index);
      return !loop ||
             ShapedType::isDynamic(extent) == ShapedType::isDynamic(sizes[loop.getPosition()]);
    });
  });
}

/// Is `property` true of the factor of a loop in an index?
static bool anyFactor(AffineMap map, llvm::function_ref<bool(std::optional<int64_t>)> property) {
  for (AffineExpr index : map.getResults())
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (property(factorOf(index, loop)))
        return true;
  return false;
}

bool plim::ir::runsBackwards(AffineMap map) {
  return anyFactor(map, [](std::optional<int64_t> factor) { return factor && *factor < 0; });
}

bool plim::ir::hasTileableIndices(AffineMap map) {
  return !anyFactor(map, [](std::optional<int64_t> factor) { return !factor || *factor < 0; });
}

std::optional<Product> plim::ir::productOf(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      op.hasIndexSemantics())
    return std::nullopt;
  // Neither random access nor what may trap.
  for (Operation &nested : *op.getBlock())
    if (!isPure(&nested) || nested.getNumRegions() > 0 ||
        llvm::any_of(nested.getOperandTypes(), [](Type type) { return isa<ShapedType>(type); }))
      return std::nullopt;
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[2].isProjectedPermutation() || maps[2].getNumResults() == 0)
    return std::nullopt;
  if (!llvm::all_of(ArrayRef(maps).drop_back(), hasTileableIndices))
    return std::nullopt;

  Product product;
  product.column = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  product.panel = maps[0].isFunctionOfDim(product.column) ? 0 : 1;
  product.rows = 1 - product.panel;
  const AffineMap panel = maps[product.panel], rows = maps[product.rows];
  if (!panel.isFunctionOfDim(product.column) || rows.isFunctionOfDim(product.column))
    return std::nullopt;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool inPanel = panel.isFunctionOfDim(loop), inRows = rows.isFunctionOfDim(loop);
    if (kind == utils::IteratorType::parallel)
      (inPanel == inRows ? product.batchLoops
       : inPanel         ? product.columnLoops
                         : product.rowLoops)
          .push_back(loop);
    else
      product.depthLoops.push_back(loop);
  }
  const bool usesPanel =
      llvm::any_of(product.depthLoops, [&](unsigned loop) { return panel.isFunctionOfDim(loop); });
  return usesPanel ? std::optional(product) : std::nullopt;
}

bool plim::ir::isMatrixProduct(linalg::LinalgOp op) {
  std::optional<Product> product = productOf(op);
  return product && !product->rowLoops.empty();
}

std::optional<int64_t> plim::ir::iterations(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t product = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(sizes[loop]))
      return std::nullopt;
    product = checkedMul(product, sizes[loop]).value_or(INT64_MAX);
  }
  return product;
}
