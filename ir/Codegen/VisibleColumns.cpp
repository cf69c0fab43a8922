#include "ir/Codegen/VisibleColumns.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Elements that vectors of any target divide.
constexpr int64_t lanes = 64;

/// Is it there at `builder`?
bool isInFront(OpBuilder &builder, OpFoldResult size) {
  auto value = dyn_cast_if_present<Value>(size);
  Operation *place = &*builder.getInsertionPoint();
  return size && (!value || DominanceInfo(place->getParentOfType<FunctionOpInterface>())
                                .properlyDominates(value, place));
}

/// A value of the op's body, computed in front of it for the iteration at which all loops of one iteration are: others may not
/// matter to it. Null if they do, or if it needs what is not there.
Value computedInFront(OpBuilder &builder, linalg::GenericOp op, Value value) {
  const SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != op.getBody()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBody())
      return isInFront(builder, value) ? value : Value();
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
    const AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isa<RankedTensorType>(operand->get().getType()) || !map.isProjectedPermutation() ||
        llvm::any_of(
            map.getResults(),
            [&](AffineExpr dim) { return extents[cast<AffineDimExpr>(dim).getPosition()] != 1; }) ||
        !computedInFront(builder, op, operand->get()))
      return {};
    SmallVector<Value> zeros(map.getNumResults());
    for (Value &zero : zeros)
      zero = arith::ConstantIndexOp::create(builder, op.getLoc(), 0);
    return tensor::ExtractOp::create(builder, op.getLoc(), operand->get(), zeros);
  }
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    return extents[index.getDim()] == 1
               ? Value(arith::ConstantIndexOp::create(builder, op.getLoc(), 0))
               : Value();
  // Whether it holds is said where it matters.
  if (auto check = dyn_cast<CheckOp>(def))
    return computedInFront(builder, op, check.getCondition());
  if (def->walk([](Operation *each) {
           return isPure(each) || isa<tensor::ExtractOp, scf::IfOp>(each) ? WalkResult::advance()
                                                                          : WalkResult::interrupt();
         })
          .wasInterrupted())
    return {};
  llvm::SetVector<Value> operands(def->operand_begin(), def->operand_end());
  getUsedValuesDefinedAbove(def->getRegions(), operands);
  IRMapping mapping;
  for (Value operand : operands) {
    Value front = computedInFront(builder, op, operand);
    if (!front)
      return {};
    mapping.map(operand, front);
  }
  return builder.clone(*def, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

/// The iterations of a loop, of an op behind `builder`; null if they are not there.
OpFoldResult extentInFront(OpBuilder &builder, linalg::GenericOp op, unsigned loop) {
  if (const int64_t size = op.getStaticLoopRanges()[loop]; !ShapedType::isDynamic(size))
    return builder.getIndexAttr(size);
  for (OpOperand &operand : op->getOpOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    const std::optional<unsigned> dimension =
        map.getResultPosition(getAffineDimExpr(loop, builder.getContext()));
    if (!dimension)
      continue;
    // A result has the sizes of what it is written to.
    Value tensor = operand.get();
    while (auto result = dyn_cast<OpResult>(tensor)) {
      auto writer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
      if (!writer)
        break;
      tensor = writer.getTiedOpOperand(result)->get();
    }
    if (isInFront(builder, tensor))
      return tensor::getMixedSize(builder, op.getLoc(), tensor, *dimension);
    OpFoldResult size;
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      size = empty.getMixedSizes()[*dimension];
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
        slice && slice.getType().getRank() == slice.getSourceType().getRank())
      size = slice.getMixedSizes()[*dimension];
    if (isInFront(builder, size))
      return size;
  }
  return {};
}

/// Computes the bounds of one op.
class Visible {
public:
  Visible(OpBuilder &builder, linalg::GenericOp op, unsigned loop)
      : b(builder), op(op), at(op.getLoc()), loop(loop) {}

