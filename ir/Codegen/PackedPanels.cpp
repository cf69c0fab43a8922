#include "ir/Codegen/PackedPanels.h"
#include "ir/Codegen/TiledOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;

namespace {

bool isMultiple(OpFoldResult value, int64_t of);

/// Is the expression one, over such operands?
bool isMultiple(AffineExpr expression, ValueRange dimensions, ValueRange symbols, int64_t of) {
  if (expression.isMultipleOf(of))
    return true;
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return isMultiple(dimensions[dimension.getPosition()], of);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return isMultiple(symbols[symbol.getPosition()], of);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return false;
  auto both = [&](AffineExpr a, AffineExpr b) {
    return isMultiple(a, dimensions, symbols, of) && isMultiple(b, dimensions, symbols, of);
  };
  if (binary.getKind() == AffineExprKind::Mul)
    return isMultiple(binary.getLHS(), dimensions, symbols, of);
  return binary.getKind() == AffineExprKind::Add && both(binary.getLHS(), binary.getRHS());
}

bool isMultiple(OpFoldResult value, int64_t of) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % of == 0;
  auto variable = dyn_cast<Value>(value);
  if (auto apply = variable.getDefiningOp<affine::AffineApplyOp>()) {
    const AffineMap map = apply.getAffineMap();
    return isMultiple(map.getResult(0), apply.getDimOperands(), apply.getSymbolOperands(), of);
  }
  auto argument = dyn_cast<BlockArgument>(variable);
  auto loop = argument ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
                       : LoopLikeOpInterface();
  std::optional<SmallVector<Value>> variables = loop ? loop.getLoopInductionVars() : std::nullopt;
  if (!variables)
    return false;
  auto position = llvm::find(*variables, variable);
  if (position == variables->end())
    return false;
  const size_t index = size_t(position - variables->begin());
  return isMultiple((*loop.getLoopLowerBounds())[index], of) &&
         isMultiple((*loop.getLoopSteps())[index], of);
}

/// An element of a group of `group`.
Value memberOf(OpBuilder &builder, Location loc, Value word, Value position, int64_t group,
               Type element) {
  Value bits = arith::ConstantIntOp::create(builder, loc, 32 / group, 32);
  position = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), position);
  Value by = arith::MulIOp::create(builder, loc, position, bits);
  word = arith::ShRUIOp::create(builder, loc, word, by);
  const Type integer = builder.getIntegerType(element.getIntOrFloatBitWidth());
  word = arith::TruncIOp::create(builder, loc, integer, word);
  return element == integer ? word : arith::BitcastOp::create(builder, loc, element, word);
}

/// What a slice is of, and where it begins there.
struct Place {
  Value whole;
  SmallVector<OpFoldResult> offsets;
};

/// Nothing where the slice has other dimensions than the whole, or leaves elements out.
std::optional<Place> placeOf(IRRewriter &rewriter, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  Place place{operand, SmallVector<OpFoldResult>(size_t(type.getRank()), rewriter.getIndexAttr(0))};
  AffineExpr a, b;
  bindSymbols(rewriter.getContext(), a, b);
  while (Operation *op = place.whole.getDefiningOp()) {
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      place.whole = cast.getSource();
      continue;
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice)
      break;
    if (!slice.hasUnitStride() || slice.getSourceType().getRank() != type.getRank())
      return std::nullopt;
    for (auto [offset, more] : llvm::zip_equal(place.offsets, slice.getMixedOffsets()))
      offset = affine::makeComposedFoldedAffineApply(rewriter, op->getLoc(), a + b, {offset, more});
    place.whole = slice.getSource();
  }
  return place;
}

} // namespace

UnpackPanelsOp plim::ir::unpackingOf(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (auto unpack = dyn_cast<UnpackPanelsOp>(op))
      return unpack;
    if (!isa<tensor::ExtractSliceOp, tensor::CastOp>(op))
      break;
    operand = op->getOperand(0);
  }
  return {};
}

