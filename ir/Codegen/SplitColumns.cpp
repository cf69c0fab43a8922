#include "ir/Codegen/SplitColumns.h"
#include "ir/Codegen/RowVectors.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// How far apart the columns are that all readers of an image take; nothing where one reads it in another way.
std::optional<int64_t> stepOfReaders(Value image) {
  std::optional<int64_t> step;
  for (Operation *user : image.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      return std::nullopt;
    for (Operation *reader : slice->getUsers()) {
      auto read = dyn_cast<vector::TransferReadOp>(reader);
      if (!read || read.hasOutOfBoundsDim())
        return std::nullopt;
      const std::optional<int64_t> its = stepOfRows(read);
      if (!its || *its < 2 || *its > mostStep || step.value_or(*its) != *its)
        return std::nullopt;
      step = its;
    }
  }
  return step;
}

void splitColumns(IRRewriter &rewriter, tensor::InsertSliceOp insert, linalg::FillOp fill,
                  int64_t step) {
  const RankedTensorType type = insert.getDestType();
  const int64_t rank = type.getRank(), last = rank - 1,
                columns = llvm::divideCeil(type.getDimSize(unsigned(last)), step),
                border = insert.getStaticOffset(unsigned(last)),
                inside = insert.getStaticSize(unsigned(last));
  const Location at = insert.getLoc();
  rewriter.setInsertionPoint(insert);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, at, insert.getDest());
  sizes.back() = rewriter.getIndexAttr(step * columns);
  Value image = tensor::EmptyOp::create(rewriter, at, sizes, type.getElementType());
  image = linalg::FillOp::create(rewriter, at, fill.getInputs()[0], image).getResult(0);
  SmallVector<OpFoldResult> ones(size_t(rank), rewriter.getIndexAttr(1));
  const AffineMap identity =
      AffineMap::getMultiDimIdentityMap(unsigned(rank), rewriter.getContext());
  SmallVector<AffineExpr> indices(identity.getResults());
  indices.back() = indices.back() * step;
  const AffineMap taken = AffineMap::get(unsigned(rank), 0, indices, rewriter.getContext());
  for (int64_t phase = 0; phase < step; ++phase) {
    // The first of the columns inside that are of this phase.
    const int64_t first = llvm::mod(phase - border, step),
                  count = first < inside ? llvm::divideCeil(inside - first, step) : 0;
    if (count == 0)
      continue;
    SmallVector<OpFoldResult> from(size_t(rank), rewriter.getIndexAttr(0)),
        into = insert.getMixedOffsets(), extents = insert.getMixedSizes();
    from.back() = rewriter.getIndexAttr(first);
    extents.back() = rewriter.getIndexAttr(step * (count - 1) + 1);
    Value part =
        tensor::ExtractSliceOp::create(rewriter, at, insert.getSource(), from, extents, ones);
    into.back() = rewriter.getIndexAttr(phase * columns + (border + first) / step);
    extents.back() = rewriter.getIndexAttr(count);
    Value memory = tensor::ExtractSliceOp::create(rewriter, at, image, into, extents, ones);
    Value copy = linalg::GenericOp::create(
                     rewriter, at, memory.getType(), part, memory, {taken, identity},
                     SmallVector<utils::IteratorType>(size_t(rank), utils::IteratorType::parallel),
                     [](OpBuilder &b, Location loc, ValueRange elements) {
                       linalg::YieldOp::create(b, loc, elements[0]);
                     })
                     .getResult(0);
    image = tensor::InsertSliceOp::create(rewriter, at, copy, image, into, extents, ones);
  }
  for (Operation *user : llvm::make_early_inc_range(insert->getUsers())) {
    auto slice = cast<tensor::ExtractSliceOp>(user);
    rewriter.setInsertionPoint(slice);
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), strides = slice.getMixedStrides();
    AffineExpr column;
    bindSymbols(rewriter.getContext(), column);
    offsets.back() = affine::makeComposedFoldedAffineApply(
        rewriter, slice.getLoc(), (column % step) * columns + column.floorDiv(step),
        {offsets.back()});
    strides.back() = rewriter.getIndexAttr(1);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(slice, slice.getType(), image, offsets,
                                                        slice.getMixedSizes(), strides);
  }
  rewriter.eraseOp(insert);
}

} // namespace

int64_t plim::ir::splitColumns(IRRewriter &rewriter, func::FuncOp function) {
  int64_t split = 0;
  SmallVector<tensor::InsertSliceOp> inserts;
  function.walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
  for (tensor::InsertSliceOp insert : inserts) {
    auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
    const RankedTensorType type = insert.getDestType();
    const unsigned last = unsigned(type.getRank()) - 1;
    if (type.getRank() == 0 || !fill || !fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>() ||
        insert.getSourceType().getRank() != type.getRank() || !insert.hasUnitStride() ||
        type.isDynamicDim(last) || insert.isDynamicOffset(last) || insert.isDynamicSize(last))
      continue;
    const std::optional<int64_t> step = stepOfReaders(insert.getResult());
    if (!step)
      continue;
    ::splitColumns(rewriter, insert, fill, *step);
    ++split;
  }
  return split;
}
