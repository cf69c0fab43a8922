#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Bytes that a copy of the result with columns that fill vectors may have.
constexpr int64_t mostOfResult = int64_t(1) << 16;

/// An element of a copy.
Value converted(OpBuilder &builder, Location loc, OperandForm form, bool flips,
                Operation *extension, ValueRange elements) {
  auto widened = [&](Value element) {
    IRMapping mapping;
    mapping.map(extension->getOperand(0), element);
    return builder.clone(*extension, mapping)->getResult(0);
  };
  if (form == OperandForm::Copied)
    return elements[0];
  if (form == OperandForm::Widened)
    return widened(elements[0]);
  SmallVector<Value> values(elements.drop_back());
  const unsigned bits = unsigned(32 / values.size());
  for (Value &value : values)
    if (value.getType().getIntOrFloatBitWidth() < bits)
      value = arith::TruncIOp::create(builder, loc, builder.getIntegerType(bits), widened(value));
  Value group = grouped(builder, loc, values);
  if (!flips)
    return group;
  Value tops = arith::ConstantIntOp::create(builder, loc, int32_t(0x80808080), 32);
  return arith::XOrIOp::create(builder, loc, group, tops);
}

/// A tensor of a known shape with zeros in the innermost dimension, from `first`.
Value withZerosBehind(IRRewriter &rewriter, Location loc, Value tensor, OpFoldResult first) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const unsigned rank = unsigned(type.getRank());
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  AffineExpr width = rewriter.getAffineConstantExpr(type.getShape().back());
  offsets.back() = first;
  sizes.back() = affine::makeComposedFoldedAffineApply(
      rewriter, loc, width - rewriter.getAffineSymbolExpr(0), first);
  Value behind = tensor::ExtractSliceOp::create(rewriter, loc, tensor, offsets, sizes, ones);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  behind = linalg::FillOp::create(rewriter, loc, zero, behind).getResult(0);
  return tensor::InsertSliceOp::create(rewriter, loc, behind, tensor, offsets, sizes, ones);
}

} // namespace

Operation *plim::ir::extensionOf(linalg::LinalgOp op, unsigned number) {
  BlockArgument argument = op.getBlock()->getArgument(number);
  Operation *user = argument.hasOneUse() ? *argument.user_begin() : nullptr;
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(user) ? user : nullptr;
}

bool plim::ir::isSumOfWidenedProducts(linalg::LinalgOp op) {
  Operation *extensions[] = {extensionOf(op, 0), extensionOf(op, 1)};
  Operation *sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!extensions[0] || !extensions[1] || !isa_and_nonnull<arith::AddIOp, arith::AddFOp>(sum) ||
      llvm::range_size(op.getBlock()->without_terminator()) != 4)
    return false;
  BlockArgument old = op.getBlock()->getArgument(2);
  const unsigned other = sum->getOperand(0) == old ? 1 : 0;
  Operation *term = sum->getOperand(other).getDefiningOp();
  return sum->getOperand(1 - other) == old && isa_and_nonnull<arith::MulIOp, arith::MulFOp>(term) &&
         term->getOperand(0) != term->getOperand(1) &&
         llvm::all_of(term->getOperands(), [&](Value factor) {
           return llvm::is_contained(extensions, factor.getDefiningOp());
         });
}

SmallVector<int64_t> plim::ir::widenedShape(Value tensor, int64_t columns) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (auto [dimension, extent] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(extent)) {
      FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
          presburger::BoundType::UB, {tensor, int64_t(dimension)}, nullptr, /*closedUB=*/true);
      if (failed(most))
        return {};
      extent = std::max<int64_t>(1, *most);
    }
    bytes = checkedMul(bytes, extent).value_or(INT64_MAX);
  }
  return bytes <= mostOfResult ? shape : SmallVector<int64_t>();
}