std::optional<Copy> plim::ir::panelOf(IRRewriter &rewriter, linalg::LinalgOp op,
                                      const Product &product, int64_t width) {
  Value operand = op->getOperand(product.panel);
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.panel));
  std::optional<Place> place = placeOf(rewriter, operand);
  auto unpack = place ? place->whole.getDefiningOp<UnpackPanelsOp>() : UnpackPanelsOp();
  if (!unpack || !map.isProjectedPermutation() ||
      map.getDimPosition(unsigned(unpack.getColumn())) != product.column)
    return std::nullopt;
  const auto column = unsigned(unpack.getColumn());
  const int64_t ofPanel = unpack.getWidth();
  std::optional<int64_t> most =
      mostIterations(op, op.getDpsInitOperand(0)->getOperandNumber(), product.column);
  if (width > ofPanel || !most || *most > ofPanel || !isMultiple(place->offsets[column], ofPanel))
    return std::nullopt;
  Location loc = op.getLoc();
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, operand);
  SmallVector<OpFoldResult> offsets = {affine::makeComposedFoldedAffineApply(
      rewriter, loc, rewriter.getAffineSymbolExpr(0).floorDiv(ofPanel), place->offsets[column])};
  SmallVector<OpFoldResult> extents = {rewriter.getIndexAttr(1)};
  SmallVector<AffineExpr> read;
  SmallVector<int64_t> shape;
  const int64_t group = int64_t(unpack.getGroup());
  const AffineExpr symbol = rewriter.getAffineSymbolExpr(0);
  for (int64_t dimension : unpack.getRest()) {
    OpFoldResult offset = place->offsets[size_t(dimension)], extent = sizes[size_t(dimension)];
    if (unpack.isGrouped(dimension)) {
      if (!isMultiple(offset, group))
        return std::nullopt;
      offset = affine::makeComposedFoldedAffineApply(rewriter, loc, symbol.floorDiv(group), offset);
      extent = affine::makeComposedFoldedAffineApply(rewriter, loc, symbol.ceilDiv(group), extent);
    }
    offsets.push_back(offset);
    extents.push_back(extent);
    read.push_back(map.getResult(unsigned(dimension)));
    shape.push_back(getConstantIntValue(extents.back()).value_or(ShapedType::kDynamic));
  }
  offsets.push_back(rewriter.getIndexAttr(0));
  extents.push_back(width != 0 ? OpFoldResult(rewriter.getIndexAttr(width)) : sizes[column]);
  read.push_back(map.getResult(column));
  shape.push_back(getConstantIntValue(extents.back()).value_or(ShapedType::kDynamic));
  const SmallVector<OpFoldResult> ones(offsets.size(), rewriter.getIndexAttr(1));
  auto type = RankedTensorType::get(shape, unpack.getPanels().getType().getElementType());
  Value panel = tensor::ExtractSliceOp::create(rewriter, loc, type, unpack.getPanels(), offsets,
                                               extents, ones);
  return Copy{panel, AffineMap::get(op.getNumLoops(), 0, read, rewriter.getContext())};
}

void plim::ir::unpackRest(func::FuncOp function) {
  SmallVector<UnpackPanelsOp> ops;
  function.walk([&](UnpackPanelsOp op) { ops.push_back(op); });
  for (UnpackPanelsOp op : ops) {
    IRRewriter rewriter(op);
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *user = use.getOwner();
      if (isOpTriviallyDead(user)) {
        rewriter.eraseOp(user);
        continue;
      }
      rewriter.setInsertionPoint(user);
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      const bool isSlice = slice && slice.hasUnitStride() &&
                           slice.getType().getRank() == slice.getSourceType().getRank();
      SmallVector<OpFoldResult> sizes =
          isSlice ? slice.getMixedSizes()
                  : tensor::getMixedSizes(rewriter, op.getLoc(), op.getResult());
      SmallVector<OpFoldResult> offsets =
          isSlice ? slice.getMixedOffsets()
                  : SmallVector<OpFoldResult>(sizes.size(), rewriter.getIndexAttr(0));
      Value memory = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                             op.getResult().getType().getElementType());
      const auto rank = unsigned(sizes.size());
      auto read = linalg::GenericOp::create(
          rewriter, op.getLoc(), memory.getType(), ValueRange(), memory,
          rewriter.getMultiDimIdentityMap(rank),
          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
          [&](OpBuilder &b, Location loc, ValueRange) {
            auto index = [&](int64_t dimension) -> OpFoldResult {
              Value loop = linalg::IndexOp::create(b, loc, dimension);
              return affine::makeComposedFoldedAffineApply(
                  b, loc, b.getAffineSymbolExpr(0) + b.getAffineSymbolExpr(1),
                  {OpFoldResult(loop), offsets[size_t(dimension)]});
            };
            auto apply = [&](AffineExpr expression, OpFoldResult value) {
              return getValueOrCreateConstantIndexOp(
                  b, loc, affine::makeComposedFoldedAffineApply(b, loc, expression, value));
            };
            const AffineExpr symbol = b.getAffineSymbolExpr(0);
            const OpFoldResult column = index(int64_t(op.getColumn()));
            SmallVector<Value> indices = {apply(symbol.floorDiv(op.getWidth()), column)};
            const auto group = int64_t(op.getGroup());
            Value inGroup;
            for (int64_t dimension : op.getRest()) {
              const bool isGrouped = op.isGrouped(dimension);
              if (isGrouped)
                inGroup = apply(symbol % group, index(dimension));
              indices.push_back(
                  apply(isGrouped ? symbol.floorDiv(group) : symbol, index(dimension)));
            }
            indices.push_back(apply(symbol % op.getWidth(), column));
            Value element = tensor::ExtractOp::create(b, loc, op.getPanels(), indices);
            if (inGroup)
              element = memberOf(b, loc, element, inGroup, group,
                                 op.getResult().getType().getElementType());
            linalg::YieldOp::create(b, loc, element);
          });
      if (isSlice)
        rewriter.replaceOp(slice, read);
      else
        use.set(read.getResult(0));
    }
    rewriter.eraseOp(op);
  }
}
