#include "ir/Codegen/GroupedProducts.h"
#include "ir/Codegen/PackedPanels.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

/// What groups hold: the operands' type, or i16 for pairs of narrower integers; null if there are none.
static Type groupedElement(linalg::LinalgOp op) {
  if (!isSumOfWidenedProducts(op))
    return {};
  auto module = op->getParentOfType<ModuleOp>();
  MLIRContext *context = op.getContext();
  const Type sum = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  auto areAll = [&](llvm::function_ref<bool(Type, Operation *)> holds) {
    return llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned number) {
      return holds(getElementTypeOrSelf(op->getOperand(number).getType()), extensionOf(op, number));
    });
  };
  auto orNull = [&](Type element) {
    return widthOfDotGroups(module, element) != 0 ? element : Type();
  };
  if (sum.isF32())
    return areAll([](Type type, Operation *) { return type.isBF16(); })
               ? orNull(BFloat16Type::get(context))
               : Type();
  if (!sum.isInteger(32))
    return {};
  if (areAll([](Type type, Operation *) {
        return type.isInteger() && type.getIntOrFloatBitWidth() <= 8;
      }))
    if (Type byte = orNull(IntegerType::get(context, 8)))
      return byte;
  // 16 bits without a sign do not fit.
  const bool arePairs = areAll([](Type type, Operation *extension) {
    return type.isInteger() && (type.getIntOrFloatBitWidth() <= 8 ||
                                (type.isInteger(16) && isa<arith::ExtSIOp>(extension)));
  });
  return arePairs ? orNull(IntegerType::get(context, 16)) : Type();
}

std::optional<Grouping> plim::ir::groupingOf(linalg::LinalgOp op, const Product &product) {
  Grouping best{groupedElement(op), 0};
  if (!best.element)
    return std::nullopt;
  const AffineMap rows = op.getMatchingIndexingMap(&op->getOpOperand(product.rows)),
                  panel = op.getMatchingIndexingMap(&op->getOpOperand(product.panel));
  // A product with all iterations of the reduction, for what flipped rows add.
  for (unsigned loop : product.depthLoops)
    if (!rows.isFunctionOfDim(loop) || !panel.isFunctionOfDim(loop))
      return std::nullopt;
  auto positionOf = [&](unsigned loop) -> std::optional<unsigned> {
    const std::optional<unsigned> dimension =
        rows.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    const bool isAlone = llvm::count_if(rows.getResults(), [&](AffineExpr index) {
                           return index.isFunctionOfDim(loop);
                         }) == 1;
    return isAlone ? dimension : std::nullopt;
  };
  best.isFlipped = best.element.isInteger(8) && extensionOf(op, product.rows)->getName() ==
                                                    extensionOf(op, product.panel)->getName();
  // What panels there are say what was chosen for them.
  if (UnpackPanelsOp unpack = unpackingOf(op->getOperand(product.panel))) {
    if (!unpack.getGrouped() || int64_t(unpack.getGroup()) != best.size())
      return std::nullopt;
    best.loop = panel.getDimPosition(unsigned(*unpack.getGrouped()));
    return llvm::is_contained(product.depthLoops, best.loop) && positionOf(best.loop)
               ? std::optional(best)
               : std::nullopt;
  }
  // The loop that wastes least, which is no part of a window of the rows; of several the one whose elements lie side by side.
  const int64_t size = best.size();
  double leastWaste = 2;
  for (unsigned loop : product.depthLoops) {
    const std::optional<unsigned> dimension = positionOf(loop);
    if (!dimension)
      continue;
    const int64_t iterations = op.getStaticLoopRanges()[loop];
    if (iterations == 1)
      continue;
    const bool isInnermost = *dimension + 1 == rows.getNumResults();
    const double waste = ShapedType::isDynamic(iterations)
                             ? 1
                             : double(llvm::alignTo(iterations, size)) / double(iterations);
    if (waste < leastWaste || (waste == leastWaste && isInnermost)) {
      leastWaste = waste;
      best.loop = loop;
    }
  }
  if (leastWaste == 2)
    return std::nullopt;
  return best;
}