Copy plim::ir::copyOf(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                      ArrayRef<unsigned> innermost, ArrayRef<int64_t> memory, int64_t width,
                      int64_t padding, OperandForm form, bool flips) {
  Location loc = op.getLoc();
  MLIRContext *context = rewriter.getContext();
  Value operand = op->getOperand(number);
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  SmallVector<unsigned> loops; // of the op, by dimension of the copy
  SmallVector<int64_t> whole;
  const unsigned loopsOfCopy = op.getNumLoops() - (form == OperandForm::Groups ? 1 : 0);
  for (unsigned loop = 0; loop < loopsOfCopy; ++loop)
    if (map.isFunctionOfDim(loop) && !llvm::is_contained(innermost, loop)) {
      loops.push_back(loop);
      whole.push_back(1);
    }
  for (auto [loop, most] : llvm::zip_equal(innermost, memory))
    if (map.isFunctionOfDim(loop)) {
      loops.push_back(loop);
      whole.push_back(most);
    }
  SmallVector<Range> ranges = op.createLoopRanges(rewriter, loc);
  SmallVector<OpFoldResult> extents;
  SmallVector<AffineExpr> dimensions(op.getNumLoops(), rewriter.getAffineConstantExpr(0)), read;
  for (auto [dimension, loop] : llvm::enumerate(loops)) {
    extents.push_back(ranges[loop].size);
    dimensions[loop] = rewriter.getAffineDimExpr(unsigned(dimension));
    read.push_back(rewriter.getAffineDimExpr(loop));
    if (std::optional<int64_t> known = getConstantIntValue(extents.back()))
      whole[dimension] = std::min(whole[dimension], *known);
  }
  const unsigned rank = unsigned(loops.size());
  // All elements of a group, if there are groups.
  const int64_t elements = form == OperandForm::Groups ? op.getStaticLoopRanges().back() : 1;
  const SmallVector<Value> inputs(size_t(elements), operand);
  SmallVector<AffineMap> maps;
  for (int64_t element = 0; element < elements; ++element) {
    if (form == OperandForm::Groups)
      dimensions.back() = rewriter.getAffineConstantExpr(element);
    maps.push_back(map.replaceDimsAndSymbols(dimensions, {}, rank, 0));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, context));
  Operation *extension = form == OperandForm::Copied ? nullptr : extensionOf(op, number);
  const Type element = form == OperandForm::Groups ? rewriter.getI32Type()
                       : extension                 ? extension->getResult(0).getType()
                                                   : getElementTypeOrSelf(operand.getType());
  whole.back() = std::max(whole.back(), width) + padding;
  const SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1));
  Value all = tensor::EmptyOp::create(rewriter, loc, whole, element);
  if (width != 0)
    all = withZerosBehind(rewriter, loc, all, extents.back());
  Value part = tensor::ExtractSliceOp::create(rewriter, loc, all, zeros, extents, ones);
  // Upstream folds a generic op that does nothing but copy.
  Value copy = form == OperandForm::Copied && maps[0].isIdentity()
                   ? bufferization::MaterializeInDestinationOp::create(rewriter, loc, operand, part)
                         ->getResult(0)
                   : linalg::GenericOp::create(
                         rewriter, loc, part.getType(), inputs, part, maps,
                         SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                         [&](OpBuilder &b, Location at, ValueRange arguments) {
                           linalg::YieldOp::create(
                               b, at, converted(b, at, form, flips, extension, arguments));
                         })
                         .getResult(0);
  if (width != 0) {
    SmallVector<OpFoldResult> widened = extents;
    widened.back() = rewriter.getIndexAttr(width);
    copy = tensor::InsertSliceOp::create(rewriter, loc, copy, all, zeros, extents, ones);
    copy = tensor::ExtractSliceOp::create(rewriter, loc, copy, zeros, widened, ones);
  }
  return {copy, AffineMap::get(op.getNumLoops(), 0, read, context)};
}

