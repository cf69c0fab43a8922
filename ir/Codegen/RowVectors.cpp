#include "ir/Codegen/RowVectors.h"

#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/MathPolynomials.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Vectors at a time, whose sums are apart: so many cover the latency of an addition.
constexpr int64_t vectorsAtATime = 4;
/// The same for bodies of more operations than registers, of which there are 16, can hold values of.
constexpr int64_t fewVectors = 2, manyOperations = 8;

/// Do vectors of such elements lie in memory as the elements do? Floats of 8 bits are expanded one by one.
bool isStorable(Type type) {
  if (!type.isIntOrFloat())
    return false;
  const unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 1 ||
         (llvm::isPowerOf2_32(bits) && bits >= (isa<FloatType>(type) ? 16U : 8U) && bits <= 64);
}

/// Do the elements along the last dimension lie side by side?
bool hasElementsSideBySide(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return !buffer || buffer.areTrailingDimsContiguous(1);
}

/// Does the operation take vectors in the place of elements, with code that is no call for each of them? A division of
/// integers would trap in lanes that are masked off.
bool takesVectors(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(op))
    return true;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemFOp>(op) ||
      !OpTrait::hasElementwiseMappableTraits(&op))
    return false;
  return isa<arith::ArithDialect>(op.getDialect()) || op.hasAttr(vectorFunctionAttr) ||
         isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::SqrtOp, math::RsqrtOp, math::FloorOp,
             math::CeilOp, math::TruncOp, math::RoundEvenOp, math::CopySignOp, math::CtPopOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::IsNaNOp, math::IsInfOp,
             math::IsFiniteOp>(op);
}

/// What LLVM's vectoriser says of the remainders of its own loops, and heeds.
LLVM::LoopAnnotationAttr ofRemainder(MLIRContext *context) {
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                       /*isVectorized=*/BoolAttr::get(context, true), {}, {}, {});
}

} // namespace

std::optional<RowVectors> RowVectors::ofReduction(linalg::LinalgOp op, const Host &host) {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return std::nullopt;
  return of(op, host);
}

std::optional<RowVectors> RowVectors::of(linalg::LinalgOp op, const Host &host, int64_t least) {
  std::optional<RowVectors> rows = ofElements(op, host);
  if (!rows)
    return std::nullopt;
  const int64_t length = op.getStaticLoopRanges()[rows->loop];
  if (!ShapedType::isDynamic(length) && length < least)
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    const int64_t step = stepAlong(map, rows->loop).value_or(0);
    if (map.isFunctionOfDim(rows->loop) &&
        !(step >= 1 && step <= (op.isDpsInput(&operand) ? mostStep : 1) &&
          hasElementsSideBySide(operand.get().getType())))
      return std::nullopt;
  }
  return rows;
}

std::optional<RowVectors> RowVectors::ofElements(linalg::LinalgOp op, const Host &host) {
  if (op.getNumLoops() == 0 || !llvm::all_of(*op.getBlock(), takesVectors))
    return std::nullopt;
  RowVectors rows(op);
  unsigned bits = 8;
  for (Value operand : op->getOperands()) {
    const Type element = getElementTypeOrSelf(operand);
    if (!isStorable(element))
      return std::nullopt;
    bits = std::max(bits, element.getIntOrFloatBitWidth());
  }
  int64_t operations = 0;
  for (Operation &each : op.getBlock()->without_terminator())
    for (Type type : each.getResultTypes()) {
      ++operations;
      if (!type.isInteger(1) && !isStorable(type) && !type.isIndex())
        return std::nullopt;
      bits = std::max(bits, type.isIndex() ? 64U : type.getIntOrFloatBitWidth());
    }
  rows.lanes = host.vectorBits / int64_t(bits);
  rows.width =
      rows.lanes *
      (host.vectorRegisters < 32 && operations > manyOperations ? fewVectors : vectorsAtATime);
  rows.hasMasks = host.hasMasks;
  return rows.lanes >= 2 ? std::optional(rows) : std::nullopt;
}

void RowVectors::replaceByRows(RewriterBase &rewriter, RowBuilder row) {
  rewriter.setInsertionPoint(op);
  const Location at = op.getLoc();
  SmallVector<Value> from, to, steps;
  for (Range range : op.createLoopRanges(rewriter, at)) {
    from.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.offset));
    to.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.size));
    steps.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.stride));
  }
  end = to.pop_back_val();
  from.pop_back();
  steps.pop_back();
  const scf::LoopNest rows = scf::buildLoopNest(
      rewriter, at, from, to, steps, op.hasPureTensorSemantics() ? op.getDpsInits() : ValueRange(),
      [&](OpBuilder &b, Location, ValueRange outer, ValueRange results) {
        return row(b, outer, results);
      });
  rewriter.replaceOp(op, rows.results);
}

