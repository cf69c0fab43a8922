#include "ir/Cleanup/Cleanup.h"
#include "ir/Import/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/DialectConversion.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDECOMPOSE
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

Value indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// The coordinates that stand in the last dimension of `indices`, at `batch` of the others.
SmallVector<Value> readCoordinates(OpBuilder &builder, Location loc, Value indices,
                                   ArrayRef<Value> batch) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<Value> coordinates;
  for (int64_t k = 0; k < type.getShape().back(); ++k) {
    SmallVector<Value> at(batch);
    at.push_back(indexConstant(builder, loc, k));
    Value value = tensor::ExtractOp::create(builder, loc, indices, at);
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
    coordinates.push_back(value);
  }
  return coordinates;
}

/// The element at each place of the result, read at coordinates that are read first.
struct GatherToGeneric : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GatherOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = op.getSourceType();
    auto result = op.getResultType();
    if (op.getIndicesType().isDynamicDim(op.getIndicesType().getRank() - 1))
      return failure();
    unsigned batchRank = unsigned(op.getIndicesType().getRank() - 1);
    // Gathered dimensions stay in the result as ones, or are dropped.
    bool keepsOnes = result.getRank() == batchRank + source.getRank();

    SmallVector<Value> sizes;
    for (unsigned d = 0, from = 0; d < result.getRank(); ++d) {
      if (d >= batchRank && !keepsOnes)
        while (llvm::is_contained(op.getGatherDims(), int64_t(from)))
          ++from;
      if (result.isDynamicDim(d))
        sizes.push_back(d < batchRank
                            ? tensor::DimOp::create(rewriter, loc, op.getIndices(), d).getResult()
                            : tensor::DimOp::create(rewriter, loc, op.getSource(), from));
      if (d >= batchRank)
        ++from;
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, result.getShape(), result.getElementType(), sizes);
    AffineMap identity = rewriter.getMultiDimIdentityMap(unsigned(result.getRank()));
    SmallVector<utils::IteratorType> loops(result.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, result, ValueRange(), empty, identity, loops,
        [&](OpBuilder &builder, Location loc, ValueRange) {
          SmallVector<Value> at;
          for (unsigned d = 0; d < result.getRank(); ++d)
            at.push_back(linalg::IndexOp::create(builder, loc, d));
          SmallVector<Value> coordinates =
              readCoordinates(builder, loc, op.getIndices(), ArrayRef(at).take_front(batchRank));
          SmallVector<Value> from;
          for (unsigned d = 0, next = batchRank; d < source.getRank(); ++d) {
            const auto *gathered = llvm::find(op.getGatherDims(), int64_t(d));
            bool isGathered = gathered != op.getGatherDims().end();
            from.push_back(isGathered ? coordinates[size_t(gathered - op.getGatherDims().begin())]
                                      : at[next]);
            next += !isGathered || keepsOnes;
          }
          Value element = tensor::ExtractOp::create(builder, loc, op.getSource(), from);
          linalg::YieldOp::create(builder, loc, element);
        });
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// Slice after slice, in order: coordinates are unique by contract, which nothing checks.
struct ScatterToLoops : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ScatterOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto source = op.getSourceType();
    auto dest = op.getDestType();
    auto indices = op.getIndicesType();
    if (indices.isDynamicDim(indices.getRank() - 1))
      return failure();
    unsigned batchRank = unsigned(indices.getRank() - 1);
    bool keepsOnes = source.getRank() == batchRank + dest.getRank();

    Value zero = indexConstant(rewriter, loc, 0), one = indexConstant(rewriter, loc, 1);
    SmallVector<Value> lower(batchRank, zero), step(batchRank, one), upper;
    for (unsigned d = 0; d < batchRank; ++d)
      upper.push_back(tensor::DimOp::create(rewriter, loc, op.getIndices(), d));
    OpFoldResult single = rewriter.getIndexAttr(1), none = rewriter.getIndexAttr(0);
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, loc, lower, upper, step, op.getDest(),
        [&](OpBuilder &builder, Location loc, ValueRange batch,
            ValueRange carried) -> scf::ValueVector {
          SmallVector<Value> coordinates =
              readCoordinates(builder, loc, op.getIndices(), llvm::to_vector(batch));
          // The slice has the rank of the destination, or leaves out its extents of one.
          SmallVector<OpFoldResult> from(batch.begin(), batch.end()), to;
          SmallVector<OpFoldResult> fromSizes(batchRank, single), toSizes;
          SmallVector<int64_t> shape;
          for (unsigned d = 0, next = batchRank; d < dest.getRank(); ++d) {
            const auto *scattered = llvm::find(op.getScatterDims(), int64_t(d));
            bool isScattered = scattered != op.getScatterDims().end();
            to.push_back(
                isScattered
                    ? OpFoldResult(coordinates[size_t(scattered - op.getScatterDims().begin())])
                    : none);
            OpFoldResult size =
                isScattered ? single : tensor::getMixedSize(builder, loc, op.getSource(), next);
            toSizes.push_back(size);
            if (isScattered && !keepsOnes)
              continue;
            from.push_back(none);
            fromSizes.push_back(size);
            shape.push_back(isScattered ? 1 : source.getDimSize(next));
            ++next;
          }
          auto sliceType = RankedTensorType::get(shape, source.getElementType());
          SmallVector<OpFoldResult> fromStrides(from.size(), single), toStrides(to.size(), single);
          Value slice = tensor::ExtractSliceOp::create(builder, loc, sliceType, op.getSource(),
                                                       from, fromSizes, fromStrides);
          return {tensor::InsertSliceOp::create(builder, loc, slice, carried[0], to, toSizes,
                                                toStrides)};
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }
};

