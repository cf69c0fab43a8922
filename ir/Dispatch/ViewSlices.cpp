#include "ir/Analysis/Destinations.h"
#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
    getOperation().walk([](tensor::InsertSliceOp insert) { readInserted(insert); });
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

  /// In a loop, what reads an elementwise result that is inserted as well takes it from there: then nothing else needs the result. Not where
  /// something else is inserted behind it: the slice would have to be read first.
  static void readInserted(tensor::InsertSliceOp insert) {
    auto source = insert.getSource().getDefiningOp<linalg::LinalgOp>();
    if (!isa<scf::ForOp>(insert->getParentOp()) || !source || source->getNumResults() != 1 ||
        source->getBlock() != insert->getBlock() || source.getNumReductionLoops() > 0 ||
        insert.getSourceType().getRank() != insert.getDestType().getRank() || source->hasOneUse() ||
        llvm::any_of(insert->getUses(), [](OpOperand &use) {
          auto other = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
          auto writer = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
          return (other && use.get() == other.getDest()) || (writer && writer.isDpsInit(&use));
        }))
      return;
    const bool areBehind = llvm::all_of(source->getUsers(), [&](Operation *user) {
      return user == insert || (user->getBlock() == insert->getBlock() &&
                                insert->isBeforeInBlock(user) && isa<linalg::LinalgOp>(user));
    });
    if (!areBehind)
      return;
    OpBuilder builder(insert->getContext());
    builder.setInsertionPointAfter(insert);
    Value part = tensor::ExtractSliceOp::create(builder, insert.getLoc(), insert.getSourceType(),
                                                insert.getResult(), insert.getMixedOffsets(),
                                                insert.getMixedSizes(), insert.getMixedStrides());
    insert.getSource().replaceAllUsesExcept(part, insert);
  }

  static bool isDense(tensor::InsertSliceOp insert) {
    return plim::ir::isDenseSlice(insert, insert.getDestType());
  }
};

} // namespace
