#include "ir/Codegen/MaskBounds.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// More than any extent or position; sums of a few of them are numbers of 32 bits.
constexpr int64_t tooLarge = int64_t(1) << 28;
constexpr unsigned mostSymbols = 4;
/// Elements that vectors of any target divide.
constexpr int64_t lanes = 64;

/// An integer of an op's body as a sum of loops, symbols and a constant.
class Sums {
public:
  explicit Sums(linalg::GenericOp op) : op(op) {}

  AffineExpr of(Value value) {
    MLIRContext *context = op.getContext();
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return getAffineConstantExpr(*constant, context);
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == op.getBody()) {
      if (auto index = dyn_cast<linalg::IndexOp>(def))
        return getAffineDimExpr(unsigned(index.getDim()), context);
      // Numbers of fewer bits may have been cut off.
      if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(def))
        return isWide(value) && isWide(def->getOperand(0)) ? of(def->getOperand(0)) : symbol(value);
      if (isa<arith::AddIOp>(def))
        return of(def->getOperand(0)) + of(def->getOperand(1));
      if (isa<arith::SubIOp>(def))
        return of(def->getOperand(0)) - of(def->getOperand(1));
      if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
        SmallVector<AffineExpr> operands;
        for (Value operand : apply.getOperands())
          operands.push_back(of(operand));
        const unsigned dims = apply.getAffineMap().getNumDims();
        return apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
            ArrayRef(operands).take_front(dims), ArrayRef(operands).drop_front(dims));
      }
    }
    return symbol(value);
  }

  SmallVector<Value> symbols;

private:
  AffineExpr symbol(Value value) {
    auto found = llvm::find(symbols, value);
    const unsigned number = unsigned(found - symbols.begin());
    if (found == symbols.end())
      symbols.push_back(value);
    return getAffineSymbolExpr(number, op.getContext());
  }

  static bool isWide(Value value) {
    return value.getType().isIndex() || value.getType().getIntOrFloatBitWidth() >= 32;
  }

  linalg::GenericOp op;
};

/// The factors of the loops, those of the symbols, and the constant; nothing where it is no such sum.
std::optional<SmallVector<int64_t>> factorsOf(AffineExpr sum, unsigned loops, unsigned symbols) {
  SmallVector<int64_t> factors;
  if (failed(getFlattenedAffineExpr(sum, loops, symbols, &factors)) ||
      factors.size() != loops + symbols + 1)
    return std::nullopt;
  return factors;
}

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
    if (!argument || argument.getOwner() != op.getBody()) {
      return isInFront(builder, value) ? value : Value();
    }
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
    const AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isa<RankedTensorType>(operand->get().getType()) || !map.isProjectedPermutation() ||
        llvm::any_of(map.getResults(),
                     [&](AffineExpr dim) {
                       return extents[cast<AffineDimExpr>(dim).getPosition()] != 1;
                     }) ||
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
  if (!isPure(def) && !isa<tensor::ExtractOp>(def))
    return {};
  IRMapping mapping;
  for (Value operand : def->getOperands()) {
    Value front = computedInFront(builder, op, operand);
    if (!front)
      return {};
    mapping.map(operand, front);
  }
  return def->getNumRegions() == 0 ? builder.clone(*def, mapping)->getResult(0) : Value();
}

/// That of the numbers with the other sign.
arith::CmpIPredicate mirrored(arith::CmpIPredicate predicate) {
  using arith::CmpIPredicate;
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  default:
    return predicate;
  }
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
  OpFoldResult extreme(AffineExpr expr, ArrayRef<Value> symbols, bool isLargest) {
    const unsigned loops = op.getNumLoops();
    SmallVector<OpFoldResult> operands;
    for (Value symbol : symbols) {
      Value front = computedInFront(b, op, symbol);
      if (!front)
        return {};
      if (!front.getType().isIndex())
        front = arith::IndexCastOp::create(b, at, b.getIndexType(), front);
      operands.push_back(front);
      requireSmall(front);
    }
    const std::optional<SmallVector<int64_t>> factors =
        factorsOf(expr, loops, unsigned(symbols.size()));
    AffineExpr sum = b.getAffineConstantExpr(factors->back());
    for (unsigned i = 0; i < symbols.size(); ++i)
      sum = sum + b.getAffineSymbolExpr(i) * (*factors)[loops + i];
    for (unsigned each = 0; each < loops; ++each)
      if ((*factors)[each] == (isLargest ? 1 : -1)) {
        const OpFoldResult extent = extentInFront(b, op, each);
        if (!extent)
          return {};
        requireSmall(valueOf(extent));
        sum = sum + (b.getAffineSymbolExpr(unsigned(operands.size())) - 1) * (*factors)[each];
        operands.push_back(extent);
      }
    return affine::makeComposedFoldedAffineApply(
        b, at, AffineMap::get(0, unsigned(operands.size()), sum), operands);
  }

  void require(arith::CmpIPredicate predicate, OpFoldResult left, OpFoldResult right) {
    using Bounds = ValueBoundsConstraintSet;
    const Bounds::ComparisonOperator comparison = predicate == arith::CmpIPredicate::slt   ? Bounds::LT
                                                  : predicate == arith::CmpIPredicate::sgt ? Bounds::GT
                                                                                           : Bounds::GE;
    if (Bounds::compare(left, comparison, right))
      return;
    Value holds = b.createOrFold<arith::CmpIOp>(at, predicate, valueOf(left), valueOf(right));
    condition = condition ? b.createOrFold<arith::AndIOp>(at, condition, holds) : holds;
  }

  /// `value` if all that is required holds.
  OpFoldResult ifRequired(OpFoldResult value, OpFoldResult otherwise) {
    return condition ? b.createOrFold<arith::SelectOp>(at, condition, valueOf(value),
                                                       valueOf(otherwise))
                     : value;
  }

  Value valueOf(OpFoldResult value) { return getValueOrCreateConstantIndexOp(b, at, value); }
  OpFoldResult extent() { return extentInFront(b, op, loop); }

