#include "ir/Import/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMWIDENSTORAGEFLOATS
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using plim::ir::isStorageFloat;

namespace {

bool holdsStorageFloat(Type type) { return isStorageFloat(getElementTypeOrSelf(type)); }

/// Does it compute with storage floats? Conversions, and what only moves them, do not.
bool computes(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::SelectOp, arith::TruncFOp>(op))
    return false;
  return llvm::any_of(op->getOperandTypes(), holdsStorageFloat) ||
         llvm::any_of(op->getResultTypes(), holdsStorageFloat);
}

struct WidenStorageFloats : plim::ir::impl::PlimWidenStorageFloatsBase<WidenStorageFloats> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // The body of a named op is what its name says.
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op) &&
          op->walk([](Operation *nested) {
              return computes(nested) ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted())
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op))) {
        op.emitError() << "cannot be computed on storage floats";
        return signalPassFailure();
      }
    }
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (computes(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      widen(op);
  }

  /// f32 holds sums, products and quotients of storage floats closely enough for the second rounding to give
  /// what one rounding would.
  void widen(Operation *op) {
    OpBuilder builder(op);
    auto wide = [&](Type type) -> Type {
      if (auto shaped = dyn_cast<ShapedType>(type))
        return shaped.clone(builder.getF32Type());
      return builder.getF32Type();
    };
    for (OpOperand &operand : op->getOpOperands())
      if (holdsStorageFloat(operand.get().getType()))
        operand.set(arith::ExtFOp::create(builder, op->getLoc(), wide(operand.get().getType()),
                                          operand.get()));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type narrow = result.getType();
      if (!holdsStorageFloat(narrow))
        continue;
      result.setType(wide(narrow));
      auto rounded = arith::TruncFOp::create(builder, op->getLoc(), narrow, result);
      result.replaceAllUsesExcept(rounded, rounded);
    }
    ++widened;
  }
};

} // namespace
