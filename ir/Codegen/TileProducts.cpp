#include "ir/Codegen/TileProducts.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Makes slices of tensors, and the extents that they have.
struct Slices {
  IRRewriter &rewriter;
  Location loc;

  OpFoldResult apply(AffineExpr expression, ArrayRef<OpFoldResult> symbols) const {
    return affine::makeComposedFoldedAffineApply(
        rewriter, loc, AffineMap::get(0, unsigned(symbols.size()), expression), symbols);
  }

  Value slice(Value tensor, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) const {
    const SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(rewriter, loc, tensor, offsets, sizes, ones);
  }

  Value insert(Value part, Value tensor, ArrayRef<OpFoldResult> offsets,
               ArrayRef<OpFoldResult> sizes) const {
    const SmallVector<OpFoldResult> ones(sizes.size(), rewriter.getIndexAttr(1));
    return tensor::InsertSliceOp::create(rewriter, loc, part, tensor, offsets, sizes, ones);
  }

  /// The tensor with zeros in a part of it.
  Value withZeros(Value tensor, ArrayRef<OpFoldResult> offsets,
                  ArrayRef<OpFoldResult> sizes) const {
    if (llvm::any_of(sizes, [](OpFoldResult size) { return getConstantIntValue(size) == 0; }))
      return tensor;
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(getElementTypeOrSelf(tensor.getType())));
    Value part =
        linalg::FillOp::create(rewriter, loc, zero, slice(tensor, offsets, sizes)).getResult(0);
    return insert(part, tensor, offsets, sizes);
  }
};

OpFoldResult sizeOfLoop(IRRewriter &rewriter, linalg::LinalgOp op, unsigned loop) {
  return op.createLoopRanges(rewriter, op.getLoc())[loop].size;
}

/// Can tiles of rows be loaded from where they lie?
bool liesInTiles(linalg::LinalgOp op, const Product &product) {
  const unsigned depth = product.depthLoops.front();
  OpOperand &rows = op->getOpOperand(product.rows);
  const AffineMap map = op.getMatchingIndexingMap(&rows);
  const int64_t size = op.getStaticLoopRanges()[depth];
  return isContiguousAlong(map, depth) && !ShapedType::isDynamic(size) &&
         size % (rowsOfTile * groupSizeOf(op, product)) == 0;
}

/// The first of the innermost rows that have to be slices.
OpFoldResult firstCopied(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product) {
  if (!liesInTiles(op, product))
    return rewriter.getIndexAttr(0);
  const OpFoldResult rows = sizeOfLoop(rewriter, op, product.rowLoops.back());
  return Slices{rewriter, op.getLoc()}.apply(
      rewriter.getAffineSymbolExpr(0).floorDiv(rowsOfTile) * rowsOfTile, rows);
}

} // namespace

int64_t plim::ir::groupSizeOf(linalg::LinalgOp op, const Product &product) {
  return 32 / getElementTypeOrSelf(op->getOperand(product.rows).getType()).getIntOrFloatBitWidth();
}

bool plim::ir::isOfTiles(linalg::LinalgOp op, const Product &product) {
  const unsigned depth = product.depthLoops.front();
  const Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  const Type sum = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return product.depthLoops.size() == 1 && !product.rowLoops.empty() &&
         isSumOfWidenedProducts(op) &&
         element == getElementTypeOrSelf(op->getOperand(1).getType()) &&
         (element.isBF16() ? sum.isF32() : sum.isInteger(32)) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        return op.getMatchingIndexingMap(input).isFunctionOfDim(depth);
                      }) &&
         hasTileProducts(op->getParentOfType<ModuleOp>(), element);
}

