#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMTILEINSERTIONS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Elements of a workgroup: what is filled is still in the caches when it is written again.
constexpr int64_t workgroupElements = int64_t(1) << 14;
/// What a copied element costs, in scalar operations.
constexpr int64_t elementCost = 64;
/// Assumed of extents that are not known at load.
constexpr int64_t unknownExtent = 256;

int64_t assumed(int64_t extent) { return ShapedType::isDynamic(extent) ? unknownExtent : extent; }

struct TileInsertions : plim::ir::impl::PlimTileInsertionsBase<TileInsertions> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    tensor::InsertSliceOp insert;
    function.walk([&](bufferization::MaterializeInDestinationOp write) {
      insert = write.getSource().getDefiningOp<tensor::InsertSliceOp>();
    });
    // What is computed where it is inserted is tiled already.
    if (insert &&
        isa_and_nonnull<linalg::LinalgOp, scf::ForallOp>(insert.getSource().getDefiningOp()))
      return;
    if (!insert || !insert->hasOneUse() || !insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank())
      return;
    auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
    Value memory = fill ? fill.getDpsInits()[0] : insert.getDest();
    if (memory.getDefiningOp<bufferization::ToTensorOp>() && (!fill || fill->hasOneUse()))
      tile(function, insert, fill, memory);
  }

  void tile(func::FuncOp function, tensor::InsertSliceOp insert, linalg::FillOp fill,
            Value memory) {
    // Along the outermost dimension in which more than one element is written.
    ArrayRef<int64_t> shape = (fill ? insert.getDestType() : insert.getSourceType()).getShape();
    const auto *found = llvm::find_if(shape, [](int64_t extent) { return extent != 1; });
    if (found == shape.end())
      return;
    const auto split = size_t(found - shape.begin());
    int64_t ofRow = 1;
    for (int64_t extent : shape.drop_front(split + 1))
      ofRow = checkedMul(ofRow, assumed(extent)).value_or(INT64_MAX);
    const int64_t rows = std::max<int64_t>(1, workgroupElements / std::max<int64_t>(1, ofRow));
    if (assumed(*found) < 2 * rows)
      return;

    OpBuilder builder(insert);
    Location loc = insert.getLoc();
    MLIRContext *context = &getContext();
    AffineExpr a, b;
    bindSymbols(context, a, b);
    auto apply = [&](AffineExpr expression, ArrayRef<OpFoldResult> operands) {
      return affine::makeComposedFoldedAffineApply(builder, loc, expression, operands);
    };
    auto least = [&](ArrayRef<OpFoldResult> of) {
      return affine::makeComposedFoldedAffineMin(
          builder, loc, AffineMap::getMultiDimIdentityMap(unsigned(of.size()), context), of);
    };
    const OpFoldResult zero = builder.getIndexAttr(0), step = builder.getIndexAttr(rows);
    SmallVector<OpFoldResult> offsets = insert.getMixedOffsets(), sizes = insert.getMixedSizes(),
                              whole = tensor::getMixedSizes(builder, loc, memory);
    const size_t rank = whole.size();
    const SmallVector<OpFoldResult> zeros(rank, zero), ones(rank, builder.getIndexAttr(1));
    const OpFoldResult offset = offsets[split], size = sizes[split],
                       extent = fill ? whole[split] : size;
    auto forall = scf::ForallOp::create(builder, loc, {zero}, {extent}, {step}, {memory},
                                        /*mapping=*/std::nullopt);
    builder.setInsertionPointToStart(forall.getBody());
    const OpFoldResult first = forall.getInductionVar(0);
    const OpFoldResult count = least({apply(a - b, {extent, first}), step});
    Value shared = forall.getRegionIterArgs().front(), part;
    SmallVector<OpFoldResult> place, partSizes, fromOffsets = zeros;
    if (!fill) {
      place = offsets;
      partSizes = sizes;
      place[split] = apply(a + b, {offset, first});
      partSizes[split] = fromOffsets[split] = first;
      partSizes[split] = count;
      part = tensor::ExtractSliceOp::create(builder, loc, insert.getSource(), fromOffsets,
                                            partSizes, ones);
    } else {
      place = zeros;
      partSizes = whole;
      place[split] = first;
      partSizes[split] = count;
      part = tensor::ExtractSliceOp::create(builder, loc, shared, place, partSizes, ones);
      part = partWithBorder(builder, insert, fill.getInputs()[0], part, place, partSizes);
    }
    builder.setInsertionPointToStart(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(builder, loc, part, shared, place, partSizes, ones);
    insert.getResult().replaceAllUsesWith(forall.getResult(0));
    insert.erase();
    if (fill)
      fill.erase();
    function->setAttr(costAttr, builder.getI64IntegerAttr(
                                    checkedMul(elementCost * rows, ofRow).value_or(INT64_MAX)));
    ++tiled;
  }
};

} // namespace
