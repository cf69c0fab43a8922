#include "ir/Plim/Constraints.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;
using namespace plim::ir;

LogicalResult AllocOp::verify() {
  if (static_cast<int64_t>(getDynamicSizes().size()) !=
      static_cast<int64_t>(getType().getNumDynamicDims()))
    return emitOpError() << "has " << getDynamicSizes().size() << " sizes for "
                         << getType().getNumDynamicDims() << " dynamic extents";
  if (getAlignment() && !isAlignment(*getAlignment()))
    return emitOpError() << "has alignment " << int64_t(*getAlignment())
                         << ", which is no power of two up to 2^30";
  return verifyConstraints(getScope(), getCandidatePoolsAttr(), getAccessorsAttr(),
                           getMaxBytesAttr(), getLimitsAttr(), [&] { return emitOpError(); });
}

void AllocOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!isOnTensor())
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}

SmallVector<OpFoldResult> AllocOp::getMixedSizes() {
  Builder builder(getContext());
  return mlir::getMixedValues(getType().getShape(), getDynamicSizes(), builder);
}

LogicalResult AllocOp::reifyResultShapes(OpBuilder &, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(getMixedSizes());
  return success();
}

bool AllocOp::isPinned() {
  Scope scope = *Scope::parse(getScope());
  return scope.kind == Scope::Workspace || scope.kind == Scope::Pool || getCandidatePoolsAttr();
}

int64_t AllocOp::getFrameAlignment() {
  // A vector of the whole buffer, or a cache line, is the most that is accessed at once.
  int64_t natural =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(*getBytes(), 1)), 1, 64);
  return std::max<int64_t>(natural, getAlignment().value_or(1));
}

std::optional<Operation *> AllocOp::buildDealloc(OpBuilder &builder, Value alloc) {
  return memref::DeallocOp::create(builder, alloc.getLoc(), alloc).getOperation();
}

std::optional<Value> AllocOp::buildClone(OpBuilder &builder, Value alloc) {
  return bufferization::CloneOp::create(builder, alloc.getLoc(), alloc).getResult();
}

HoistingKind AllocOp::getHoistingKind() { return HoistingKind::Loop | HoistingKind::Block; }

namespace {

/// A slice of nothing is nothing: where only slices of an allocation are used, each is one of its own.
/// Without this, a temporary that was tiled would keep the size of the whole.
struct SliceOfAlloc : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto alloc = slice.getSource().getDefiningOp<AllocOp>();
    if (!alloc || !llvm::all_of(alloc->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>) ||
        slice.getType().getRank() != alloc.getType().getRank())
      return failure();
    SmallVector<Value> sizes;
    for (auto [extent, size] : llvm::zip(slice.getType().getShape(), slice.getMixedSizes()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, slice.getLoc(), size));
    auto fresh =
        AllocOp::create(rewriter, alloc.getLoc(), slice.getType(), sizes, alloc->getAttrs());
    rewriter.replaceOp(slice, fresh);
    return success();
  }
};

} // namespace

void AllocOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfAlloc>(context);
}
