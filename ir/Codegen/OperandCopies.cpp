#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ValueBounds.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Bytes that a copy of the result with columns that fill vectors may have.
constexpr int64_t mostOfResult = int64_t(1) << 16;
/// The most elements of an image of a workgroup's windows that are copied in another form.
constexpr int64_t mostWindowElementsCopied = int64_t(1) << 22;

/// An element of a copy that is no group.
Value converted(OpBuilder &builder, Location loc, Operation *extension, Value element) {
  if (!extension)
    return element;
  IRMapping mapping;
  mapping.map(extension->getOperand(0), element);
  return builder.clone(*extension, mapping)->getResult(0);
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

/// Numbers whose bits fill 32 together, the first in the low ones; 0 for those that are missing.
static Value grouped(OpBuilder &builder, Location loc, ValueRange elements) {
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

Value plim::ir::groupOf(OpBuilder &builder, Location loc, const Grouping &grouping,
                        Operation *extension, ValueRange elements) {
  SmallVector<Value> values(elements);
  const unsigned bits = grouping.element.getIntOrFloatBitWidth();
  for (Value &value : values)
    if (value.getType().getIntOrFloatBitWidth() < bits)
      value = arith::TruncIOp::create(builder, loc, builder.getIntegerType(bits),
                                      converted(builder, loc, extension, value));
  Value group = grouped(builder, loc, values);
  if (!grouping.isFlipped)
    return group;
  Value tops = arith::ConstantIntOp::create(builder, loc, int32_t(0x80808080), 32);
  return arith::XOrIOp::create(builder, loc, group, tops);
}

/// An upper bound of an extent.
static std::optional<int64_t> mostExtent(Value tensor, unsigned dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return type.getDimSize(dimension);
  std::optional<int64_t> most = greatestKnown({tensor, int64_t(dimension)});
  return most ? std::optional(std::max<int64_t>(1, *most)) : std::nullopt;
}

SmallVector<int64_t> plim::ir::mostExtents(Value tensor) {
  SmallVector<int64_t> extents(size_t(cast<RankedTensorType>(tensor.getType()).getRank()));
  for (auto [dimension, extent] : llvm::enumerate(extents)) {
    std::optional<int64_t> most = mostExtent(tensor, unsigned(dimension));
    if (!most)
      return {};
    extent = *most;
  }
  return extents;
}

SmallVector<int64_t> plim::ir::widenedShape(Value tensor, int64_t columns) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  int64_t bytes =
      checkedMul(columns, int64_t(type.getElementTypeBitWidth() / 8)).value_or(INT64_MAX);
  for (unsigned dimension = 0; dimension + 1 < unsigned(type.getRank()); ++dimension) {
    std::optional<int64_t> most = mostExtent(tensor, dimension);
    if (!most)
      return {};
    shape.push_back(*most);
    bytes = checkedMul(bytes, *most).value_or(INT64_MAX);
  }
  shape.push_back(columns);
  return bytes <= mostOfResult ? shape : SmallVector<int64_t>();
}

namespace {

/// How a copy lies, a value for each of its dimensions.
struct Layout {
  SmallVector<AffineExpr> indices; // by the loops of the op
  SmallVector<OpFoldResult> extents;
  SmallVector<int64_t> memory;
  AffineMap read; // the operand's element that an element of the copy is
};

} // namespace

Value plim::ir::copyGroups(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                           const Grouping &grouping, unsigned dimension, AffineMap read,
                           Value memory, ArrayRef<OpFoldResult> extents) {
  const Location loc = op.getLoc();
  const auto rank = unsigned(extents.size());
  const int64_t size = grouping.size();
  Value operand = op->getOperand(number);
  Operation *extension = extensionOf(op, number);
  const OpFoldResult all = extents[dimension];
  const AffineExpr symbol = rewriter.getAffineSymbolExpr(0);
  auto apply = [&](AffineExpr expression) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expression, all);
  };
  auto readAt = [&](AffineExpr index) {
    SmallVector<AffineExpr> dimensions;
    for (unsigned i = 0; i < rank; ++i)
      dimensions.push_back(i == dimension ? index : rewriter.getAffineDimExpr(i));
    return read.replaceDimsAndSymbols(dimensions, {}, rank, 0);
  };
  using Body = function_ref<void(OpBuilder &, Location, ValueRange)>;
  auto copyPart = [&](OpFoldResult first, OpFoldResult count, ValueRange inputs,
                      SmallVector<AffineMap> maps, Body body) {
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)), sizes(extents);
    const SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
    offsets[dimension] = first;
    sizes[dimension] = count;
    Value part = tensor::ExtractSliceOp::create(rewriter, loc, memory, offsets, sizes, ones);
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    part = linalg::GenericOp::create(
               rewriter, loc, part.getType(), inputs, part, maps,
               SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel), body)
               .getResult(0);
    memory = tensor::InsertSliceOp::create(rewriter, loc, part, memory, offsets, sizes, ones);
  };
  auto copyOfMany = [&](OpFoldResult first, OpFoldResult count, AffineExpr index, int64_t taken) {
    SmallVector<AffineMap> maps;
    for (int64_t element = 0; element < taken; ++element)
      maps.push_back(readAt(index + element));
    copyPart(first, count, SmallVector<Value>(size_t(taken), operand), maps,
             [&](OpBuilder &b, Location at, ValueRange arguments) {
               linalg::YieldOp::create(b, at,
                                       groupOf(b, at, grouping, extension, arguments.drop_back()));
             });
  };
  const OpFoldResult full = apply(symbol.floorDiv(size)), one = rewriter.getIndexAttr(1);
  if (getConstantIntValue(full) != 0)
    copyOfMany(rewriter.getIndexAttr(0), full, rewriter.getAffineDimExpr(dimension) * size, size);
  // The last group, if it is not full.
  if (std::optional<int64_t> known = getConstantIntValue(all)) {
    // Not at a constant: where windows move by one, their loop would seem to be as long as the operand.
    if (*known % size != 0)
      copyOfMany(full, one, rewriter.getAffineDimExpr(dimension) * size + *known / size * size,
                 *known % size);
    return memory;
  }
  const OpFoldResult rest = apply(symbol.ceilDiv(size) - symbol.floorDiv(size));
  copyPart(full, rest, {}, {}, [&](OpBuilder &b, Location at, ValueRange) {
    auto value = [&](OpFoldResult known) { return getValueOrCreateConstantIndexOp(b, at, known); };
    const Value end = value(all);
    Value last = arith::SubIOp::create(b, at, end, arith::ConstantIndexOp::create(b, at, 1));
    SmallVector<OpFoldResult> position;
    for (unsigned i = 0; i < rank; ++i)
      position.push_back(linalg::IndexOp::create(b, at, i).getResult());
    Value none =
        arith::ConstantOp::create(b, at, b.getZeroAttr(getElementTypeOrSelf(operand.getType())));
    SmallVector<Value> elements;
    for (int64_t element = 0; element < size; ++element) {
      Value k = value(affine::makeComposedFoldedAffineApply(
          b, at, symbol.floorDiv(size) * size + element, all));
      position[dimension] = arith::MinSIOp::create(b, at, k, last).getResult();
      SmallVector<Value> indices;
      for (AffineExpr index : read.getResults())
        indices.push_back(value(affine::makeComposedFoldedAffineApply(
            b, at, AffineMap::get(rank, 0, index), position)));
      Value there = arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt, k, end);
      elements.push_back(arith::SelectOp::create(
          b, at, there, tensor::ExtractOp::create(b, at, operand, indices), none));
    }
    linalg::YieldOp::create(b, at, groupOf(b, at, grouping, extension, elements));
  });
  return memory;
}

