#include "ir/Import/Requirements.h"
#include "ir/Import/ShapeChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace plim::ir {

namespace {

using P = arith::CmpIPredicate;

/// `count` elements from `index` on lie inside, unless `unless` holds.
void requireRange(Requirements &requirements, Value index, Value count, Value shaped,
                  unsigned dimension, Value unless = {}) {
  Value extent = requirements.extent(shaped, dimension);
  // Unsigned: a negative index is a large one.
  Value last = requirements.subtract(extent, count);
  Value inside = requirements.both(requirements.compare(P::sge, last, requirements.number(0)),
                                   requirements.compare(P::ule, index, last));
  if (unless)
    inside = requirements.either(unless, inside);
  requirements.require(
      inside, "{0} elements from {1} leave dimension " + Twine(dimension) + ", which has {2}",
      {count, index, extent});
}

/// Where a transfer says that it is in bounds it is not masked.
template <typename OpT> unsigned checkTransfer(OpT op) {
  Requirements requirements(op);
  AffineMap map = op.getPermutationMap();
  Operation::operand_range indices = op.getIndices();
  SmallVector<bool> seen(indices.size(), false);
  SmallVector<bool> inBounds = op.getInBoundsValues();
  const bool isMasked = bool(op.getMask());
  for (auto [lane, result] : llvm::enumerate(map.getResults())) {
    auto dimension = dyn_cast<AffineDimExpr>(result);
    if (!dimension)
      continue;
    unsigned i = dimension.getPosition();
    seen[i] = true;
    // Which lanes a mask leaves is not asked: the author's word for them is not needed.
    if (isMasked)
      inBounds[lane] = false;
    else if (inBounds[lane])
      requireRange(requirements, indices[i],
                   requirements.number(op.getVectorType().getDimSize(unsigned(lane))), op.getBase(),
                   i);
  }
  if (isMasked)
    op.setInBoundsAttr(requirements.builder.getBoolArrayAttr(inBounds));
  // The other indices name one element each.
  for (auto [i, index] : llvm::enumerate(indices))
    if (!seen[i])
      requireRange(requirements, index, requirements.number(1), op.getBase(), unsigned(i));
  return requirements.count;
}

template <typename OpT> unsigned checkVector(OpT op) {
  Requirements requirements(op);
  Operation::operand_range indices = op.getIndices();
  VectorType type = op.getVectorType();
  for (auto [i, index] : llvm::enumerate(indices)) {
    int64_t lane = int64_t(i) - (int64_t(indices.size()) - type.getRank());
    requireRange(requirements, index,
                 requirements.number(lane < 0 ? 1 : type.getDimSize(unsigned(lane))), op.getBase(),
                 unsigned(i));
  }
  return requirements.count;
}

Value isNone(OpBuilder &b, Location loc, Value lanes) {
  Value any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, lanes);
  return arith::XOrIOp::create(b, loc, any, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
}

/// Which lanes an op with a mask accesses.
template <typename OpT> Value activeLanes(OpBuilder &b, OpT op) {
  auto type = cast<VectorType>(op.getMask().getType());
  auto flat = VectorType::get({type.getNumElements()}, type.getElementType());
  return b.createOrFold<vector::ShapeCastOp>(op.getLoc(), flat, op.getMask());
}

/// Each active lane accesses the last dimension at the last index and its own offset, or its number where
/// there is none; the other indices are those of all.
template <typename OpT> unsigned checkLanes(OpT op, Value base, ValueRange indices, Value offsets) {
  Requirements requirements(op);
  OpBuilder &b = requirements.builder;
  Location loc = op.getLoc();
  Value active = activeLanes(b, op);
  auto type = cast<VectorType>(active.getType()).clone(b.getIndexType());
  Value positions = vector::StepOp::create(b, loc, type);
  if (offsets) {
    auto flat = type.clone(cast<VectorType>(offsets.getType()).getElementType());
    positions = b.createOrFold<vector::ShapeCastOp>(loc, flat, offsets);
    if (!flat.getElementType().isIndex())
      positions = arith::IndexCastOp::create(b, loc, type, positions);
  }
  Value first = vector::BroadcastOp::create(b, loc, type, indices.back());
  positions = arith::AddIOp::create(b, loc, positions, first);
  unsigned last = unsigned(indices.size()) - 1;
  Value extent = requirements.extent(base, last);
  Value limits = vector::BroadcastOp::create(b, loc, type, extent);
  // Unsigned: a negative position is a large one.
  Value outside = arith::CmpIOp::create(b, loc, P::uge, positions, limits);
  requirements.require(isNone(b, loc, arith::AndIOp::create(b, loc, active, outside)),
                       "a lane leaves dimension " + Twine(last) + ", which has {0}", extent);
  Value none = isNone(b, loc, active);
  for (auto [i, index] : llvm::enumerate(indices.drop_back()))
    requireRange(requirements, index, requirements.number(1), base, unsigned(i), none);
  return requirements.count;
}

/// As many elements one after the other as there are active lanes.
template <typename OpT> unsigned checkPacked(OpT op) {
  Requirements requirements(op);
  OpBuilder &b = requirements.builder;
  Location loc = op.getLoc();
  Value active = activeLanes(b, op);
  Value ones = arith::ExtUIOp::create(
      b, loc, cast<VectorType>(active.getType()).clone(b.getI64Type()), active);
  Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, ones);
  Value count = arith::IndexCastOp::create(b, loc, b.getIndexType(), sum);
  Value none = requirements.compare(P::eq, count, requirements.number(0));
  for (auto [i, index] : llvm::enumerate(op.getIndices()))
    requireRange(requirements, index,
                 i + 1 == op.getIndices().size() ? count : requirements.number(1), op.getBase(),
                 unsigned(i), none);
  return requirements.count;
}

} // namespace

unsigned checkVectorAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, unsigned>(op)
      .Case<vector::TransferReadOp, vector::TransferWriteOp>(
          [&](auto op) { return checkTransfer(op); })
      .Case<vector::LoadOp, vector::StoreOp>([&](auto op) { return checkVector(op); })
      .Case<vector::GatherOp, vector::ScatterOp>(
          [&](auto op) { return checkLanes(op, op.getBase(), op.getOffsets(), op.getIndices()); })
      .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>(
          [&](auto op) { return checkLanes(op, op.getBase(), op.getIndices(), Value()); })
      .Case<vector::ExpandLoadOp, vector::CompressStoreOp>([&](auto op) { return checkPacked(op); })
      .Default(0u);
}

} // namespace plim::ir
