#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/QuantizedProducts.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMKEEPQUANTIZED
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct KeepQuantized : plim::ir::impl::PlimKeepQuantizedBase<KeepQuantized> {
  using PlimKeepQuantizedBase::PlimKeepQuantizedBase;

  void runOnOperation() override {
    const Host host = hostOf(getOperation());
    FixedValues fixed(getOperation());
    SmallVector<std::unique_ptr<QuantizedProduct>> products;
    SmallVector<func::FuncOp> functions; // those with some
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr)) // nothing is computed once for those
        continue;
      const size_t before = products.size();
      function.walk([&](linalg::LinalgOp op) {
        if (!op.hasPureTensorSemantics() || op->hasAttr(deviceAttr) ||
            llvm::any_of(op.getDpsInits(), constrainedAllocation))
          return;
        const std::optional<Product> product = productOf(op);
        if (!product || !fixed.isFixed(op->getOperand(product->panel)) || fixed.isFixed(op))
          return;
        if (auto quantized = QuantizedProduct::of(op, *product, host, strict))
          products.push_back(std::move(quantized));
      });
      if (products.size() > before)
        functions.push_back(function);
    }
    llvm::SmallPtrSet<Operation *, 8> narrow;
    for (const std::unique_ptr<QuantizedProduct> &product : products)
      narrow.insert(product->rewrite());
    kept += products.size();
    for (func::FuncOp function : functions)
      if (failed(sinkReshapes(function, narrow)))
        return signalPassFailure();
  }

  /// Elementwise ops behind such products, and behind each other, take the shape of what they read, so that they can be fused with it.
  LogicalResult sinkReshapes(func::FuncOp function,
                             const llvm::SmallPtrSetImpl<Operation *> &narrow) {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
      if (!consumer || !reshape || !makesElements(consumer) || hasPinnedResult(consumer))
        return false;
      auto producer = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
      return producer && (makesElements(producer) || narrow.contains(producer));
    });
    return applySoundPatterns(function, std::move(patterns));
  }
};

} // namespace