namespace {

Copy makeCopy(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number, Layout layout,
              int64_t width, int64_t padding, OperandForm form, const Grouping *grouping) {
  const Location loc = op.getLoc();
  Value operand = op->getOperand(number);
  const auto rank = unsigned(layout.indices.size());
  SmallVector<OpFoldResult> extents = layout.extents;
  for (auto [most, extent] : llvm::zip_equal(layout.memory, extents))
    if (std::optional<int64_t> known = getConstantIntValue(extent))
      most = std::min(most, *known);
  unsigned dimension = 0;
  if (grouping) {
    dimension = unsigned(llvm::find(layout.indices, rewriter.getAffineDimExpr(grouping->loop)) -
                         layout.indices.begin());
    assert(dimension < rank && "the operand has no such loop as a dimension");
    extents[dimension] = affine::makeComposedFoldedAffineApply(
        rewriter, loc, rewriter.getAffineSymbolExpr(0).ceilDiv(grouping->size()),
        extents[dimension]);
    layout.memory[dimension] = llvm::divideCeil(layout.memory[dimension], grouping->size());
  }
  Operation *extension = form == OperandForm::Copied ? nullptr : extensionOf(op, number);
  const Type element = grouping    ? rewriter.getI32Type()
                       : extension ? extension->getResult(0).getType()
                                   : getElementTypeOrSelf(operand.getType());
  layout.memory.back() = std::max(layout.memory.back(), width) + padding;
  const SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1));
  Value all = tensor::EmptyOp::create(rewriter, loc, layout.memory, element), copy;
  if (width != 0)
    all = withZerosBehind(rewriter, loc, all, extents.back());
  if (grouping) {
    copy = copyGroups(rewriter, op, number, *grouping, dimension, layout.read, all, layout.extents);
  } else {
    Value part = tensor::ExtractSliceOp::create(rewriter, loc, all, zeros, extents, ones);
    // Upstream folds a generic op that does nothing but copy.
    copy = form == OperandForm::Copied && layout.read.isIdentity()
               ? bufferization::MaterializeInDestinationOp::create(rewriter, loc, operand, part)
                     ->getResult(0)
               : linalg::GenericOp::create(
                     rewriter, loc, part.getType(), operand, part,
                     ArrayRef<AffineMap>{layout.read, rewriter.getMultiDimIdentityMap(rank)},
                     SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                     [&](OpBuilder &b, Location at, ValueRange arguments) {
                       linalg::YieldOp::create(b, at, converted(b, at, extension, arguments[0]));
                     })
                     .getResult(0);
    if (width != 0)
      copy = tensor::InsertSliceOp::create(rewriter, loc, copy, all, zeros, extents, ones);
  }
  if (width != 0)
    extents.back() = rewriter.getIndexAttr(width);
  if (width != 0 || grouping)
    copy = tensor::ExtractSliceOp::create(rewriter, loc, copy, zeros, extents, ones);
  return {copy, AffineMap::get(op.getNumLoops(), 0, layout.indices, rewriter.getContext())};
}

} // namespace

