#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSEPARATEDESTINATIONS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct SeparateDestinations : plim::ir::impl::PlimSeparateDestinationsBase<SeparateDestinations> {
  void runOnOperation() override {
    SmallVector<tensor::EmptyOp> shared;
    getOperation()->walk([&](tensor::EmptyOp op) {
      if (!op->use_empty() && !op->hasOneUse())
        shared.push_back(op);
    });
    for (tensor::EmptyOp op : shared) {
      SmallVector<OpOperand *> uses = llvm::to_vector(llvm::make_pointer_range(op->getUses()));
      for (OpOperand *use : llvm::drop_begin(uses)) {
        OpBuilder builder(use->getOwner());
        use->set(builder.clone(*op)->getResult(0));
        ++separated;
      }
    }
  }
};

} // namespace