void RowVectors::buildAlong(
    OpBuilder &builder, ValueRange outer, Value start, SmallVector<Value> &carried,
    PartBuilder part,
    llvm::function_ref<void(OpBuilder &, SmallVector<Value> &, int64_t, int64_t)> halve) {
  const Value zero = number(builder, 0), whole = endOfParts(builder, zero, width),
              single = endOfParts(builder, zero, lanes);
  buildLoop(builder, outer, start, whole, most, width, /*isMasked=*/false, carried, part);
  halve(builder, carried, width, lanes);
  buildLoop(builder, outer, whole, single, width - lanes, lanes, /*isMasked=*/false, carried, part);
  if (hasMasks)
    buildLoop(builder, outer, single, end, lanes - 1, lanes, /*isMasked=*/true, carried, part);
  halve(builder, carried, lanes, 1);
  if (!hasMasks)
    buildLoop(builder, outer, single, end, lanes - 1, 0, /*isMasked=*/false, carried, part);
}

void RowVectors::buildLoop(OpBuilder &builder, ValueRange outer, Value from, Value to, int64_t most,
                           int64_t size, bool isMasked, SmallVector<Value> &carried,
                           PartBuilder part) {
  const std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return;
  const Location at = op.getLoc();
  auto loopOp = scf::ForOp::create(
      builder, at, from, to, number(builder, std::max<int64_t>(1, size)), carried,
      [&](OpBuilder &body, Location, Value index, ValueRange values) {
        SmallVector<Value> indices(outer);
        indices.push_back(index);
        Value mask;
        if (isMasked)
          mask = vector::CreateMaskOp::create(
              body, at, VectorType::get(size, body.getI1Type()),
              ValueRange(arith::SubIOp::create(body, at, to, index).getResult()));
        scf::YieldOp::create(body, at, part(body, indices, size, mask, values));
      });
  if (most > 0)
    loopOp->setAttr(mostIterationsAttr, builder.getI64IntegerAttr(llvm::divideCeil(
                                            uint64_t(most), uint64_t(std::max<int64_t>(1, size)))));
  if (most > 0 && size == 0)
    loopOp->setAttr("llvm.loop_annotation", ofRemainder(builder.getContext()));
  moveLoopInvariantCode(cast<LoopLikeOpInterface>(loopOp.getOperation()));
  carried.assign(loopOp.result_begin(), loopOp.result_end());
}

Value RowVectors::endOfParts(OpBuilder &builder, Value from, int64_t unit) {
  AffineExpr first, last;
  bindSymbols(builder.getContext(), first, last);
  return getValueOrCreateConstantIndexOp(
      builder, op.getLoc(),
      affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                            first + (last - first).floorDiv(unit) * unit,
                                            getAsOpFoldResult({from, end})));
}

IRMapping RowVectors::buildBody(OpBuilder &b, ValueRange indices, int64_t size, Value mask,
                                ValueRange carried, llvm::function_ref<bool(Operation *)> isLeft) {
  const Location at = op.getLoc();
  IRMapping values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Value source = operand.get();
    if (op.isDpsInit(&operand) && !carried.empty())
      source = carried[operand.getOperandNumber() - unsigned(op.getNumDpsInputs())];
    if (!isa<RankedTensorType, MemRefType>(source.getType())) {
      values.map(argument, source);
      continue;
    }
    if (loaded.contains(argument)) {
      values.map(argument, loaded.lookup(argument));
      continue;
    }
    const SmallVector<Value> place = position(b, operand, indices);
    if (size == 0 || !op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop)) {
      values.map(argument, load(b, source, place));
      continue;
    }
    const int64_t step = *stepAlong(op.getMatchingIndexingMap(&operand), loop);
    values.map(argument, readInSteps(b, at, source, place, step, size, lanes, mask));
  }
  auto indexOf = [&](linalg::IndexOp index) {
    Value value = indices[index.getDim()];
    if (size == 0 || index.getDim() != loop)
      return value;
    auto step = vector::StepOp::create(b, at, VectorType::get(size, b.getIndexType()));
    return arith::AddIOp::create(b, at, widen(b, value, size), step).getResult();
  };
  buildOperations(b, values, size, indexOf, isLeft);
  return values;
}

void RowVectors::buildOperations(OpBuilder &b, IRMapping &values, int64_t size,
                                 llvm::function_ref<Value(linalg::IndexOp)> indexOf,
                                 llvm::function_ref<bool(Operation *)> isLeft) {
  for (Operation &each : op.getBlock()->without_terminator()) {
    if (isLeft(&each))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(each)) {
      values.map(index.getResult(), indexOf(index));
      continue;
    }
    const bool isVector = llvm::any_of(each.getOperands(), [&](Value operand) {
      return isa<VectorType>(values.lookupOrDefault(operand).getType());
    });
    if (!isVector) {
      b.clone(each, values);
      continue;
    }
    IRMapping wide;
    for (Value operand : each.getOperands())
      wide.map(operand, widen(b, values.lookupOrDefault(operand), size));
    Operation *copy = b.clone(each, wide);
    for (OpResult result : copy->getResults())
      result.setType(VectorType::get(size, result.getType()));
    values.map(each.getResults(), copy->getResults());
  }
}

