#include "ir/Transforms/Destinations.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDECOUPLECONSTANTWRITES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct DecoupleConstantWrites
    : plim::ir::impl::PlimDecoupleConstantWritesBase<DecoupleConstantWrites> {
  void runOnOperation() override {
    SmallVector<OpOperand *> writes;
    getOperation().walk([&](arith::ConstantOp constant) {
      if (isa<RankedTensorType>(constant.getType()))
        for (OpOperand &use : constant->getUses())
          if (isDestination(use))
            writes.push_back(&use);
    });
    for (OpOperand *write : writes)
      decouple(*write);
  }

  /// Does bufferization give the result of the op the memory of the operand, if it may?
  static bool isDestination(OpOperand &operand) {
    Operation *op = operand.getOwner();
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return llvm::is_contained(
          llvm::map_range(loop.getInitsMutable(), [](OpOperand &init) { return &init; }), &operand);
    auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op);
    return destinationStyle && destinationStyle.isDpsInit(&operand);
  }

  void decouple(OpOperand &write) {
    Operation *op = write.getOwner();
    auto constant = write.get().getDefiningOp<arith::ConstantOp>();
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(write.get().getType());
    Value destination =
        tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || plim::ir::readsDestination(linalgOp, write)) {
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      // A complex number is no attribute that a constant could take.
      if (value && value.isSplat() && !isa<ComplexType>(type.getElementType())) {
        Value scalar = arith::ConstantOp::create(builder, loc, value.getSplatValue<TypedAttr>());
        destination = linalg::FillOp::create(builder, loc, scalar, destination).getResult(0);
      } else {
        destination = linalg::CopyOp::create(builder, loc, write.get(), destination).getResult(0);
        ++copied;
      }
    }
    write.set(destination);
    ++decoupled;
  }
};

} // namespace
