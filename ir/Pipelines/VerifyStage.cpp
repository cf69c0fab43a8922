#include "ir/Pipelines/VerifyStage.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Goes through a module once and says what does not hold.
class Verifier {
public:
  Verifier(ModuleOp module, StringRef stage) : module(module), stage(stage) {}

  LogicalResult run() {
    if (stage == "Import")
      verifyImport();
    else if (stage == "Dispatch")
      verifyDispatch();
    else if (stage == "Access")
      verifyAccess();
    else if (stage == "Codegen")
      verifyCodegen();
    else if (stage == "Memory")
      verifyMemory();
    else if (stage == "Schedule")
      module.walk([&](ScheduleOp schedule) { verifySchedule(schedule); });
    else if (stage == "Conversion")
      verifyConversion();
    else
      return module.emitError() << "there is no stage '" << stage << "'";
    return success(!hasFault);
  }

private:
  InFlightDiagnostic fault(Operation *op) {
    hasFault = true;
    return op->emitOpError() << "behind stage '" << stage << "' ";
  }

  static bool isBound(func::FuncOp function) {
    return function->hasAttr(dispatchFunctionAttr) || function->hasAttr(kernelAttr);
  }
  static bool computesOnTensors(Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && linalgOp.hasPureTensorSemantics();
  }

  void verifyImport() {
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<tosa::TosaDialect, ml_program::MLProgramDialect>(op->getDialect()))
        fault(op) << "should be another operation";
      else if (computesOnTensors(op) && !isa<linalg::GenericOp, linalg::FillOp>(op))
        fault(op) << "should be 'linalg.generic'";
    });
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr) && !function.isExternal() &&
          !function.getBody().hasOneBlock())
        fault(function) << "should have structured control flow alone";
  }

  void verifyDispatch() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(dispatchFunctionAttr))
        function.walk([&](Operation *op) {
          if (computesOnTensors(op))
            fault(op) << "should be in a dispatch";
        });
    module.walk([&](DispatchOp dispatch) {
      if (!dispatch->hasAttr(deviceAttr))
        fault(dispatch) << "should have a device";
    });
  }

  void verifyAccess() {
    module.walk([&](DispatchOp dispatch) {
      if (!dispatch.getAccessesAttr())
        fault(dispatch) << "should have its accesses";
    });
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!isBound(function) || function.isExternal())
        continue;
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
        if (isa<TensorType>(type))
          fault(function) << "should have no tensor as argument #" << i;
        else if (auto buffer = dyn_cast<MemRefType>(type);
                 buffer && !function.getArgAttr(i, accessAttr))
          fault(function) << "should say what it does to argument #" << i;
      }
    }
  }

  void verifyCodegen() {
    module.walk([&](Operation *op) {
      for (StringRef decision : {panelsAttr, registersAttr, workgroupsAttr})
        if (op->hasAttr(decision))
          fault(op) << "should have carried out '" << decision << "'";
    });
  }

  void verifyMemory() {
    module.walk([&](Operation *op) {
      if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
        fault(op) << "should have buffers as results";
      if (isa<memref::AllocOp, memref::AllocaOp>(op))
        fault(op) << "should be a 'plim.alloc'";
      else if (auto alloc = dyn_cast<AllocOp>(op);
               alloc && (!alloc.getCandidatesAttr() || !alloc.getAccessorsAttr()))
        fault(op) << "should have a place";
    });
    for (auto function : module.getOps<func::FuncOp>())
      verifyOffsets(function);
  }

  static bool liveAtTheSameTime(AllocOp a, AllocOp b) {
    ArrayRef<int64_t> first = *a.getLifetime(), second = *b.getLifetime();
    return first[0] < second[1] && second[0] < first[1];
  }
  /// Have they a byte of their slab or pool in common?
  static bool overlap(AllocOp a, AllocOp b) {
    if (!a.getOffset() || !b.getOffset() || !a.getBytes() || !b.getBytes() ||
        a.getScope() != b.getScope())
      return false;
    const auto beginA = static_cast<int64_t>(*a.getOffset());
    const auto beginB = static_cast<int64_t>(*b.getOffset());
    return beginA < beginB + static_cast<int64_t>(*b.getBytes()) &&
           beginB < beginA + static_cast<int64_t>(*a.getBytes());
  }

  void verifyOffsets(func::FuncOp function) {
    SmallVector<AllocOp> planned;
    function.walk([&](AllocOp alloc) {
      if (alloc.getOffset() && alloc.getLifetime())
        planned.push_back(alloc);
    });
    for (size_t i = 0; i < planned.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (liveAtTheSameTime(planned[i], planned[j]) && overlap(planned[i], planned[j]))
          (fault(planned[i]) << "lives at the same time in the same place as another")
                  .attachNote(planned[j].getLoc())
              << "the other one";
  }

  /// Of two dispatches of which neither waits for the other, does one write where the other has another buffer? That they
  /// share none the op verifies. Slices are left out: they may be apart.
  void verifySchedule(ScheduleOp schedule) {
    SmallVector<DispatchOp> dispatches(schedule.getBody().getOps<DispatchOp>());
    SmallVector<uint64_t> waits = ScheduleOp::closureOf(schedule.getPredecessorSets());
    for (size_t i = 0; i < dispatches.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (!(waits[i] >> j & 1) && conflict(dispatches[i], dispatches[j]))
          (fault(dispatches[i]) << "should wait for another that shares memory with it")
                  .attachNote(dispatches[j].getLoc())
              << "the other one";
  }
  static bool conflict(DispatchOp a, DispatchOp b) {
    for (OpOperand *x : a.getBindings())
      for (OpOperand *y : b.getBindings()) {
        if (a.getAccess(*x) == Access::ReadOnly && b.getAccess(*y) == Access::ReadOnly)
          continue;
        auto first = x->get().getDefiningOp<AllocOp>(), second = y->get().getDefiningOp<AllocOp>();
        if (first && second && first != second && overlap(first, second))
          return true;
      }
    return false;
  }

  void verifyConversion() {
    module.walk([&](Operation *op) {
      if (op != module && !isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        fault(op) << "should be of the LLVM dialect";
    });
  }

  ModuleOp module;
  StringRef stage;
  bool hasFault = false;
};

struct VerifyStage : PassWrapper<VerifyStage, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStage)

  VerifyStage() = default;
  VerifyStage(const VerifyStage &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "plim-verify-stage"; }
  StringRef getDescription() const override { return "Refuse IR that a stage should not leave"; }

  void runOnOperation() override {
    if (failed(verifyStage(getOperation(), after)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  Option<std::string> after{*this, "after", llvm::cl::desc("The stage, a folder of ir/")};
};

} // namespace

LogicalResult plim::ir::verifyStage(ModuleOp module, StringRef stage) {
  return Verifier(module, stage).run();
}

std::unique_ptr<Pass> plim::ir::createVerifyStage(StringRef stage) {
  auto pass = std::make_unique<VerifyStage>();
  pass->after = stage.str();
  return pass;
}