Value RowVectors::widen(OpBuilder &builder, Value value, int64_t size) {
  return size == 0 || isa<VectorType>(value.getType())
             ? value
             : vector::BroadcastOp::create(builder, op.getLoc(),
                                           VectorType::get(size, value.getType()), value)
                   .getResult();
}

SmallVector<Value> RowVectors::position(OpBuilder &builder, OpOperand &operand,
                                        ValueRange indices) {
  SmallVector<Value> results;
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  for (AffineExpr index : map.getResults())
    results.push_back(getValueOrCreateConstantIndexOp(
        builder, op.getLoc(),
        affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                              AffineMap::get(map.getNumDims(), 0, index),
                                              getAsOpFoldResult(indices))));
  return results;
}

SmallVector<Value> RowVectors::positionInRow(OpBuilder &builder, OpOperand &operand,
                                             ValueRange outer) {
  SmallVector<Value> indices(outer);
  indices.push_back(number(builder, 0));
  return position(builder, operand, indices);
}

void RowVectors::loadInFront(OpBuilder &builder, ValueRange outer) {
  loaded.clear();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!argument.use_empty() && isa<ShapedType>(operand.get().getType()) &&
        !op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop))
      loaded.map(argument, load(builder, operand.get(), positionInRow(builder, operand, outer)));
  }
}

Value RowVectors::load(OpBuilder &builder, Value source, ValueRange place) {
  if (isa<MemRefType>(source.getType()))
    return memref::LoadOp::create(builder, op.getLoc(), source, place);
  return tensor::ExtractOp::create(builder, op.getLoc(), source, place);
}

Value RowVectors::number(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, op.getLoc(), value);
}

bool plim::ir::readsInSteps(AffineMap map, unsigned loop) {
  const int64_t step = stepAlong(map, loop).value_or(0);
  return step >= 1 && step <= mostStep;
}

std::optional<int64_t> plim::ir::stepOfRows(vector::TransferReadOp read) {
  auto slice = read.getBase().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return 1;
  const ArrayRef<int64_t> strides = slice.getStaticStrides();
  if (strides.empty() || ShapedType::isDynamic(strides.back()) ||
      slice.getDroppedDims().test(unsigned(strides.size() - 1)))
    return std::nullopt;
  return strides.back();
}

/// Of the vectors of what lies side by side the last one ends with the last element.
Value plim::ir::readInSteps(OpBuilder &b, Location at, Value source, ValueRange place, int64_t step,
                            int64_t size, int64_t lanes, Value mask) {
  const Type element = getElementTypeOrSelf(source);
  Value padding = arith::ConstantOp::create(b, at, b.getZeroAttr(element));
  auto numberOf = [&](int64_t value) { return arith::ConstantIndexOp::create(b, at, value); };
  auto sideBySide = [&](ValueRange from, int64_t count, Value isRead) -> Value {
    return vector::TransferReadOp::create(b, at, VectorType::get(count, element), source, from,
                                          innermostOf(b, from.size()), padding, isRead,
                                          b.getBoolArrayAttr({true}));
  };
  if (step == 1)
    return sideBySide(place, size, mask);
  Value all;
  for (int64_t done = 0, part; done < size; done += part) {
    part = std::min(lanes, size - done); // made at a time
    Value result;
    for (int64_t load = 0; load < step; ++load) {
      const int64_t first = std::min(load * part, step * (part - 1) + 1 - part);
      SmallVector<Value> from(place);
      from.back() = arith::AddIOp::create(b, at, from.back(), numberOf(step * done + first));
      Value isRead;
      if (mask) { // of one vector: as far as the last element that is
        Value count = mask.getDefiningOp<vector::CreateMaskOp>().getOperand(0);
        Value end = arith::SubIOp::create(
            b, at, arith::MulIOp::create(b, at, count, numberOf(step)), numberOf(step - 1 + first));
        isRead = vector::CreateMaskOp::create(b, at, cast<VectorType>(mask.getType()), end);
      }
      Value vector = sideBySide(from, part, isRead);
      // Those that it has, beside those of the vectors before.
      SmallVector<int64_t> taken;
      for (int64_t lane = 0; lane < part; ++lane) {
        const int64_t its = step * lane - first;
        taken.push_back(its >= 0 && its < part ? part + its
                        : result               ? lane
                                               : vector::ShuffleOp::kPoisonIndex);
      }
      result = vector::ShuffleOp::create(b, at, result ? result : vector, vector, taken);
    }
    if (part == size)
      return result;
    if (!all)
      all = vector::BroadcastOp::create(b, at, VectorType::get(size, element), padding);
    all = vector::InsertStridedSliceOp::create(b, at, result, all, ArrayRef<int64_t>{done},
                                               ArrayRef<int64_t>{1});
  }
  return all;
}

AffineMapAttr plim::ir::innermostOf(OpBuilder &builder, size_t rank) {
  return AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(unsigned(rank), 1, builder.getContext()));
}
