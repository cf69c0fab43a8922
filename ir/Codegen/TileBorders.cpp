#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMTILEBORDERS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct TileBorders : plim::ir::impl::PlimTileBordersBase<TileBorders> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<tensor::ExtractSliceOp> slices;
    function.walk([&](tensor::ExtractSliceOp slice) { slices.push_back(slice); });
    for (tensor::ExtractSliceOp slice : slices) {
      auto insert = slice.getSource().getDefiningOp<tensor::InsertSliceOp>();
      auto fill = insert ? insert.getDest().getDefiningOp<linalg::FillOp>() : linalg::FillOp();
      if (!fill || !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
          !insert.hasUnitStride() || !slice.hasUnitStride() ||
          insert.getSourceType().getRank() != insert.getDestType().getRank() ||
          slice.getType().getRank() != insert.getDestType().getRank())
        continue;
      OpBuilder builder(slice);
      Value memory = tensor::EmptyOp::create(builder, slice.getLoc(), slice.getMixedSizes(),
                                             slice.getType().getElementType());
      if (memory.getType() != slice.getType())
        continue;
      slice.getResult().replaceAllUsesWith(partWithBorder(builder, insert, fill.getInputs()[0],
                                                          memory, slice.getMixedOffsets(),
                                                          slice.getMixedSizes()));
      slice.erase();
      ++tiled;
      if (insert->use_empty())
        insert.erase();
    }
  }
};

} // namespace
