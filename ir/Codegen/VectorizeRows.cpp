#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Products.h"
#include "ir/Transforms/Reductions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVECTORIZEROWS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Vectors at a time, whose sums are apart: so many cover the latency of an addition.
constexpr int64_t vectorsAtATime = 4;
/// The same for bodies of more operations than registers, of which there are 16, can hold values of.
constexpr int64_t fewVectors = 2, manyOperations = 8;
/// The fewest elements of a row, where their number is known.
constexpr int64_t leastElements = 4;

/// Do vectors of such elements lie in memory as the elements do? Floats of 8 bits are expanded one by one.
bool isStorable(Type type) {
  if (!type.isIntOrFloat())
    return false;
  const unsigned bits = type.getIntOrFloatBitWidth();
  return llvm::isPowerOf2_32(bits) && bits >= (isa<FloatType>(type) ? 16U : 8U) && bits <= 64;
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
  return isa<arith::ArithDialect>(op.getDialect()) ||
         isa<math::FmaOp, math::AbsFOp, math::SqrtOp, math::FloorOp, math::CeilOp, math::TruncOp,
             math::RoundEvenOp, math::CopySignOp>(op);
}

/// A reduction along rows, whose innermost loop goes along what lies side by side.
class RowReduction {
public:
  /// Nothing if the op is none, or if its sums have to be in the order of the source.
  static std::optional<RowReduction> of(linalg::GenericOp generic, const Host &host, bool strict) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    RowReduction rows(op);
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
        op.getIteratorTypesArray()[rows.loop] != utils::IteratorType::reduction ||
        !mayReorderReduction(op) || !llvm::all_of(*op.getBlock(), takesVectors))
      return std::nullopt;
    const int64_t length = op.getStaticLoopRanges()[rows.loop];
    if (!ShapedType::isDynamic(length) && length < leastElements)
      return std::nullopt;
    unsigned bits = 8;
    for (OpOperand &operand : op->getOpOperands()) {
      const AffineMap map = op.getMatchingIndexingMap(&operand);
      const Type element = getElementTypeOrSelf(operand.get());
      if (!isStorable(element) ||
          (map.isFunctionOfDim(rows.loop) && !isContiguousAlong(map, rows.loop)))
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
    for (OpOperand &init : op.getDpsInitsMutable()) {
      rows.combiners.push_back(nullptr);
      rows.neutral.emplace_back();
      if (hasElementOfEach(op, init))
        continue;
      Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
      const bool isFloat = isa<FloatType>(combiner->getResult(0).getType());
      if (strict && isFloat && isa<arith::AddFOp, arith::MulFOp>(combiner))
        return std::nullopt;
      rows.combiners.back() = combiner;
      rows.neutral.back() = neutralElement(combiner);
      if (!rows.neutral.back() || op.getMatchingIndexingMap(&init).isFunctionOfDim(rows.loop))
        return std::nullopt;
    }
    rows.lanes = host.vectorBits / int64_t(bits);
    rows.width =
        rows.lanes *
        (host.vectorRegisters < 32 && operations > manyOperations ? fewVectors : vectorsAtATime);
    rows.hasMasks = host.hasMasks;
    return rows.lanes >= 2 ? std::optional(rows) : std::nullopt;
  }

  /// Replaces the op.
  void vectorize(IRRewriter &rewriter) {
    rewriter.setInsertionPoint(op);
    const Location at = op.getLoc();
    SmallVector<Value> from, to, steps;
    for (Range range : op.createLoopRanges(rewriter, at)) {
      from.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.offset));
      to.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.size));
      steps.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.stride));
    }
    length = to.pop_back_val();
    from.pop_back();
    steps.pop_back();
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, at, from, to, steps, op.getDpsInits(),
        [&](OpBuilder &b, Location, ValueRange outer, ValueRange results) -> scf::ValueVector {
          return row(b, outer, results);
        });
    rewriter.replaceOp(op, nest.results);
  }

