#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        function.walk([&](memref::DeallocOp) { ++released; });
  }

  /// Each result is memory of its own to the caller, who releases it by its base: only an allocation
  /// that is returned once, whole, can be handed over; anything else is copied.
  void separateResults(func::FuncOp function) {
    function.walk([&](func::ReturnOp op) {
      llvm::SmallPtrSet<Value, 4> returned;
      for (OpOperand &operand : op->getOpOperands()) {
        Value buffer = operand.get();
        if (!isa<MemRefType>(buffer.getType()))
          continue;
        while (Operation *view = buffer.getDefiningOp()) {
          if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(view))
            break;
          buffer = view->getOperand(0);
        }
        if (isa_and_nonnull<memref::AllocOp, AllocOp>(buffer.getDefiningOp()) &&
            returned.insert(buffer).second)
          continue;
        OpBuilder builder(op);
        operand.set(bufferization::CloneOp::create(builder, op.getLoc(), operand.get()));
        ++cloned;
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
