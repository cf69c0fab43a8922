#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPADSCRATCH
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// What rows are made longer by, in bytes: a line of the caches.
constexpr int64_t paddingBytes = 64;

struct PadScratch : plim::ir::impl::PlimPadScratchBase<PadScratch> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<tensor::EmptyOp> tensors;
    function.walk([&](tensor::EmptyOp op) { tensors.push_back(op); });
    for (tensor::EmptyOp op : tensors)
      if (wantsPadding(op)) {
        pad(op);
        ++padded;
      }
  }

  /// Do its rows fall on the same set of the nearest cache, and is it read and written by what takes rows that lie apart?
  static bool wantsPadding(tensor::EmptyOp op) {
    RankedTensorType type = op.getType();
    ArrayRef<int64_t> shape = type.getShape();
    if (shape.size() < 2 || ShapedType::isDynamic(shape.back()) || shape.back() == 0 ||
        shape.drop_back().back() == 1 || !type.getElementType().isIntOrFloat() ||
        type.getElementTypeBitWidth() % 8 != 0)
      return false;
    return shape.back() * (type.getElementTypeBitWidth() / 8) % cacheSetPeriod == 0 &&
           llvm::all_of(op->getUsers(), [](Operation *user) {
             return isa<linalg::LinalgOp, scf::ForOp, tensor::ExtractSliceOp>(user);
           });
  }

  static void pad(tensor::EmptyOp op) {
    RankedTensorType type = op.getType();
    OpBuilder builder(op);
    SmallVector<OpFoldResult> sizes = op.getMixedSizes(), whole = sizes;
    const int64_t padding = paddingBytes / (type.getElementTypeBitWidth() / 8);
    whole.back() = builder.getIndexAttr(type.getShape().back() + padding);
    Value memory = tensor::EmptyOp::create(builder, op.getLoc(), whole, type.getElementType());
    SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)),
        ones(sizes.size(), builder.getIndexAttr(1));
    Value rows =
        tensor::ExtractSliceOp::create(builder, op.getLoc(), type, memory, zeros, sizes, ones);
    op.getResult().replaceAllUsesWith(rows);
    op.erase();
  }
};

} // namespace
