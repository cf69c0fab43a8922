#include "ir/Transforms/Destinations.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVIEWSLICES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct ViewSlices : plim::ir::impl::PlimViewSlicesBase<ViewSlices> {
  void runOnOperation() override {
    // The analysis is the price of all modules; those without slices need not pay it.
    if (!getOperation().walk([](tensor::InsertSliceOp) { return WalkResult::interrupt(); })
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
      if (!insert || !plim::ir::isDenseSlice(insert, insert.getDestType()))
        return {};
      ++views;
      return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
    };
    if (failed(bufferization::eliminateEmptyTensors(rewriter, getOperation(), state, extract)))
      signalPassFailure();
  }
};

} // namespace
