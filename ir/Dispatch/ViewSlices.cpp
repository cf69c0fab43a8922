#include "ir/Analysis/Destinations.h"
#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVIEWSLICES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// The analyses of slices that share a buffer grow with the third power of their number and more: 64 of
/// them took 4 s, 16 take 60 ms.
constexpr unsigned maxSlices = 16;

struct ViewSlices : plim::ir::impl::PlimViewSlicesBase<ViewSlices> {
  void runOnOperation() override {
    DenseMap<func::FuncOp, unsigned> slices;
    getOperation().walk([&](tensor::InsertSliceOp insert) {
      slices[insert->getParentOfType<func::FuncOp>()] += isDense(insert);
    });
    auto mayView = [&](tensor::InsertSliceOp insert) {
      return isDense(insert) && slices[insert->getParentOfType<func::FuncOp>()] <= maxSlices;
    };
    // The analysis is the price of all modules; those without slices need not pay it.
    if (!getOperation()
             .walk([&](tensor::InsertSliceOp insert) {
               return mayView(insert) ? WalkResult::interrupt() : WalkResult::advance();
             })
             .wasInterrupted())
      return;
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    bufferization::OneShotAnalysisState state(getOperation(), options);
    if (failed(bufferization::analyzeOp(getOperation(), state)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    auto extract = [&](RewriterBase &rewriter, SubsetInsertionOpInterface insertion,
                       tensor::EmptyOp empty, Operation *user) -> Value {
      auto insert = dyn_cast<tensor::InsertSliceOp>(insertion.getOperation());
      if (!insert || !mayView(insert))
        return {};
      ++views;
      return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
    };
    if (failed(bufferization::eliminateEmptyTensors(rewriter, getOperation(), state, extract)))
      signalPassFailure();
  }

  static bool isDense(tensor::InsertSliceOp insert) {
    return plim::ir::isDenseSlice(insert, insert.getDestType());
  }
};

} // namespace