private:
  void requireSmall(Value value) {
    require(arith::CmpIPredicate::slt, value, b.getIndexAttr(tooLarge));
    require(arith::CmpIPredicate::sgt, value, b.getIndexAttr(-tooLarge));
  }

  OpBuilder &b;
  linalg::GenericOp op;
  Location at;
  unsigned loop;
  Value condition;
};

} // namespace

SmallVector<MaskBound> plim::ir::maskBounds(linalg::GenericOp op, unsigned loop) {
  SmallVector<MaskBound> bounds;
  for (arith::CmpIOp comparison : op.getBody()->getOps<arith::CmpIOp>()) {
    using arith::CmpIPredicate;
    CmpIPredicate predicate = comparison.getPredicate();
    if (!llvm::is_contained({CmpIPredicate::slt, CmpIPredicate::sle, CmpIPredicate::sgt,
                             CmpIPredicate::sge},
                            predicate))
      continue;
    Sums sums(op);
    AffineExpr difference = sums.of(comparison.getLhs()) - sums.of(comparison.getRhs());
    const std::optional<SmallVector<int64_t>> factors =
        factorsOf(difference, op.getNumLoops(), unsigned(sums.symbols.size()));
    if (!factors || sums.symbols.size() > mostSymbols || std::abs((*factors)[loop]) != 1 ||
        llvm::any_of(ArrayRef(*factors).drop_back(),
                     [](int64_t factor) { return std::abs(factor) > 1; }) ||
        std::abs(factors->back()) >= tooLarge)
      continue;
    // loop - rest, compared with 0.
    if ((*factors)[loop] < 0) {
      difference = -difference;
      predicate = mirrored(predicate);
    }
    const AffineExpr rest =
        getAffineDimExpr(loop, op.getContext()) - difference; // of the others alone
    const bool isAbove = predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sge;
    // It holds above or below the rest, and masks what it holds of, or the others.
    const AffineExpr last = isAbove ? (predicate == CmpIPredicate::sgt ? rest : rest - 1)
                                    : (predicate == CmpIPredicate::slt ? rest - 1 : rest);
    bounds.push_back({comparison, isAbove, /*isLast=*/true, last, sums.symbols});
    bounds.push_back({comparison, !isAbove, /*isLast=*/false, last + 1, sums.symbols});
  }
  return bounds;
}

std::optional<Columns> plim::ir::visibleColumns(OpBuilder &builder, linalg::GenericOp op,
                                                unsigned loop, const MaskBounds &bounds) {
  Visible visible(builder, op, loop);
  const OpFoldResult zero = builder.getIndexAttr(0);
  OpFoldResult begin = zero, end = visible.extent();
  if (!end)
    return std::nullopt;
  const AffineExpr extentSymbol = builder.getAffineSymbolExpr(1),
                   positionSymbol = builder.getAffineSymbolExpr(0);
  if (!getConstantIntValue(end))
    visible.require(arith::CmpIPredicate::slt, end, builder.getIndexAttr(tooLarge));
  OpFoldResult lastOfAll, firstOfAll;
  if (bounds.last) {
    lastOfAll = visible.extreme(bounds.last->visible, bounds.last->symbols, /*isLargest=*/true);
    OpFoldResult least =
        visible.extreme(bounds.last->visible, bounds.last->symbols, /*isLargest=*/false);
    if (!lastOfAll || !least)
      return std::nullopt;
    visible.require(arith::CmpIPredicate::sge, least, zero);
  }
  if (bounds.first) {
    firstOfAll = visible.extreme(bounds.first->visible, bounds.first->symbols, false);
    OpFoldResult most = visible.extreme(bounds.first->visible, bounds.first->symbols, true);
    if (!firstOfAll || !most)
      return std::nullopt;
    visible.require(arith::CmpIPredicate::slt, most, end);
  }
  if (bounds.first && bounds.last) {
    // Each row's own: symbols of one bound behind those of the other.
    SmallVector<Value> symbols(bounds.last->symbols);
    llvm::append_range(symbols, bounds.first->symbols);
    const AffineExpr count = bounds.last->visible -
                             bounds.first->visible.shiftSymbols(
                                 unsigned(bounds.first->symbols.size()),
                                 unsigned(bounds.last->symbols.size()));
    OpFoldResult least = visible.extreme(count, symbols, false);
    visible.require(arith::CmpIPredicate::sge, least, zero);
  }
  const Location at = op.getLoc();
  if (bounds.last)
    end = affine::makeComposedFoldedAffineMin(
        builder, at,
        AffineMap::get(0, 2, {positionSymbol + 1, extentSymbol}, builder.getContext()),
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