/// Element by element: arith.bitcast knows floats and integers without a sign.
struct BitcastToElements : OpRewritePattern<tensor::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::BitcastOp op, PatternRewriter &rewriter) const override {
    auto isPlain = [](Value tensor) {
      Type element = getElementTypeOrSelf(tensor.getType());
      return element.isSignlessInteger() || isa<FloatType>(element);
    };
    if (!isPlain(op.getSource()) || !isPlain(op.getResult()))
      return failure();
    Location loc = op.getLoc();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, op.getSource());
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(unsigned(type.getRank())));
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), op.getSource(), empty, maps, loops,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          Value bits = arith::BitcastOp::create(builder, loc, type.getElementType(), arguments[0]);
          linalg::YieldOp::create(builder, loc, bits);
        });
    // Sizes that are constants can make the type of the result more precise.
    if (empty.getType() == type)
      rewriter.replaceOp(op, generic);
    else
      rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, generic.getResult(0));
    return success();
  }
};

/// Upstream's lowering wants tiles of a size that is known: pads to whole tiles, splits each tiled
/// dimension into tiles and their elements, and moves these behind.
struct PackDynamicTiles : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op, PatternRewriter &rewriter) const override {
    if (!llvm::any_of(op.getStaticInnerTiles(), ShapedType::isDynamic))
      return failure();
    Location loc = op.getLoc();
    auto source = cast<RankedTensorType>(op.getSource().getType());
    auto packed = cast<RankedTensorType>(op.getDest().getType());
    int64_t rank = source.getRank();
    SmallVector<OpFoldResult> tiles = op.getMixedTiles();
    SmallVector<OpFoldResult> destSizes = tensor::getMixedSizes(rewriter, loc, op.getDest());
    ArrayRef<int64_t> outer = op.getOuterDimsPerm();