linalg::LinalgOp
plim::ir::replaceWithColumns(IRRewriter &rewriter, linalg::LinalgOp op, ValueRange inputs,
                             ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> kinds,
                             ArrayRef<int64_t> shape,
                             llvm::function_ref<void(OpBuilder &, Region &, Location)> makeBody) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value result = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(result.getType());
  const SmallVector<OpFoldResult> zeros(type.getRank(), rewriter.getIndexAttr(0)),
      ones(type.getRank(), rewriter.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(rewriter, loc, result);
  if (!shape.empty()) {
    SmallVector<OpFoldResult> widened = sizes;
    widened.back() = rewriter.getIndexAttr(shape.back());
    // Of its own: an empty tensor of the shape of a panel's would become the same, and both are written to in place.
    Value wide = bufferization::AllocTensorOp::create(
        rewriter, loc, RankedTensorType::get(shape, type.getElementType()), ValueRange());
    wide = withZerosBehind(rewriter, loc, wide, sizes.back());
    wide = tensor::InsertSliceOp::create(rewriter, loc, result, wide, zeros, sizes, ones);
    result = tensor::ExtractSliceOp::create(rewriter, loc, wide, zeros, widened, ones);
  }
  auto generic =
      linalg::GenericOp::create(rewriter, loc, result.getType(), inputs, result, maps, kinds);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    makeBody(rewriter, generic.getRegion(), loc);
  }
  result = generic.getResult(0);
  if (!shape.empty())
    result = tensor::ExtractSliceOp::create(rewriter, loc, result, zeros, sizes, ones);
  // Back to where they belong, unless a consumer is all that reads them: a loop that yields a part of other memory would
  // carry that.
  if (!shape.empty() && !llvm::all_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>))
    result = bufferization::MaterializeInDestinationOp::create(rewriter, loc, result,
                                                               op.getDpsInits()[0])
                 ->getResult(0);
  rewriter.replaceOp(op, result);
  return cast<linalg::LinalgOp>(generic.getOperation());
}

linalg::LinalgOp plim::ir::withCopy(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                                    const Copy &copy, ArrayRef<int64_t> shape) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs = op.getDpsInputs();
  maps[number] = copy.map;
  inputs[number] = copy.value;
  return replaceWithColumns(rewriter, op, inputs, maps, op.getIteratorTypesArray(), shape,
                            [&](OpBuilder &, Region &region, Location) {
                              IRMapping mapping;
                              op->getRegion(0).cloneInto(&region, mapping);
                              BlockArgument element = region.getArgument(number);
                              Type type = getElementTypeOrSelf(copy.value.getType());
                              if (element.getType() == type)
                                return;
                              // The copy has been widened.
                              element.setType(type);
                              rewriter.replaceOp(*element.user_begin(), element);
                            });
}

Value plim::ir::grouped(OpBuilder &builder, Location loc, ValueRange elements) {
  const Type word = builder.getI32Type();
  const unsigned bits = elements[0].getType().getIntOrFloatBitWidth();
  Value group;
  for (auto [position, element] : llvm::enumerate(elements)) {
    Value value = element;
    if (isa<FloatType>(value.getType()))
      value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
    value = arith::ExtUIOp::create(builder, loc, word, value);
    if (position == 0) {
      group = value;
      continue;
    }
    Value by = arith::ConstantIntOp::create(builder, loc, int64_t(bits * position), 32);
    group =
        arith::OrIOp::create(builder, loc, group, arith::ShLIOp::create(builder, loc, value, by));
  }
  return group;
}

bool plim::ir::isRowCopyBounded(linalg::LinalgOp op, const Product &product) {
  int64_t rows = 1;
  for (unsigned loop : product.rowLoops) {
    std::optional<int64_t> most = mostIterations(op, product.rows, loop);
    rows = most ? checkedMul(rows, *most).value_or(INT64_MAX) : INT64_MAX;
  }
  return rows <= mostRowsCopied &&
         op.getMatchingIndexingMap(&op->getOpOperand(product.rows)).isProjectedPermutation();
}
