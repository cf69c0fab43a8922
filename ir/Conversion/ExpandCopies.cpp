#include "ir/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMEXPANDCOPIES
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct ExpandCopies : plim::ir::impl::PlimExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> expansions;
    getOperation().walk([&](memref::ExpandShapeOp op) { expansions.push_back(op); });
    for (memref::ExpandShapeOp op : expansions)
      expand(op);
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      auto source = cast<MemRefType>(copy.getSource().getType());
      auto target = cast<MemRefType>(copy.getTarget().getType());
      if (copy.getSource() == copy.getTarget()) {
        copy.erase();
        continue;
      }
      // What upstream and plim-lower-to-llvm make a call of memcpy of.
      auto isContiguous = [](MemRefType type) {
        return type.getLayout().isIdentity() ||
               (memref::isStaticShapeAndContiguousRowMajor(type) && type.getNumElements() > 0);
      };
      if ((isContiguous(source) && isContiguous(target)) ||
          (plim::ir::isRow(source) && plim::ir::isRow(target))) {
        ++missed;
        continue;
      }
      OpBuilder builder(copy);
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
      ++expanded;
    }
  }

  /// Upstream's expansion dies on a group with two dynamic extents.
  static void expand(memref::ExpandShapeOp op) {
    if (!op.getSrcType().getLayout().isIdentity() || op.getSrcType().getRank() == 0)
      return;
    OpBuilder builder(op);
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    Value view = memref::ReinterpretCastOp::create(
        builder, op.getLoc(), op.getResultType(), op.getSrc(), builder.getIndexAttr(0), sizes,
        memref::computeStridesIRBlock(op.getLoc(), builder, sizes));
    op.replaceAllUsesWith(view);
    op.erase();
  }
};

} // namespace
