#include "ir/Codegen/FilledVectors.h"

#include "ir/Codegen/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace plim::ir {

namespace {

VectorType filledType(VectorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = int64_t(llvm::PowerOf2Ceil(uint64_t(shape.back())));
  return VectorType::get(shape, type.getElementType());
}

/// Which elements of a row there are.
Value maskOf(OpBuilder &builder, Location loc, int64_t elements) {
  Value count = arith::ConstantIndexOp::create(builder, loc, elements);
  return vector::CreateMaskOp::create(
      builder, loc,
      VectorType::get(int64_t(llvm::PowerOf2Ceil(uint64_t(elements))), builder.getI1Type()), count);
}

bool readsColumns(vector::TransferReadOp read) {
  return isa<AffineDimExpr>(read.getPermutationMap().getResults().back());
}

/// One of the rows of a transfer: where it begins.
SmallVector<Value> placeOfRow(OpBuilder &builder, Location loc, OperandRange indices, AffineMap map,
                              int64_t row) {
  SmallVector<Value> place(indices);
  if (auto dimension = dyn_cast<AffineDimExpr>(map.getResult(0)); dimension && row > 0) {
    Value &index = place[dimension.getPosition()];
    index = arith::AddIOp::create(builder, loc, index,
                                  arith::ConstantIndexOp::create(builder, loc, row));
  }
  return place;
}

void fillRead(vector::TransferReadOp read) {
  const VectorType type = read.getVectorType(), filled = filledType(type);
  if (!readsColumns(read)) {
    read.getResult().setType(filled);
    return;
  }
  OpBuilder builder(read);
  const Location loc = read.getLoc();
  const Value mask = maskOf(builder, loc, type.getShape().back());
  auto rowAt = [&](ValueRange place) -> Value {
    return vector::TransferReadOp::create(
        builder, loc, VectorType::get(filled.getShape().back(), filled.getElementType()),
        read.getBase(), place, innermostOf(builder, place.size()), read.getPadding(), mask,
        builder.getBoolArrayAttr({true}));
  };
  Value result;
  if (type.getRank() == 1) {
    result = rowAt(read.getIndices());
  } else if (!isa<AffineDimExpr>(read.getPermutationMap().getResult(0))) {
    result = vector::BroadcastOp::create(builder, loc, filled, rowAt(read.getIndices()));
  } else {
    result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(filled));
    for (int64_t row = 0; row < type.getDimSize(0); ++row) {
      Value elements =
          rowAt(placeOfRow(builder, loc, read.getIndices(), read.getPermutationMap(), row));
      result = vector::InsertOp::create(builder, loc, elements, result, row);
    }
  }
  read.replaceAllUsesWith(result);
  read.erase();
}

void fillWrite(vector::TransferWriteOp write, VectorType type) {
  OpBuilder builder(write);
  const Location loc = write.getLoc();
  const Value mask = maskOf(builder, loc, type.getShape().back());
  Value base = write.getBase();
  auto writeRow = [&](Value elements, ValueRange place) {
    auto row = vector::TransferWriteOp::create(builder, loc, elements, base, place,
                                               innermostOf(builder, place.size()), mask,
                                               builder.getBoolArrayAttr({true}));
    if (row.getResult())
      base = row.getResult();
  };
  if (type.getRank() == 1)
    writeRow(write.getValueToStore(), write.getIndices());
  else
    for (int64_t row = 0; row < type.getDimSize(0); ++row)
      writeRow(vector::ExtractOp::create(builder, loc, write.getValueToStore(), row),
               placeOfRow(builder, loc, write.getIndices(), write.getPermutationMap(), row));
  if (write.getResult())
    write.getResult().replaceAllUsesWith(base);
  write.erase();
}

} // namespace

bool FilledVectors::isNarrow(Type type) const {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() >= 1 && !vector.isScalable() &&
         !llvm::isPowerOf2_64(uint64_t(vector.getShape().back()));
}

/// What an element in excess computes must neither trap nor come to others.
bool FilledVectors::mayFill(Operation *op) const {
  auto fits = [&](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return !isNarrow(type) || (vector.getRank() <= 2 && (vector.getElementType().isInteger(1) ||
                                                         filledType(vector).getShape().back() <=
                                                             host.lanes(vector.getElementType())));
  };
  if (!llvm::all_of(op->getOperandTypes(), fits) || !llvm::all_of(op->getResultTypes(), fits))
    return false;
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    const AffineMap map = read.getPermutationMap();
    // What lies further apart is read one by one, which is not done behind masks.
    return stepOfRows(read).value_or(mostStep + 1) <= mostStep && !read.getMask() &&
           !read.hasOutOfBoundsDim() &&
           (!readsColumns(read) ||
            map.getResults().back() == getAffineDimExpr(map.getNumDims() - 1, map.getContext()));
  }
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return !write.getMask() && !write.hasOutOfBoundsDim() &&
           write.getPermutationMap().isMinorIdentity();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return false;
  return isa<scf::ForOp, scf::YieldOp, vector::BroadcastOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

bool FilledVectors::fill(func::FuncOp function) const {
  SmallVector<Operation *> ops;
  const bool mayFillAll =
      !function
           .walk([&](Operation *op) {
             auto narrow = [&](Type type) { return isNarrow(type); };
             if (llvm::none_of(op->getOperandTypes(), narrow) &&
                 llvm::none_of(op->getResultTypes(), narrow))
               return WalkResult::advance();
             ops.push_back(op);
             return mayFill(op) ? WalkResult::advance() : WalkResult::interrupt();
           })
           .wasInterrupted();
  if (!mayFillAll || ops.empty())
    return false;
  SmallVector<std::pair<vector::TransferWriteOp, VectorType>> writes;
  for (Operation *op : ops)
    if (auto write = dyn_cast<vector::TransferWriteOp>(op))
      writes.emplace_back(write, write.getVectorType());
  for (Operation *op : ops) {
    if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      fillRead(read);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue())
                                .resizeSplat(filledType(cast<VectorType>(constant.getType()))));
    auto fillValue = [&](Value value) {
      if (isNarrow(value.getType()))
        value.setType(filledType(cast<VectorType>(value.getType())));
    };
    llvm::for_each(op->getResults(), fillValue);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), fillValue);
  }
  for (auto [write, type] : writes)
    fillWrite(write, type);
  return true;
}

} // namespace plim::ir
