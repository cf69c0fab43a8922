#include "ir/Transforms/Destinations.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDECOUPLECONSTANTWRITES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct DecoupleConstantWrites
    : plim::ir::impl::PlimDecoupleConstantWritesBase<DecoupleConstantWrites> {
  void runOnOperation() override {
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics())
        return;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        DenseElementsAttr value;
        if (matchPattern(init.get(), m_Constant(&value)))
          decouple(op, init, value);
      }
    });
    getOperation().walk([&](tensor::InsertSliceOp op) {
      DenseElementsAttr value;
      if (matchPattern(op.getDest(), m_Constant(&value)))
        decouple(op, op.getDestMutable(), value);
    });
  }

  void decouple(Operation *op, OpOperand &init, DenseElementsAttr value) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(init.get().getType());
    Value destination =
        tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || plim::ir::readsDestination(linalgOp, init)) {
      // A complex number is no attribute that a constant could take.
      if (value.isSplat() && !isa<ComplexType>(type.getElementType())) {
        Value scalar = arith::ConstantOp::create(builder, loc, value.getSplatValue<TypedAttr>());
        destination = linalg::FillOp::create(builder, loc, scalar, destination).getResult(0);
      } else {
        destination = linalg::CopyOp::create(builder, loc, init.get(), destination).getResult(0);
        ++copied;
      }
    }
    init.set(destination);
    ++decoupled;
  }
};

} // namespace
