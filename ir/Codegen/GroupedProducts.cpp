#include "ir/Codegen/GroupedProducts.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

static int64_t groupSize(Type element) { return 32 / element.getIntOrFloatBitWidth(); }

Type plim::ir::groupedType(linalg::LinalgOp op, const Product &product) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (product.depthLoops.size() != 1 ||
      !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }) ||
      !llvm::all_of(maps,
                    [&](AffineMap map) {
                      return map == maps.back() || map.isFunctionOfDim(product.depthLoops.front());
                    }) ||
      !isSumOfWidenedProducts(op))
    return {};
  auto module = op->getParentOfType<ModuleOp>();
  const int64_t depth = op.getStaticLoopRanges()[product.depthLoops.front()];
  auto isGrouped = [&](Type element) {
    return (ShapedType::isDynamic(depth) || depth >= groupSize(element)) &&
           widthOfDotGroups(module, element) != 0;
  };
  MLIRContext *context = op.getContext();
  const Type sum = getElementTypeOrSelf(op.getDpsInits()[0].getType()),
             bf16 = BFloat16Type::get(context), byte = IntegerType::get(context, 8),
             half = IntegerType::get(context, 16);
  auto areAll = [&](llvm::function_ref<bool(Type, Operation *)> holds) {
    return llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned number) {
      return holds(getElementTypeOrSelf(op->getOperand(number).getType()), extensionOf(op, number));
    });
  };
  if (sum.isF32() && areAll([](Type type, Operation *) { return type.isBF16(); }))
    return isGrouped(bf16) ? bf16 : Type();
  if (!sum.isInteger(32))
    return {};
  if (areAll([](Type type, Operation *) { return type.isInteger(8); }) && isGrouped(byte))
    return byte;
  // 16 bits without a sign do not fit.
  const bool arePairs = areAll([](Type type, Operation *extension) {
    return type.isInteger(8) || (type.isInteger(16) && isa<arith::ExtSIOp>(extension));
  });
  return arePairs && isGrouped(half) ? half : Type();
}

linalg::LinalgOp plim::ir::groupUp(linalg::LinalgOp op, const Product &product, Type element) {
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  const unsigned depth = product.depthLoops.front(), within = op.getNumLoops();
  const int64_t count = groupSize(element);
  const OpFoldResult size = op.createLoopRanges(rewriter, loc)[depth].size;
  const AffineExpr whole = rewriter.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expression) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expression, size);
  };
  const OpFoldResult groups = apply(whole.floorDiv(count)),
                     taken = apply(whole.floorDiv(count) * count), rest = apply(whole % count);
  auto part = [&](unsigned number, OpFoldResult first, OpFoldResult extent) -> Value {
    Value operand = op->getOperand(number);
    const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, operand),
                              offsets(sizes.size(), rewriter.getIndexAttr(0)),
                              ones(sizes.size(), rewriter.getIndexAttr(1));
    const unsigned dimension = *map.getResultPosition(rewriter.getAffineDimExpr(depth));
    offsets[dimension] = first;
    sizes[dimension] = extent;
    return tensor::ExtractSliceOp::create(rewriter, loc, operand, offsets, sizes, ones);
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned number : {0U, 1U}) {
    Value operand = part(number, rewriter.getIndexAttr(0), taken);
    const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    SmallVector<ReassociationIndices> expanded;
    SmallVector<AffineExpr> indices;
    SmallVector<OpFoldResult> sizes, all = tensor::getMixedSizes(rewriter, loc, operand);
    for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
      expanded.push_back({int64_t(indices.size())});
      indices.push_back(index);
      sizes.push_back(all[dimension]);
      if (index != rewriter.getAffineDimExpr(depth))
        continue;
      sizes.back() = groups;
      expanded.back().push_back(int64_t(indices.size()));
      indices.push_back(rewriter.getAffineDimExpr(within));
      sizes.push_back(rewriter.getIndexAttr(count));
    }
    auto [shape, dynamic] = decomposeMixedValues(sizes);
    inputs.push_back(tensor::ExpandShapeOp::create(
        rewriter, loc, RankedTensorType::get(shape, getElementTypeOrSelf(operand.getType())),
        operand, expanded, sizes));
    maps.push_back(AffineMap::get(within + 1, 0, indices, rewriter.getContext()));
  }
  maps.push_back(AffineMap::get(within + 1, 0, op.getIndexingMapsArray().back().getResults(),
                                rewriter.getContext()));
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs,
                                           op.getDpsInits(), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  Value result = generic.getResult(0);
  if (getConstantIntValue(rest) != 0) {
    const Value operands[] = {part(0, taken, rest), part(1, taken, rest), result};
    Operation *last = rewriter.clone(*op);
    last->setOperands(operands);
    result = last->getResult(0);
  }
  rewriter.replaceOp(op, result);
  return cast<linalg::LinalgOp>(generic.getOperation());
}

bool plim::ir::flipsRows(linalg::LinalgOp op, const Product &product, Type element) {
  return element.isInteger(8) &&
         extensionOf(op, product.rows)->getName() == extensionOf(op, product.panel)->getName();
}

/// The destination of a product whose rows have flipped top bits less what that adds: the product of a row of zeros with flipped
/// top bits, a number for each column of the panel.
static Value lessFlipped(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                         Type element, const Copy &panel, bool rowsAreFirst) {
  const Location loc = op.getLoc();
  const unsigned depth = product.depthLoops.front();
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32),
        flipped = arith::ConstantIntOp::create(rewriter, loc, int32_t(0x80808080), 32);
  // The dimensions of the panel, all but that of the reduction among the result's.
  const unsigned rank = panel.map.getNumResults();
  SmallVector<OpFoldResult> extents, all = tensor::getMixedSizes(rewriter, loc, panel.value);
  SmallVector<AffineExpr> kept, ofOp;
  SmallVector<utils::IteratorType> kinds;
  for (auto [dimension, index] : llvm::enumerate(panel.map.getResults())) {
    const bool isSummed = index == rewriter.getAffineDimExpr(depth);
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
                          Type element, const Copy &rows, const Copy &panel,
                          ArrayRef<int64_t> shape) {
  const bool flips = flipsRows(op, product, element),
             rowsAreFirst = !element.isInteger(8) ||
                            isa<arith::ExtUIOp>(extensionOf(op, product.rows)) != flips;
  if (flips) {
    rewriter.setInsertionPoint(op);
    Value sum = lessFlipped(rewriter, op, product, element, panel, rowsAreFirst);
    rewriter.modifyOpInPlace(op, [&] { op.getDpsInitsMutable()[0].assign(sum); });
  }
  llvm::SmallBitVector within(op.getNumLoops());
  within.set(product.depthLoops.back());
  SmallVector<Value> inputs(2);
  inputs[product.rows] = rows.value;
  inputs[product.panel] = panel.value;
  SmallVector<AffineMap> maps(2);
  maps[product.rows] = compressDims(rows.map, within);
  maps[product.panel] = compressDims(panel.map, within);
  maps.push_back(compressDims(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), within));
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.erase(kinds.begin() + product.depthLoops.back());
  replaceWithColumns(
      rewriter, op, inputs, maps, kinds, shape,
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
