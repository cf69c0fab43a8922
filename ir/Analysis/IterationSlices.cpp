#include "ir/Analysis/IterationSlices.h"

#include "ir/Plim/ValueBounds.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using plim::checkedAdd;
using plim::checkedMul;

namespace {

/// `factor` times an induction variable, and `offset`; of a constant the variable is null.
struct Linear {
  Value variable;
  int64_t factor = 0, offset = 0;
};

std::optional<Linear> sumOf(std::optional<Linear> a, std::optional<Linear> b) {
  if (!a || !b || (a->variable && b->variable))
    return std::nullopt;
  const std::optional<int64_t> offset = checkedAdd(a->offset, b->offset);
  if (!offset)
    return std::nullopt;
  const Linear &one = a->variable ? *a : *b;
  return Linear{one.variable, one.factor, *offset};
}

std::optional<Linear> productOf(std::optional<Linear> a, std::optional<Linear> b) {
  if (!a || !b || (a->variable && b->variable))
    return std::nullopt;
  const Linear &one = a->variable ? *a : *b;
  const int64_t by = (a->variable ? *b : *a).offset;
  const std::optional<int64_t> factor = checkedMul(one.factor, by),
                               offset = checkedMul(one.offset, by);
  return factor && offset ? std::optional(Linear{one.variable, *factor, *offset}) : std::nullopt;
}

std::optional<Linear> linear(OpFoldResult index, scf::ForallOp loop);

std::optional<Linear> linear(AffineExpr expression, ValueRange dimensions, ValueRange symbols,
                             scf::ForallOp loop) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Linear{Value(), 0, constant.getValue()};
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return linear(dimensions[dimension.getPosition()], loop);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return linear(symbols[symbol.getPosition()], loop);
  auto binary = cast<AffineBinaryOpExpr>(expression);
  if (expression.getKind() != AffineExprKind::Add && expression.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  const std::optional<Linear> left = linear(binary.getLHS(), dimensions, symbols, loop),
                              right = linear(binary.getRHS(), dimensions, symbols, loop);
  return expression.getKind() == AffineExprKind::Add ? sumOf(left, right) : productOf(left, right);
}

std::optional<Linear> linear(OpFoldResult index, scf::ForallOp loop) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return Linear{Value(), 0, *constant};
  auto value = cast<Value>(index);
  if (llvm::is_contained(loop.getInductionVars(), value))
    return Linear{value, 1, 0};
  Operation *op = value.getDefiningOp();
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    const unsigned dimensions = apply.getAffineMap().getNumDims();
    return linear(apply.getAffineMap().getResult(0), apply.getOperands().take_front(dimensions),
                  apply.getOperands().drop_front(dimensions), loop);
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  const std::optional<Linear> left = linear(op->getOperand(0), loop),
                              right = linear(op->getOperand(1), loop);
  return isa<arith::AddIOp>(op) ? sumOf(left, right) : productOf(left, right);
}

/// Elements along a dimension: `size` from `begin` on.
struct Range {
  Linear begin;
  OpFoldResult size;
};

/// What an iteration reads or writes, where it begins by a known rule; by dimension.
using Place = SmallVector<std::optional<Range>>;

Place placeOf(OffsetSizeAndStrideOpInterface slice, scf::ForallOp loop) {
  Place place;
  for (auto [offset, size, stride] :
       llvm::zip(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides())) {
    const std::optional<Linear> begin = linear(offset, loop);
    place.push_back(begin && isOneInteger(stride) ? std::optional(Range{*begin, size})
                                                  : std::nullopt);
  }
  return place;
}

/// All that is done with a tensor that the iterations share. False if there is something else.
bool findPlaces(BlockArgument shared, scf::ForallOp loop, SmallVectorImpl<Place> &places) {
  for (OpOperand &use : shared.getUses()) {
    Operation *op = use.getOwner();
    if (isa<tensor::DimOp>(op))
      continue;
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      Place &place = places.emplace_back();
      for (Value index : extract.getIndices()) {
        const std::optional<Linear> begin = linear(OpFoldResult(index), loop);
        place.push_back(begin ? std::optional(Range{*begin, Builder(op).getIndexAttr(1)})
                              : std::nullopt);
      }
      continue;
    }
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!isa<tensor::ExtractSliceOp>(op) && (!insert || use != insert.getDestMutable()))
      return false;
    places.push_back(placeOf(cast<OffsetSizeAndStrideOpInterface>(op), loop));
  }
  return true;
}

/// Do the places in an iteration end, along a dimension, before those in the next one begin?
bool areApart(ArrayRef<Place> places, size_t dimension, Value variable, OpFoldResult step) {
  const std::optional<int64_t> by = getConstantIntValue(step);
  int64_t first = INT64_MAX, last = INT64_MIN, distance = 0;
  bool isKnownNow = by.has_value(), isOfStep = true;
  for (const Place &place : places) {
    const std::optional<Range> &range = place[dimension];
    if (!range || range->begin.variable != variable || range->begin.factor <= 0 ||
        (distance != 0 && range->begin.factor != distance))
      return false;
    distance = range->begin.factor;
    const std::optional<int64_t> constant = getConstantIntValue(range->size);
    const std::optional<int64_t> size =
        constant ? constant : plim::ir::greatestKnown(plim::ir::BoundsVariable(range->size));
    const std::optional<int64_t> end = size ? checkedAdd(range->begin.offset, *size) : std::nullopt;
    isKnownNow = isKnownNow && end;
    isOfStep = isOfStep && distance == 1 &&
               range->begin.offset == places[0][dimension]->begin.offset &&
               plim::ir::isKnown(plim::ir::BoundsVariable(range->size),
                                 plim::ir::BoundsComparison::LE, plim::ir::BoundsVariable(step));
    if (end) {
      first = std::min(first, range->begin.offset);
      last = std::max(last, *end);
    }
  }
  if (isOfStep)
    return true;
  if (!isKnownNow)
    return false;
  const std::optional<int64_t> room = checkedMul(distance, *by);
  return room && uint64_t(last) - uint64_t(first) <= uint64_t(*room);
}

} // namespace

bool plim::ir::haveSlicesApart(scf::ForallOp loop) {
  // Backwards, or on the spot: whoever runs them in order knows what that is.
  if (llvm::any_of(loop.getMixedStep(),
                   [](OpFoldResult step) { return getConstantIntValue(step).value_or(1) <= 0; }))
    return false;
  for (BlockArgument shared : loop.getRegionIterArgs()) {
    SmallVector<Place> places;
    if (!findPlaces(shared, loop, places))
      return false;
    for (auto [variable, lower, upper, step] :
         llvm::zip(loop.getInductionVars(), loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                   loop.getMixedStep())) {
      const std::optional<APInt> trips =
          constantTripCount(lower, upper, step, /*isSigned=*/true, scf::computeUbMinusLb);
      if (places.empty() || (trips && trips->ule(1)))
        continue;
      const auto dimensions = llvm::seq(cast<RankedTensorType>(shared.getType()).getRank());
      if (llvm::none_of(dimensions, [&, variable = variable, step = step](int64_t dimension) {
            return areApart(places, size_t(dimension), variable, step);
          }))
        return false;
    }
  }
  return true;
}