  /// The smallest or largest of all iterations of the other loops; null if a value is not there.
  OpFoldResult extreme(const IndexSum &sum, bool isLargest, bool isUnsigned) {
    const unsigned loops = op.getNumLoops(), count = unsigned(sum.symbols.size());
    const std::optional<SmallVector<int64_t>> factors = factorsOf(sum.expr, loops, count);
    if (!factors)
      return {};
    AffineExpr expr = b.getAffineConstantExpr(factors->back());
    SmallVector<OpFoldResult> operands;
    auto add = [&](AffineExpr addend, int64_t factor, OpFoldResult operand) {
      expr = expr + addend * factor;
      operands.push_back(operand);
    };
    for (auto [symbol, factor] :
         llvm::zip(sum.symbols, ArrayRef(*factors).drop_front(loops).take_front(count))) {
      const std::optional<Range> range = rangeOf(symbol, isUnsigned);
      if (!range)
        return {};
      add(b.getAffineSymbolExpr(unsigned(operands.size())), factor,
          (factor > 0) == isLargest ? range->most : range->least);
    }
    for (unsigned each = 0; each < loops; ++each) {
      const int64_t factor = (*factors)[each];
      if (factor == 0 || (factor > 0) != isLargest)
        continue;
      const OpFoldResult extent = extentInFront(b, op, each);
      if (!extent)
        return {};
      requireSmall(extent, /*isUnsigned=*/true);
      add(b.getAffineSymbolExpr(unsigned(operands.size())) - 1, factor, extent);
    }
    return affine::makeComposedFoldedAffineApply(
        b, at, AffineMap::get(0, unsigned(operands.size()), expr), operands);
  }

  void require(arith::CmpIPredicate predicate, OpFoldResult left, OpFoldResult right) {
    using Bounds = ValueBoundsConstraintSet;
    const Bounds::ComparisonOperator comparison =
        predicate == arith::CmpIPredicate::slt   ? Bounds::LT
        : predicate == arith::CmpIPredicate::sgt ? Bounds::GT
                                                 : Bounds::GE;
    if (Bounds::compare(left, comparison, right))
      return;
    Value holds = b.createOrFold<arith::CmpIOp>(at, predicate, valueOf(left), valueOf(right));
    condition = condition ? b.createOrFold<arith::AndIOp>(at, condition, holds) : holds;
  }

  /// `value` if all that is required holds.
  OpFoldResult ifRequired(OpFoldResult value, OpFoldResult otherwise) {
    return condition
               ? b.createOrFold<arith::SelectOp>(at, condition, valueOf(value), valueOf(otherwise))
               : value;
  }

  Value valueOf(OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, at, value); }
  OpFoldResult extent() { return extentInFront(b, op, loop); }

private:
  struct Range {
    OpFoldResult least, most;
  };

  std::optional<Range> rangeOf(Value symbol, bool isUnsigned) {
    if (OpFoldResult front = indexInFront(symbol)) {
      requireSmall(front, isUnsigned);
      return Range{front, front};
    }
    return isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(symbol.getDefiningOp())
               ? rangeOfRemainder(symbol.getDefiningOp())
               : std::nullopt;
  }

  /// Rows of several heads that share keys are rows of one product: places in a head are remainders.
  std::optional<Range> rangeOfRemainder(Operation *remainder) {
    const IndexSum dividend = indexSum(op, remainder->getOperand(0));
    if (!dividend.expr)
      return std::nullopt;
    OpFoldResult given = indexInFront(remainder->getOperand(1)),
                 least = extreme(dividend, /*isLargest=*/false, /*isUnsigned=*/true),
                 most = extreme(dividend, /*isLargest=*/true, /*isUnsigned=*/true);
    if (!given || !least || !most)
      return std::nullopt;
    requireSmall(given, /*isUnsigned=*/true);
    require(arith::CmpIPredicate::sge, least, b.getIndexAttr(0));
    Value one = arith::ConstantIndexOp::create(b, at, 1),
          divisor = b.createOrFold<arith::MaxSIOp>(at, valueOf(given), one);
    auto of = [&]<typename Op>(OpFoldResult number) {
      return b.createOrFold<Op>(at, valueOf(number), divisor);
    };
    Value isOfOne = b.createOrFold<arith::CmpIOp>(at, arith::CmpIPredicate::eq,
                                                  of.operator()<arith::DivUIOp>(least),
                                                  of.operator()<arith::DivUIOp>(most)),
          zero = arith::ConstantIndexOp::create(b, at, 0),
          largest = b.createOrFold<arith::SubIOp>(at, divisor, one);
    return Range{
        b.createOrFold<arith::SelectOp>(at, isOfOne, of.operator()<arith::RemUIOp>(least), zero),
        b.createOrFold<arith::SelectOp>(at, isOfOne, of.operator()<arith::RemUIOp>(most), largest)};
  }

  OpFoldResult indexInFront(Value value) {
    Value front = computedInFront(b, op, value);
    if (!front || front.getType().isIndex())
      return front;
    return b.createOrFold<arith::IndexCastOp>(at, b.getIndexType(), front);
  }

  void requireSmall(OpFoldResult value, bool isUnsigned) {
    require(arith::CmpIPredicate::slt, value, b.getIndexAttr(tooLargeForMasks));
    require(arith::CmpIPredicate::sge, value, b.getIndexAttr(isUnsigned ? 0 : -tooLargeForMasks));
  }

  OpBuilder &b;
  linalg::GenericOp op;
  Location at;
  unsigned loop;
  Value condition;
};