private:
  explicit RowReduction(linalg::LinalgOp op) : op(op), loop(op.getNumLoops() - 1) {}

  Value number(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, op.getLoc(), value);
  }

  SmallVector<Value> position(OpBuilder &b, OpOperand &operand, ValueRange indices) {
    SmallVector<Value> results;
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr index : map.getResults())
      results.push_back(getValueOrCreateConstantIndexOp(
          b, op.getLoc(),
          affine::makeComposedFoldedAffineApply(b, op.getLoc(),
                                                AffineMap::get(map.getNumDims(), 0, index),
                                                getAsOpFoldResult(indices))));
    return results;
  }

  /// `length` rounded down to a multiple.
  Value wholePart(OpBuilder &b, int64_t unit) {
    const AffineExpr size = b.getAffineSymbolExpr(0);
    return getValueOrCreateConstantIndexOp(
        b, op.getLoc(),
        affine::makeComposedFoldedAffineApply(b, op.getLoc(), size.floorDiv(unit) * unit,
                                              {OpFoldResult(length)}));
  }

  /// The results after one row: several vectors at a time, one at a time, and what is left, masked or one by one.
  scf::ValueVector row(OpBuilder &b, ValueRange outer, ValueRange results) {
    const Location at = op.getLoc();
    SmallVector<Value> carried(results);
    for (auto [value, start] : llvm::zip(carried, neutral))
      if (start)
        value = arith::ConstantOp::create(
            b, at, DenseElementsAttr::get(VectorType::get(width, start.getType()), start));
    const Value whole = wholePart(b, width), single = wholePart(b, lanes);
    along(b, outer, number(b, 0), whole, width, /*masked=*/false, carried);
    halve(b, carried, width, lanes);
    along(b, outer, whole, single, lanes, /*masked=*/false, carried);
    if (hasMasks)
      along(b, outer, single, length, lanes, /*masked=*/true, carried);
    halve(b, carried, lanes, 1);
    if (!hasMasks)
      along(b, outer, single, length, 0, /*masked=*/false, carried);
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable()))
      if (combiners[i]) {
        const SmallVector<Value> place = position(b, init, anywhere(b, outer));
        Value before = tensor::ExtractOp::create(b, at, results[i], place);
        carried[i] =
            tensor::InsertOp::create(b, at, combine(b, i, before, carried[i]), results[i], place);
      }
    return scf::ValueVector(carried.begin(), carried.end());
  }

  /// All indices, where that along the row does not matter.
  SmallVector<Value> anywhere(OpBuilder &b, ValueRange outer) {
    SmallVector<Value> indices(outer);
    indices.push_back(number(b, 0));
    return indices;
  }

  /// Runs over a part of the row with vectors of `size` elements, or with elements for 0.
  void along(OpBuilder &b, ValueRange outer, Value from, Value to, int64_t size, bool masked,
             SmallVector<Value> &carried) {
    const std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
    if (first && last && *first >= *last)
      return;
    const Location at = op.getLoc();
    auto loopOp = scf::ForOp::create(
        b, at, from, to, number(b, std::max<int64_t>(1, size)), carried,
        [&](OpBuilder &body, Location, Value index, ValueRange values) {
          SmallVector<Value> indices(outer);
          indices.push_back(index);
          Value mask;
          if (masked)
            mask = vector::CreateMaskOp::create(
                body, at, VectorType::get(size, body.getI1Type()),
                ValueRange(arith::SubIOp::create(body, at, to, index).getResult()));
          scf::YieldOp::create(body, at, iteration(body, indices, size, mask, values));
        });
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(loopOp.getOperation()));
    carried.assign(loopOp.result_begin(), loopOp.result_end());
  }

  SmallVector<Value> iteration(OpBuilder &b, ValueRange indices, int64_t size, Value mask,
                               ValueRange carried) {
    const Location at = op.getLoc();
    auto vectorOf = [&](Type element) { return VectorType::get(size, element); };
    auto widen = [&](Value value) -> Value {
      return size == 0 || isa<VectorType>(value.getType())
                 ? value
                 : vector::BroadcastOp::create(b, at, vectorOf(value.getType()), value).getResult();
    };
    IRMapping values;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      Value source = operand.get();
      if (op.isDpsInit(&operand)) {
        const auto i = size_t(operand.getOperandNumber() - op.getNumDpsInputs());
        source = carried[i];
        if (combiners[i]) {
          values.map(argument, source);
          continue;
        }
      }
      if (!isa<ShapedType>(source.getType())) {
        values.map(argument, source);
        continue;
      }
      const SmallVector<Value> place = position(b, operand, indices);
      if (size == 0 || !op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop)) {
        values.map(argument, tensor::ExtractOp::create(b, at, source, place).getResult());
        continue;
      }
      const Type element = getElementTypeOrSelf(source);
      Value padding = arith::ConstantOp::create(b, at, b.getZeroAttr(element));
      values.map(argument, vector::TransferReadOp::create(b, at, vectorOf(element), source, place,
                                                          minorIdentity(b, place.size()), padding,
                                                          mask, b.getBoolArrayAttr({true}))
                               .getResult());
    }
    for (Operation &each : op.getBlock()->without_terminator()) {
      if (llvm::is_contained(combiners, &each))
        continue;
      if (auto index = dyn_cast<linalg::IndexOp>(each)) {
        Value value = indices[index.getDim()];
        if (size > 0 && index.getDim() == loop)
          value = arith::AddIOp::create(b, at, widen(value),
                                        vector::StepOp::create(b, at, vectorOf(b.getIndexType())));
        values.map(index.getResult(), value);
        continue;
      }
      values.map(each.getResults(), clone(b, each, values, widen)->getResults());
    }
    SmallVector<Value> next(carried);
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value yielded = op.getMatchingYieldValue(&init)->get();
      if (Operation *combiner = combiners[i]) {
        const unsigned element =
            combiner->getOperand(0) == op.getMatchingBlockArgument(&init) ? 1 : 0;
        Value sum =
            combine(b, i, carried[i], widen(values.lookupOrDefault(combiner->getOperand(element))));
        next[i] = mask ? arith::SelectOp::create(b, at, mask, sum, carried[i]).getResult() : sum;
        continue;
      }
      Value value = values.lookupOrDefault(yielded);
      const SmallVector<Value> place = position(b, init, indices);
      if (size == 0)
        next[i] = tensor::InsertOp::create(b, at, value, carried[i], place);
      else
        next[i] = vector::TransferWriteOp::create(b, at, widen(value), carried[i], place,
                                                  minorIdentity(b, place.size()), mask,
                                                  b.getBoolArrayAttr({true}))
                      .getResult();
    }
    return next;
  }

  static AffineMapAttr minorIdentity(OpBuilder &b, size_t rank) {
    return AffineMapAttr::get(AffineMap::getMinorIdentityMap(unsigned(rank), 1, b.getContext()));
  }

  /// The operation on vectors if one of its operands is a vector.
  static Operation *clone(OpBuilder &b, Operation &each, IRMapping &values,
                          llvm::function_ref<Value(Value)> widen) {
    std::optional<int64_t> size;
    for (Value operand : each.getOperands())
      if (auto type = dyn_cast<VectorType>(values.lookupOrDefault(operand).getType()))
        size = type.getNumElements();
    if (!size)
      return b.clone(each, values);
    IRMapping wide;
    for (Value operand : each.getOperands())
      wide.map(operand, widen(values.lookupOrDefault(operand)));
    Operation *copy = b.clone(each, wide);
    for (OpResult result : copy->getResults())
      result.setType(VectorType::get(*size, result.getType()));
    return copy;
  }

  /// What the combiner of a result makes of two values, in this order and no other.
  Value combine(OpBuilder &b, size_t result, Value accumulated, Value element) const {
    Operation *combiner = combiners[result];
    Operation *copy = b.clone(*combiner);
    copy->setOperands({accumulated, element});
    copy->getResult(0).setType(accumulated.getType());
    if (auto math = dyn_cast<arith::ArithFastMathInterface>(copy)) {
      const arith::FastMathFlags flags = math.getFastMathFlagsAttr().getValue();
      copy->setAttr(
          math.getFastMathAttrName(),
          arith::FastMathFlagsAttr::get(b.getContext(), flags & ~arith::FastMathFlags::reassoc));
    }
    return copy->getResult(0);
  }

  /// Combines halves until vectors have `to` elements, one being a scalar.
  void halve(OpBuilder &b, SmallVector<Value> &carried, int64_t from, int64_t to) {
    const Location at = op.getLoc();
    for (auto [i, value] : llvm::enumerate(carried)) {
      if (!combiners[i])
        continue;
      for (int64_t size = from; size > to; size /= 2) {
        auto half = [&](int64_t offset) -> Value {
          return vector::ExtractStridedSliceOp::create(b, at, value, offset, size / 2, int64_t(1));
        };
        value = combine(b, i, half(0), half(size / 2));
      }
      if (to == 1)
        value = vector::ExtractOp::create(b, at, value, int64_t(0));
    }
  }

  linalg::LinalgOp op;
  unsigned loop; // along the row
  SmallVector<Operation *>
      combiners; // of each result; null where there is an element for each iteration
  SmallVector<TypedAttr> neutral;
  int64_t lanes = 0, width = 0; // elements of a vector, and of those at a time
  bool hasMasks = false;
  Value length;
};

struct VectorizeRows : plim::ir::impl::PlimVectorizeRowsBase<VectorizeRows> {
  using PlimVectorizeRowsBase::PlimVectorizeRowsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    const Host host = hostOf(function);
    if (host.vectorBits == 0)
      return;
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      if (std::optional<RowReduction> rows = RowReduction::of(op, host, strict)) {
        rows->vectorize(rewriter);
        ++vectorized;
      } else {
        ++missed;
      }
    }
  }
};

} // namespace