Value plim::ir::rowsForTiles(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                             ArrayRef<int64_t> mostRows, int64_t mostDepth) {
  const Slices slices{rewriter, op.getLoc()};
  const Location loc = op.getLoc();
  Value operand = op->getOperand(product.rows);
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.rows));
  const int64_t step = rowsOfTile * groupSizeOf(op, product);
  SmallVector<unsigned> loops = product.rowLoops;
  loops.push_back(product.depthLoops.front());
  const unsigned rank = unsigned(loops.size());

  const OpFoldResult first = firstCopied(rewriter, op, product);
  const bool areAll = getConstantIntValue(first) == 0;
  SmallVector<int64_t> memory(mostRows);
  if (!areAll)
    memory.back() = rowsOfTile;
  memory.back() = int64_t(llvm::alignTo(memory.back(), rowsOfTile));
  memory.push_back(int64_t(llvm::alignTo(mostDepth, step)));
  SmallVector<OpFoldResult> extents;
  SmallVector<AffineExpr> dimensions(op.getNumLoops(), rewriter.getAffineConstantExpr(0));
  for (auto [dimension, loop] : llvm::enumerate(loops)) {
    extents.push_back(sizeOfLoop(rewriter, op, loop));
    dimensions[loop] = rewriter.getAffineDimExpr(unsigned(dimension));
  }
  const SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0));
  const AffineExpr size = rewriter.getAffineSymbolExpr(0);
  if (!areAll) {
    const unsigned inner = rank - 2;
    extents[inner] = slices.apply(size - rewriter.getAffineSymbolExpr(1), {extents[inner], first});
    if (getConstantIntValue(extents[inner]) == 0)
      return {};
    const unsigned dimension =
        *map.getResultPosition(rewriter.getAffineDimExpr(product.rowLoops.back()));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, operand),
                              offsets(sizes.size(), rewriter.getIndexAttr(0));
    sizes[dimension] = extents[inner];
    offsets[dimension] = first;
    operand = slices.slice(operand, offsets, sizes);
  }
  const OpFoldResult depth = extents.back(), whole = slices.apply(size.ceilDiv(step) * step, depth);

  Value all =
      tensor::EmptyOp::create(rewriter, loc, memory, getElementTypeOrSelf(operand.getType()));
  const AffineMap read = map.replaceDimsAndSymbols(dimensions, {}, rank, 0);
  Value part = slices.slice(all, zeros, extents);
  // Upstream folds a generic op that does nothing but copy.
  Value copy = read.isIdentity()
                   ? bufferization::MaterializeInDestinationOp::create(rewriter, loc, operand, part)
                         ->getResult(0)
                   : linalg::GenericOp::create(
                         rewriter, loc, part.getType(), operand, part,
                         ArrayRef<AffineMap>{read, rewriter.getMultiDimIdentityMap(rank)},
                         SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                         [](OpBuilder &b, Location at, ValueRange arguments) {
                           linalg::YieldOp::create(b, at, arguments[0]);
                         })
                         .getResult(0);
  all = slices.insert(copy, all, zeros, extents);
  SmallVector<OpFoldResult> behind = zeros, rest = extents;
  behind.back() = depth;
  rest.back() = slices.apply(size - rewriter.getAffineSymbolExpr(1), {whole, depth});
  all = slices.withZeros(all, behind, rest);
  SmallVector<OpFoldResult> tiles = extents;
  tiles[rank - 2] = rewriter.getIndexAttr(memory[rank - 2]);
  tiles.back() = whole;
  return slices.slice(all, zeros, tiles);
}

Value plim::ir::panelForTiles(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                              int64_t mostDepth) {
  const Slices slices{rewriter, op.getLoc()};
  const Location loc = op.getLoc();
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.panel));
  const unsigned depthLoop = product.depthLoops.front();
  const int64_t group = groupSizeOf(op, product), step = rowsOfTile * group;
  const OpFoldResult depth = sizeOfLoop(rewriter, op, depthLoop),
                     columns = sizeOfLoop(rewriter, op, product.column),
                     zero = rewriter.getIndexAttr(0);
  const AffineExpr size = rewriter.getAffineSymbolExpr(0);
  const OpFoldResult filled = slices.apply(size.ceilDiv(group), depth),
                     whole = slices.apply(size.ceilDiv(step) * rowsOfTile, depth);
  const int64_t width =
      int64_t(llvm::alignTo(getConstantIntValue(columns).value_or(2 * rowsOfTile), rowsOfTile));
  SmallVector<AffineExpr> dimensions(op.getNumLoops(), rewriter.getAffineConstantExpr(0));
  dimensions[depthLoop] = rewriter.getAffineDimExpr(0);
  dimensions[product.column] = rewriter.getAffineDimExpr(1);
  Value all = tensor::EmptyOp::create(rewriter, loc,
                                      {int64_t(llvm::alignTo(mostDepth, step)) / group, width},
                                      rewriter.getI32Type());
  const Grouping grouping{getElementTypeOrSelf(op->getOperand(product.panel).getType()), depthLoop};
  all = copyGroups(rewriter, op, product.panel, grouping, /*dimension=*/0,
                   map.replaceDimsAndSymbols(dimensions, {}, 2, 0), all, {depth, columns});
  all = slices.withZeros(all, {filled, zero},
                         {slices.apply(size - rewriter.getAffineSymbolExpr(1), {whole, filled}),
                          rewriter.getIndexAttr(width)});
  return slices.slice(all, {zero, zero}, {whole, rewriter.getIndexAttr(width)});
}

