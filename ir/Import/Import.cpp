#include "ir/Import/Donations.h"
#include "ir/Import/Externals.h"
#include "ir/Import/Generalize.h"
#include "ir/Import/Globals.h"
#include "ir/Import/Passes.h"
#include "ir/Import/Supported.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMIMPORT
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

bool usesTensors(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::any_of(function.getArgumentTypes(), isTensor) ||
      llvm::any_of(function.getResultTypes(), isTensor))
    return true;
  return function
      .walk([&](Operation *op) {
        if (llvm::any_of(op->getResultTypes(), isTensor) ||
            llvm::any_of(op->getOperandTypes(), isTensor) || isa<func::CallOp>(op))
          return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// A raw entry pointer exists for buffers and scalars in, at most one scalar out.
bool hasKernelSignature(func::FuncOp function) {
  return function.getNumResults() == 0 ||
         (function.getNumResults() == 1 && !isa<ShapedType>(function.getResultTypes()[0]));
}

struct Import : plim::ir::impl::PlimImportBase<Import> {
  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    SymbolTable symbols(module);
    unsigned externalCount = 0, globalCount = 0;
    if (failed(bindExternals(module, symbols, externalCount)) || failed(checkSupported(module)))
      return failure();
    SymbolTableCollection tables;
    const SymbolUserMap users(tables, module);
    module.walk([](cf::AssertOp assertion) {
      assertion.setMsg((locationText(assertion.getLoc()) + assertion.getMsg()).str());
    });
    if (failed(convertGlobals(module, symbols, users, globalCount)) || failed(generalize(module)))
      return failure();
    externals += externalCount;
    globals += globalCount;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (failed(checkDonations(function, users)))
        return failure();
      markFunction(function, users);
    }
    return success();
  }

  void markFunction(func::FuncOp function, const SymbolUserMap &users) {
    Builder builder(function.getContext());
    // One that others call keeps the signature that the calls were written for.
    if (!usesTensors(function) && hasKernelSignature(function) && users.useEmpty(function)) {
      function->setAttr(kernelAttr, builder.getUnitAttr());
      ++kernels;
      return;
    }
    // What the caller passes is the caller's, unless donated: results go to buffers of their own.
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<TensorType>(function.getArgument(i).getType()) && !function.getArgAttr(i, donateAttr))
        function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                            builder.getBoolAttr(false));
  }
};

} // namespace