/// Of two sums of the same op, which may have symbols in common.
IndexSum difference(const IndexSum &left, const IndexSum &right) {
  SmallVector<Value> symbols(left.symbols);
  SmallVector<AffineExpr> places;
  for (Value symbol : right.symbols) {
    auto found = llvm::find(symbols, symbol);
    places.push_back(
        getAffineSymbolExpr(unsigned(found - symbols.begin()), left.expr.getContext()));
    if (found == symbols.end())
      symbols.push_back(symbol);
  }
  return {left.expr - right.expr.replaceSymbols(places), std::move(symbols)};
}

} // namespace

std::optional<Columns> plim::ir::visibleColumns(OpBuilder &builder, linalg::GenericOp op,
                                                unsigned loop, const MaskBounds &bounds) {
  Visible visible(builder, op, loop);
  const OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult begin = zero, end = visible.extent();
  if (!end)
    return std::nullopt;
  const AffineExpr extentSymbol = builder.getAffineSymbolExpr(1),
                   positionSymbol = builder.getAffineSymbolExpr(0);
  visible.require(arith::CmpIPredicate::slt, end, builder.getIndexAttr(tooLargeForMasks));
  OpFoldResult lastOfAll, firstOfAll;
  auto extreme = [&](const MaskBound &bound, bool isLargest) {
    return visible.extreme(bound.visible, isLargest, bound.isUnsigned);
  };
  if (bounds.last) {
    lastOfAll = extreme(*bounds.last, /*isLargest=*/true);
    const OpFoldResult least = extreme(*bounds.last, /*isLargest=*/false);
    if (!lastOfAll || !least)
      return std::nullopt;
    visible.require(arith::CmpIPredicate::sge, least, zero);
  }
  if (bounds.first) {
    firstOfAll = extreme(*bounds.first, /*isLargest=*/false);
    const OpFoldResult most = extreme(*bounds.first, /*isLargest=*/true);
    if (!firstOfAll || !most)
      return std::nullopt;
    visible.require(arith::CmpIPredicate::slt, most, end);
  }
  if (bounds.first && bounds.last) {
    // Of each row.
    const OpFoldResult least =
        visible.extreme(difference(bounds.last->visible, bounds.first->visible),
                        /*isLargest=*/false, /*isUnsigned=*/false);
    visible.require(arith::CmpIPredicate::sge, least, zero);
  }
  const Location at = op.getLoc();
  if (bounds.last)
    end = affine::makeComposedFoldedAffineMin(
        builder, at, AffineMap::get(0, 2, {positionSymbol + 1, extentSymbol}, builder.getContext()),
        {visible.ifRequired(lastOfAll, end), end});
  if (bounds.first)
    begin = affine::makeComposedFoldedAffineMax(
        builder, at,
        AffineMap::get(0, 1,
                       {positionSymbol.floorDiv(lanes) * lanes, builder.getAffineConstantExpr(0)},
                       builder.getContext()),
        {visible.ifRequired(firstOfAll, zero)});
  OpFoldResult count = affine::makeComposedFoldedAffineApply(
      builder, at, AffineMap::get(0, 2, positionSymbol - extentSymbol), {end, begin});
  return Columns{visible.valueOf(begin), visible.valueOf(count)};
}
