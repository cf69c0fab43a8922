#include "ir/Cleanup/Cleanup.h"
#include "ir/Import/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSPECIALIZEEXTENTS
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Has `value` the extents of `carried`, which the loop that it is in carries around?
bool keepsExtents(Value value, Value carried) {
  while (value != carried) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned position = result.getResultNumber();
      if (!keepsExtents(loop.getYieldedValues()[position], loop.getRegionIterArg(position)))
        return false;
      value = loop.getInitArgs()[position];
    } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(result)->get();
    } else if (auto widened = dyn_cast<tensor::CastOp>(op)) {
      value = widened.getSource();
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      unsigned dynamic = 0;
      for (int64_t d = 0; d < empty.getType().getRank(); ++d) {
        if (!empty.getType().isDynamicDim(d))
          continue;
        auto dim = empty.getDynamicSizes()[dynamic++].getDefiningOp<tensor::DimOp>();
        if (!dim || dim.getConstantIndex() != d || !keepsExtents(dim.getSource(), carried))
          return false;
      }
      return dynamic == cast<RankedTensorType>(carried.getType()).getNumDynamicDims();
    } else {
      return false;
    }
  }
  return true;
}

struct SpecializeExtents : plim::ir::impl::PlimSpecializeExtentsBase<SpecializeExtents> {
  using PlimSpecializeExtentsBase::PlimSpecializeExtentsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>(functionName);
    if (!function || !function.isPublic() || function.isExternal()) {
      module.emitError() << "there is no public function '" << functionName << "' to specialise";
      return signalPassFailure();
    }
    for (auto other : module.getOps<func::FuncOp>())
      if (other != function)
        other.setPrivate();
    OpPassManager drop(ModuleOp::getOperationName());
    drop.addPass(createSymbolDCEPass());
    if (failed(runPipeline(drop, module)))
      return signalPassFailure();
    // It would come back to itself with other extents.
    if (!SymbolTable::symbolKnownUseEmpty(function, module)) {
      function.emitError() << "functions of the module call '" << functionName
                           << "', which is to be specialised";
      return signalPassFailure();
    }
    if (failed(setExtents(function)))
      return signalPassFailure();
    OpPassManager propagate(ModuleOp::getOperationName());
    addCleanup(propagate);
    do {
      if (failed(runPipeline(propagate, module)))
        return signalPassFailure();
    } while (refineLoops(module));
    refineResults(function);
  }

  /// Values that loops carry get the static type of their first value, if they keep its extents.
  /// True if there was such a value.
  bool refineLoops(ModuleOp module) {
    IRRewriter rewriter(&getContext());
    auto castTo = [](OpBuilder &builder, Location loc, Type type, Value value) -> Value {
      return tensor::CastOp::create(builder, loc, type, value);
    };
    WalkResult found = module.walk([&](scf::ForOp loop) {
      for (OpOperand &init : loop.getInitArgsMutable()) {
        auto widened = init.get().getDefiningOp<tensor::CastOp>();
        if (!widened || widened.getType() == widened.getSource().getType() ||
            !tensor::preservesStaticInformation(widened.getType(), widened.getSource().getType()))
          continue;
        BlockArgument carried = loop.getTiedLoopRegionIterArg(&init);
        if (!keepsExtents(loop.getTiedLoopYieldedValue(carried)->get(), carried))
          continue;
        rewriter.setInsertionPoint(loop);
        rewriter.replaceOp(loop, scf::replaceAndCastForOpIterArg(rewriter, loop, init,
                                                                 widened.getSource(), castTo));
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return found.wasInterrupted();
  }

  /// Gives the arguments static types; the body sees the old ones through casts, which fold away.
  LogicalResult setExtents(func::FuncOp function) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    ArrayRef<int64_t> left = extents;
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<ShapedType>(argument.getType());
      if (!type || type.hasStaticShape())
        continue;
      SmallVector<int64_t> shape(type.getShape());
      for (int64_t &extent : shape) {
        if (!ShapedType::isDynamic(extent))
          continue;
        if (left.empty() || left.front() < 0)
          return refuse(function);
        extent = left.front();
        left = left.drop_front();
        ++specialized;
      }
      argument.setType(type.clone(shape));
      function.removeArgAttr(argument.getArgNumber(), boundsAttr);
      Location loc = argument.getLoc();
      Value dynamic;
      if (auto memref = dyn_cast<MemRefType>(type))
        dynamic = memref::CastOp::create(builder, loc, memref, argument);
      else
        dynamic = tensor::CastOp::create(builder, loc, type, argument);
      argument.replaceAllUsesExcept(dynamic, dynamic.getDefiningOp());
    }
    if (!left.empty())
      return refuse(function);
    function.setType(
        builder.getFunctionType(function.front().getArgumentTypes(), function.getResultTypes()));
    return success();
  }

  LogicalResult refuse(func::FuncOp function) {
    int64_t count = 0;
    for (Type type : function.getFunctionType().getInputs())
      if (auto shaped = dyn_cast<ShapedType>(type))
        count += shaped.getNumDynamicDims();
    return function.emitError() << "'" << functionName << "' has " << count
                                << " dynamic extents, to be specialised for as many that are not "
                                   "negative";
  }

  /// What is known of the results now becomes part of their types: a result that is a cast would
  /// not be made in the buffer of the caller.
  static void refineResults(func::FuncOp function) {
    SmallVector<Type> results(function.getResultTypes());
    auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
    if (returns.size() != 1)
      return;
    for (auto [operand, type] : llvm::zip(returns[0]->getOpOperands(), results)) {
      Operation *cast = operand.get().getDefiningOp();
      if (!isa_and_nonnull<tensor::CastOp, memref::CastOp>(cast))
        continue;
      auto source = dyn_cast<ShapedType>(cast->getOperand(0).getType());
      auto memref = dyn_cast<MemRefType>(source);
      if (!source.hasStaticShape() || (memref && !memref.getLayout().isIdentity()))
        continue;
      operand.set(cast->getOperand(0));
      type = source;
      if (cast->use_empty())
        cast->erase();
    }
    function.setType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), results));
  }
};

} // namespace