/// The destination of a product whose rows have flipped top bits less what that adds: the product of a row of zeros with flipped
/// top bits, a number for each column of the panel.
static Value lessFlipped(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                         Type element, const Copy &panel, bool rowsAreFirst) {
  const Location loc = op.getLoc();
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32),
        flipped = arith::ConstantIntOp::create(rewriter, loc, int32_t(0x80808080), 32);
  // The dimensions of the panel, all but those of the reduction among the result's.
  const unsigned rank = panel.map.getNumResults();
  SmallVector<OpFoldResult> extents, all = tensor::getMixedSizes(rewriter, loc, panel.value);
  SmallVector<AffineExpr> kept, ofOp;
  SmallVector<utils::IteratorType> kinds;
  for (auto [dimension, index] : llvm::enumerate(panel.map.getResults())) {
    const bool isSummed =
        llvm::is_contained(product.depthLoops, cast<AffineDimExpr>(index).getPosition());
    kinds.push_back(isSummed ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (isSummed)
      continue;
    kept.push_back(rewriter.getAffineDimExpr(unsigned(dimension)));
    ofOp.push_back(index);
    extents.push_back(all[dimension]);
  }
  const AffineMap read = AffineMap::getMultiDimIdentityMap(rank, rewriter.getContext()),
                  written = AffineMap::get(rank, 0, kept, rewriter.getContext());
  Value added = tensor::EmptyOp::create(rewriter, loc, extents, rewriter.getI32Type());
  added = linalg::FillOp::create(rewriter, loc, zero, added).getResult(0);
  added = linalg::GenericOp::create(
              rewriter, loc, added.getType(), panel.value, added, {read, written}, kinds,
              [&](OpBuilder &builder, Location at, ValueRange arguments) {
                Value factors[] = {arguments[0], flipped};
                if (rowsAreFirst)
                  std::swap(factors[0], factors[1]);
                Value sum =
                    DotGroupsOp::create(builder, at, factors[0], factors[1], arguments[1], element);
                linalg::YieldOp::create(builder, at, sum);
              })
              .getResult(0);
  // Columns of zeros are for the copy of the result alone.
  Value sum = op.getDpsInits()[0];
  const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<OpFoldResult> sizes, bounds = tensor::getMixedSizes(rewriter, loc, sum);
  for (AffineExpr index : ofOp)
    sizes.push_back(bounds[*result.getResultPosition(index)]);
  const SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1));
  added = tensor::ExtractSliceOp::create(rewriter, loc, added, zeros, sizes, ones);
  SmallVector<AffineExpr> places;
  for (AffineExpr index : ofOp)
    places.push_back(rewriter.getAffineDimExpr(*result.getResultPosition(index)));
  const unsigned dimensions = result.getNumResults();
  // What was only filled is not read.
  auto fill = sum.getDefiningOp<linalg::FillOp>();
  return linalg::GenericOp::create(
             rewriter, loc, sum.getType(), added, fill ? fill.getOutputs()[0] : sum,
             {AffineMap::get(dimensions, 0, places, rewriter.getContext()),
              AffineMap::getMultiDimIdentityMap(dimensions, rewriter.getContext())},
             SmallVector<utils::IteratorType>(dimensions, utils::IteratorType::parallel),
             [&](OpBuilder &builder, Location at, ValueRange arguments) {
               Value first = fill ? fill.getInputs()[0] : arguments[1];
               Value less = arith::SubIOp::create(builder, at, first, arguments[0]);
               linalg::YieldOp::create(builder, at, less);
             })
      .getResult(0);
}

void plim::ir::withGroups(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                          const Grouping &grouping, const Copy &rows, const Copy &panel,
                          ArrayRef<int64_t> shape) {
  const Type element = grouping.element;
  const bool rowsAreFirst =
      !element.isInteger(8) ||
      isa<arith::ExtUIOp>(extensionOf(op, product.rows)) != grouping.isFlipped;
  if (grouping.isFlipped) {
    rewriter.setInsertionPoint(op);
    Value sum = lessFlipped(rewriter, op, product, element, panel, rowsAreFirst);
    rewriter.modifyOpInPlace(op, [&] { op.getDpsInitsMutable()[0].assign(sum); });
  }
  SmallVector<Value> inputs(2);
  inputs[product.rows] = rows.value;
  inputs[product.panel] = panel.value;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[product.rows] = rows.map;
  maps[product.panel] = panel.map;
  replaceWithColumns(
      rewriter, op, inputs, maps, op.getIteratorTypesArray(), shape,
      [&](OpBuilder &builder, Region &region, Location loc) {
        Type group = builder.getI32Type(), sum = getElementTypeOrSelf(op->getResult(0).getType());
        Block *block = builder.createBlock(&region, {}, {group, group, sum}, {loc, loc, loc});
        const unsigned first = rowsAreFirst ? product.rows : product.panel;
        Value next =
            DotGroupsOp::create(builder, loc, block->getArgument(first),
                                block->getArgument(1 - first), block->getArgument(2), element);
        linalg::YieldOp::create(builder, loc, next);
      });
}
