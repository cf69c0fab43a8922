#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMRELEASEBUFFERS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct ReleaseBuffers : plim::ir::impl::PlimReleaseBuffersBase<ReleaseBuffers> {
  void getDependentDialects(DialectRegistry &registry) const override {
    PlimReleaseBuffersBase::getDependentDialects(registry);
    lowering().getDependentDialects(registry);
  }

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr))
        continue;
      separateResults(function);
      if (failed(bufferization::deallocateBuffersOwnershipBased(function, {}, symbols)))
        return signalPassFailure();
    }
    OpPassManager manager = lowering();
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }

  /// Each result is a buffer of its own to the caller: what is returned twice is cloned.
  static void separateResults(func::FuncOp function) {
    function.walk([](func::ReturnOp op) {
      llvm::SmallPtrSet<Value, 4> returned;
      for (OpOperand &operand : op->getOpOperands()) {
        Value buffer = operand.get();
        if (!isa<MemRefType>(buffer.getType()))
          continue;
        while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
          buffer = view.getViewSource();
        if (returned.insert(buffer).second)
          continue;
        OpBuilder builder(op);
        operand.set(bufferization::CloneOp::create(builder, op.getLoc(), operand.get()));
      }
    });
  }

  /// The rest of upstream's deallocation pipeline.
  static OpPassManager lowering() {
    OpPassManager manager(ModuleOp::getOperationName());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(bufferization::createBufferDeallocationSimplificationPass());
    manager.addPass(bufferization::createLowerDeallocationsPass());
    manager.addPass(createConvertBufferizationToMemRefPass());
    manager.addPass(createCSEPass());
    manager.addPass(createCanonicalizerPass());
    return manager;
  }
};

} // namespace