    // By dimension of the source: how many tiles there are, and what size they have.
    SmallVector<OpFoldResult> counts(rank), high(rank, rewriter.getIndexAttr(0));
    for (int64_t d = 0; d < rank; ++d)
      counts[size_t(outer.empty() ? d : outer[size_t(d)])] = destSizes[size_t(d)];
    SmallVector<int64_t> paddedShape(source.getShape()), split;
    SmallVector<OpFoldResult> splitSizes;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> outerAt(rank), innerAt(op.getInnerDimsPos().size());
    AffineExpr n, count, tile;
    bindSymbols(op.getContext(), n, count, tile);
    auto push = [&](OpFoldResult size) {
      split.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
      splitSizes.push_back(size);
      groups.back().push_back(int64_t(split.size()) - 1);
      return int64_t(split.size()) - 1;
    };
    for (int64_t d = 0; d < rank; ++d) {
      groups.emplace_back();
      outerAt[size_t(d)] = push(counts[size_t(d)]);
      const auto *tiled = llvm::find(op.getInnerDimsPos(), d);
      if (tiled == op.getInnerDimsPos().end())
        continue;
      size_t k = size_t(tiled - op.getInnerDimsPos().begin());
      innerAt[k] = push(tiles[k]);
      OpFoldResult extent = tensor::getMixedSize(rewriter, loc, op.getSource(), d);
      high[size_t(d)] = affine::makeComposedFoldedAffineApply(
          rewriter, loc, count * tile - n, {extent, counts[size_t(d)], tiles[k]});
      std::optional<int64_t> fixed = getConstantIntValue(affine::makeComposedFoldedAffineApply(
          rewriter, loc, count * tile, {extent, counts[size_t(d)], tiles[k]}));
      paddedShape[size_t(d)] = fixed.value_or(ShapedType::kDynamic);
    }

    Value padding = op.getPaddingValue();
    if (!padding)
      padding =
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(source.getElementType()));
    SmallVector<OpFoldResult> low(rank, rewriter.getIndexAttr(0));
    auto paddedType = RankedTensorType::get(paddedShape, source.getElementType());
    Value padded = tensor::PadOp::create(rewriter, loc, paddedType, op.getSource(), low, high,
                                         padding, /*nofold=*/false);
    auto splitType = RankedTensorType::get(split, source.getElementType());
    Value expanded =
        tensor::ExpandShapeOp::create(rewriter, loc, splitType, padded, groups, splitSizes);
    SmallVector<int64_t> order;
    for (int64_t d = 0; d < rank; ++d)
      order.push_back(outerAt[size_t(outer.empty() ? d : outer[size_t(d)])]);
    llvm::append_range(order, innerAt);
    auto transposed = linalg::TransposeOp::create(rewriter, loc, expanded, op.getDest(), order);
    Value result = transposed->getResult(0);
    if (result.getType() != packed)
      result = tensor::CastOp::create(rewriter, loc, packed, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// What is released, and when, the compiler finds out.
struct EraseDeallocTensor : OpRewritePattern<bufferization::DeallocTensorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(bufferization::DeallocTensorOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

/// A hint that no analysis of access sees through: what is written by another name would be taken
/// for readonly.
struct ForgetDistinctObjects : OpRewritePattern<memref::DistinctObjectsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::DistinctObjectsOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getOperands());
    return success();
  }
};

/// The result is what was stored. Upstream's lowering gives what was there before, from which the
/// body says the other.
void returnStored(memref::GenericAtomicRMWOp op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    uses.push_back(&use);
  if (uses.empty())
    return;
  IRMapping mapping;
  mapping.map(op.getCurrentValue(), op.getResult());
  for (Operation &nested : op.getBody()->without_terminator())
    builder.clone(nested, mapping);
  auto yield = cast<memref::AtomicYieldOp>(op.getBody()->getTerminator());
  Value stored = mapping.lookupOrDefault(yield.getResult());
  for (OpOperand *use : uses)
    use->set(stored);
}