void plim::ir::makeTileProducts(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                                Value rows, Value panel) {
  rewriter.setInsertionPoint(op);
  const Location loc = op.getLoc();
  SmallVector<unsigned> outer = product.rowLoops;
  const unsigned inner = outer.pop_back_val();
  auto isUnsigned = [&](unsigned number) { return isa<arith::ExtUIOp>(extensionOf(op, number)); };
  const bool unsignedRows = isUnsigned(product.rows), unsignedPanel = isUnsigned(product.panel);
  const auto panelType = cast<RankedTensorType>(panel.getType());
  const OpFoldResult zero = rewriter.getIndexAttr(0), one = rewriter.getIndexAttr(1),
                     size = sizeOfLoop(rewriter, op, inner),
                     first = firstCopied(rewriter, op, product);

  // Zeros come from no memory.
  Value start = op.getDpsInits()[0];
  auto fill = start.getDefiningOp<linalg::FillOp>();
  const bool fromZero = fill && (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) ||
                                 matchPattern(fill.getInputs()[0], m_Zero()));
  if (fromZero)
    start = fill.getOutputs()[0];

  /// Some rows of a tensor whose dimensions are these loops.
  struct Part {
    SmallVector<OpFoldResult> offsets, sizes, ones;
    RankedTensorType type;
  };
  auto partOf = [&](Value tensor, ArrayRef<AffineExpr> indices, ArrayRef<OpFoldResult> at,
                    OpFoldResult begin, OpFoldResult count) {
    Part part;
    const SmallVector<OpFoldResult> whole = tensor::getMixedSizes(rewriter, loc, tensor);
    SmallVector<int64_t> shape;
    for (auto [dimension, index] : llvm::enumerate(indices)) {
      const unsigned loop = cast<AffineDimExpr>(index).getPosition();
      const auto *position = llvm::find(outer, loop);
      const bool isOuter = position != outer.end(), isInner = loop == inner;
      part.offsets.push_back(isOuter   ? at[size_t(position - outer.begin())]
                             : isInner ? begin
                                       : zero);
      part.sizes.push_back(isOuter ? one : isInner ? count : whole[dimension]);
      part.ones.push_back(one);
      if (isInner || loop == product.column || loop == product.depthLoops.front())
        shape.push_back(getConstantIntValue(part.sizes.back()).value_or(ShapedType::kDynamic));
    }
    part.type = RankedTensorType::get(shape, getElementTypeOrSelf(tensor.getType()));
    return part;
  };
  auto extract = [&](Value tensor, const Part &part) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, part.type, tensor, part.offsets,
                                          part.sizes, part.ones);
  };
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                  read = op.getMatchingIndexingMap(&op->getOpOperand(product.rows));
  auto multiply = [&](Value sum, Value a, ArrayRef<OpFoldResult> at, OpFoldResult begin,
                      OpFoldResult count) -> Value {
    const Part part = partOf(sum, written.getResults(), at, begin, count);
    SmallVector<Value> outputs = {extract(sum, part)};
    if (TileProductOp::needsRows(part.type.getShape(), panelType.getDimSize(1)))
      outputs.push_back(tensor::EmptyOp::create(
          rewriter, loc, {rowsOfTile, panelType.getDimSize(1)}, part.type.getElementType()));
    Value result = TileProductOp::create(rewriter, loc, ValueRange(outputs).getTypes(), a, panel,
                                         outputs, unsignedRows, unsignedPanel, fromZero)
                       .getResult(0);
    return tensor::InsertSliceOp::create(rewriter, loc, result, sum, part.offsets, part.sizes,
                                         part.ones);
  };
  auto all = [&](Value sum, ArrayRef<OpFoldResult> at) {
    if (getConstantIntValue(first) != 0) {
      Value operand = op->getOperand(product.rows);
      Value a = extract(operand, partOf(operand, read.getResults(), at, zero, first));
      sum = multiply(sum, a, at, zero, first);
    }
    if (rows) {
      SmallVector<AffineExpr> loops;
      for (unsigned loop : product.rowLoops)
        loops.push_back(rewriter.getAffineDimExpr(loop));
      loops.push_back(rewriter.getAffineDimExpr(product.depthLoops.front()));
      const unsigned rank = unsigned(cast<RankedTensorType>(rows.getType()).getRank());
      Value a = extract(
          rows, partOf(rows, loops, at, zero, tensor::getMixedSize(rewriter, loc, rows, rank - 2)));
      sum = multiply(sum, a, at, first,
                     Slices{rewriter, loc}.apply(rewriter.getAffineSymbolExpr(0) -
                                                     rewriter.getAffineSymbolExpr(1),
                                                 {size, first}));
    }
    return sum;
  };
  if (outer.empty()) {
    rewriter.replaceOp(op, all(start, {}));
    return;
  }
  SmallVector<Value> begins, ends, steps;
  for (unsigned loop : outer) {
    begins.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
    ends.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, sizeOfLoop(rewriter, op, loop)));
    steps.push_back(arith::ConstantIndexOp::create(rewriter, loc, 1));
  }
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, begins, ends, steps, start,
      [&](OpBuilder &, Location, ValueRange indices, ValueRange sums) -> scf::ValueVector {
        return {all(sums[0], getAsOpFoldResult(indices))};
      });
  rewriter.replaceOp(op, nest.results);
}
