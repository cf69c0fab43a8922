#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFILLBORDERS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Rows up to this many bytes, with a border at their ends, are filled as fast as a whole.
constexpr int64_t shortRowBytes = 128;

/// Is most of the tensor written behind the fill, as far as that is known?
bool isWorthwhile(tensor::InsertSliceOp insert) {
  const RankedTensorType type = insert.getDestType();
  double inside = 1;
  for (auto [size, extent] : llvm::zip(insert.getStaticSizes(), type.getShape()))
    if (ShapedType::isStatic(size) && ShapedType::isStatic(extent))
      inside *= double(size) / double(std::max<int64_t>(1, extent));
  const int64_t row = type.getShape().back();
  const bool hasBorderInRows = insert.getStaticSizes().back() != row;
  return inside >= 0.5 &&
         (!hasBorderInRows ||
          (ShapedType::isStatic(row) && row * elementBytes(type.getElementType()) > shortRowBytes));
}

struct FillBorders : plim::ir::impl::PlimFillBordersBase<FillBorders> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(dispatchFunctionAttr))
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation().walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
    for (tensor::InsertSliceOp insert : inserts) {
      auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
      if (!fill || !fill->hasOneUse() || fill->getBlock() != insert->getBlock() ||
          insert.getDestType().getRank() == 0 || !insert.hasUnitStride() ||
          insert.getSourceType().getRank() != insert.getDestType().getRank() ||
          !isWorthwhile(insert))
        continue;
      fillAround(rewriter, insert, fill);
      ++filled;
    }
  }

  /// For each dimension what lies before and behind, of the dimensions before it the part inside alone.
  static void fillAround(IRRewriter &rewriter, tensor::InsertSliceOp insert, linalg::FillOp fill) {
    const Location at = insert.getLoc();
    rewriter.setInsertionPoint(insert);
    Value image = fill.getOutputs()[0];
    const auto rank = unsigned(insert.getDestType().getRank());
    const SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1)),
        extents = tensor::getMixedSizes(rewriter, at, image), inside = insert.getMixedSizes(),
        first = insert.getMixedOffsets();
    SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)), sizes = extents;
    auto fillPart = [&] {
      if (llvm::any_of(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 0); }))
        return;
      Value part = tensor::ExtractSliceOp::create(rewriter, at, image, offsets, sizes, ones);
      part = linalg::FillOp::create(rewriter, at, fill.getInputs()[0], part).getResult(0);
      image = tensor::InsertSliceOp::create(rewriter, at, part, image, offsets, sizes, ones);
    };
    AffineExpr from, size, extent;
    bindSymbols(rewriter.getContext(), from, size, extent);
    for (unsigned dimension = 0; dimension < rank; ++dimension) {
      sizes[dimension] = first[dimension];
      fillPart();
      offsets[dimension] = affine::makeComposedFoldedAffineApply(
          rewriter, at, from + size, {first[dimension], inside[dimension]});
      sizes[dimension] = affine::makeComposedFoldedAffineApply(
          rewriter, at, extent - from - size,
          {first[dimension], inside[dimension], extents[dimension]});
      fillPart();
      offsets[dimension] = first[dimension];
      sizes[dimension] = inside[dimension];
    }
    rewriter.modifyOpInPlace(insert, [&] { insert.getDestMutable().assign(image); });
    rewriter.eraseOp(fill);
  }
};

} // namespace