Value splat(OpBuilder &builder, Location loc, Type type, const llvm::APFloat &value) {
  TypedAttr attribute = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attribute = DenseElementsAttr::get(shaped, attribute);
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// Classes of numbers by the magnitude; comparisons with a NaN are false.
template <typename OpT> struct ClassToComparisons : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    // On tensors the element has its turn first.
    if (isa<TensorType>(type))
      return failure();
    Location loc = op.getLoc();
    const llvm::fltSemantics &format =
        cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    Value magnitude = math::AbsFOp::create(rewriter, loc, op.getOperand());
    Value infinity = splat(rewriter, loc, type, llvm::APFloat::getInf(format));
    constexpr bool isInfinite = std::is_same_v<OpT, math::IsInfOp>;
    Value result = arith::CmpFOp::create(
        rewriter, loc, isInfinite ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::OLT,
        magnitude, infinity);
    if constexpr (std::is_same_v<OpT, math::IsNormalOp>) {
      Value smallest = splat(rewriter, loc, type, llvm::APFloat::getSmallestNormalized(format));
      Value isLarge =
          arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGE, magnitude, smallest);
      result = arith::AndIOp::create(rewriter, loc, result, isLarge);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Bufferization takes a tensor that a switch yields for one that may be written over.
struct SwitchToBranches : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IndexSwitchOp op, PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      return failure();
    Block *defaultBlock = &op.getDefaultRegion().front();
    SmallVector<Value> results;
    for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
      Value isCase =
          arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq, op.getArg(),
                                indexConstant(rewriter, op.getLoc(), value));
      auto branch =
          scf::IfOp::create(rewriter, op.getLoc(), op.getResultTypes(), isCase, true, true);
      rewriter.inlineBlockBefore(&region.front(), branch.thenBlock(), branch.thenBlock()->end());
      if (results.empty())
        llvm::append_range(results, branch.getResults());
      else
        scf::YieldOp::create(rewriter, op.getLoc(), branch.getResults());
      rewriter.setInsertionPointToStart(branch.elseBlock());
    }
    if (results.empty()) {
      llvm::append_range(results, defaultBlock->getTerminator()->getOperands());
      rewriter.eraseOp(defaultBlock->getTerminator());
    }
    rewriter.inlineBlockBefore(defaultBlock, rewriter.getInsertionBlock(),
                               rewriter.getInsertionPoint());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ClampToMinMax : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &rewriter) const override {
    if (isa<TensorType>(op.getType()))
      return failure();
    Value upper = arith::MinimumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMax(),
                                            op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, upper, op.getMin(), op.getFastmath());
    return success();
  }
};

struct Decompose : plim::ir::impl::PlimDecomposeBase<Decompose> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    function.walk([](memref::GenericAtomicRMWOp op) { returnStored(op); });
    RewritePatternSet patterns(&getContext());
    patterns.add<SwitchToBranches, BitcastToElements, ClampToMinMax,
                 ClassToComparisons<math::IsFiniteOp>, ClassToComparisons<math::IsInfOp>,
                 ClassToComparisons<math::IsNormalOp>, EraseDeallocTensor, ForgetDistinctObjects,
                 GatherToGeneric, PackDynamicTiles, ScatterToLoops>(&getContext());
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    bool isChanged = false;
    if (failed(plim::ir::applySoundPatterns(function, std::move(patterns), &isChanged)) ||
        failed(lowerAffineControl(function)))
      return signalPassFailure();
    if (isChanged)
      ++changed;
  }

  /// Loops and branches of the affine dialect that bufferization would meet: it has no model of
  /// them. In kernels they stay, for what is known of their indices. A prefetch has no effects that
  /// anyone knows.
  LogicalResult lowerAffineControl(func::FuncOp function) {
    auto isTensor = llvm::IsaPred<TensorType>;
    bool hasTensors = function
                          .walk([&](Operation *op) {
                            return llvm::any_of(op->getOperandTypes(), isTensor) ||
                                           llvm::any_of(op->getResultTypes(), isTensor)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
    RewritePatternSet patterns(&getContext());
    populateAffineToStdConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<affine::AffinePrefetchOp>();
    if (hasTensors)
      target.addIllegalOp<affine::AffineForOp, affine::AffineIfOp, affine::AffineParallelOp,
                          affine::AffineYieldOp>();
    return applyPartialConversion(function, target, std::move(patterns));
  }
};

} // namespace