Copy plim::ir::copyOf(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                      ArrayRef<unsigned> innermost, ArrayRef<int64_t> memory, int64_t width,
                      int64_t padding, OperandForm form, const Grouping *grouping) {
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  const SmallVector<Range> ranges = op.createLoopRanges(rewriter, op.getLoc());
  Layout layout;
  SmallVector<AffineExpr> dimensions(op.getNumLoops(), rewriter.getAffineConstantExpr(0));
  auto add = [&](unsigned loop, int64_t most) {
    if (!map.isFunctionOfDim(loop))
      return;
    dimensions[loop] = rewriter.getAffineDimExpr(unsigned(layout.indices.size()));
    layout.indices.push_back(rewriter.getAffineDimExpr(loop));
    layout.extents.push_back(ranges[loop].size);
    layout.memory.push_back(most);
  };
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(innermost, loop))
      add(loop, 1);
  for (auto [loop, most] : llvm::zip_equal(innermost, memory))
    add(loop, most);
  layout.read = map.replaceDimsAndSymbols(dimensions, {}, unsigned(layout.indices.size()), 0);
  return makeCopy(rewriter, op, number, std::move(layout), width, padding, form, grouping);
}

Copy plim::ir::copyAsItLies(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                            ArrayRef<int64_t> memory, OperandForm form, const Grouping *grouping) {
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  Layout layout;
  llvm::append_range(layout.indices, map.getResults());
  layout.extents = tensor::getMixedSizes(rewriter, op.getLoc(), op->getOperand(number));
  layout.memory.assign(memory.begin(), memory.end());
  layout.read = rewriter.getMultiDimIdentityMap(map.getNumResults());
  return makeCopy(rewriter, op, number, std::move(layout), /*width=*/0, /*padding=*/0, form,
                  grouping);
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

bool plim::ir::readsWindows(linalg::LinalgOp op, unsigned number) {
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  return llvm::any_of(map.getResults(), [&](AffineExpr index) {
    unsigned loops = 0;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      loops += index.isFunctionOfDim(loop) ? 1 : 0;
    return loops > 1;
  });
}

bool plim::ir::isRowCopyBounded(linalg::LinalgOp op, const Product &product) {
  if (readsWindows(op, product.rows)) {
    const SmallVector<int64_t> extents = mostExtents(op->getOperand(product.rows));
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements = checkedMul(elements, extent).value_or(INT64_MAX);
    return !extents.empty() && elements <= mostWindowElementsCopied;
  }
  // Rows may be read at strides; of the result they are dimensions.
  const unsigned resultNumber = op.getDpsInitOperand(0)->getOperandNumber();
  int64_t rows = 1;
  for (unsigned loop : product.rowLoops) {
    std::optional<int64_t> most = mostIterations(op, resultNumber, loop);
    rows = most ? checkedMul(rows, *most).value_or(INT64_MAX) : INT64_MAX;
  }
  return rows <= mostRowsCopied;
}
