#include "ir/Analysis/IterationSlices.h"
#include "ir/Analysis/Products.h"
#include "ir/Dispatch/KernelDispatches.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEFORALLS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// A loop over tensors whose iterations go to workgroups.
class ParallelLoop {
public:
  /// Nothing where the iterations have to stay with the function, or are better taken apart.
  static std::optional<ParallelLoop> of(scf::ForallOp loop, int64_t cores,
                                        int64_t inlineConstantBytes) {
    bool hasProducts = false;
    const WalkResult stays = loop.getRegion().walk([&](Operation *op) {
      auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      hasProducts |= linalgOp && productOf(linalgOp);
      return mayRunInWorkgroup(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    // The cores share each of a few products.
    if (stays.wasInterrupted() || (hasProducts && iterationsOf(loop).value_or(cores) < cores) ||
        !haveSlicesApart(loop))
      return std::nullopt;
    ParallelLoop result(loop, inlineConstantBytes);
    llvm::SetVector<Value> needed;
    needed.insert_range(loop.getDynamicLowerBound());
    needed.insert_range(loop.getDynamicUpperBound());
    needed.insert_range(loop.getDynamicStep());
    getUsedValuesDefinedAbove(loop.getRegion(), needed);
    for (Value value : needed) {
      if (result.isCheap(value))
        result.cheap.push_back(value);
      else if (canBeBound(value.getType()))
        result.inputs.push_back(value);
      else
        return std::nullopt;
    }
    return result;
  }

  /// Replaces the loop by a dispatch of a new function.
  void outline(SymbolTable &symbols, StringAttr host) {
    const Location at = loop.getLoc();
    func::FuncOp body =
        makeDispatchFunction(loop->getParentOfType<func::FuncOp>(), "forall", at, symbols);
    Block *entry = &body.front();
    OpBuilder inside = OpBuilder::atBlockEnd(entry);
    IRMapping mapping;
    for (Value value : inputs)
      mapping.map(value, entry->addArgument(value.getType(), value.getLoc()));
    for (Value value : cheap)
      inside.clone(*value.getDefiningOp(), mapping);
    auto clone = cast<scf::ForallOp>(inside.clone(*loop, mapping));
    // Its own, even where the loop reads the same tensor: destinations come last.
    for (OpOperand &output : clone.getOutputsMutable())
      output.set(entry->addArgument(output.get().getType(), output.get().getLoc()));
    func::ReturnOp::create(inside, at, clone.getResults());
    OpBuilder builder(loop);
    body.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), loop.getResultTypes()));
    auto dispatch = DispatchOp::create(builder, at, loop.getResultTypes(), body.getSymName(),
                                       inputs, SmallVector<Value>(loop.getOutputs()), ArrayAttr());
    dispatch->setAttr(deviceAttr, host);
    loop->replaceAllUsesWith(dispatch.getResults());
    loop.erase();
  }

private:
  ParallelLoop(scf::ForallOp loop, int64_t inlineConstantBytes)
      : loop(loop), inlineConstantBytes(inlineConstantBytes) {}

  /// All together, where they are known.
  static std::optional<int64_t> iterationsOf(scf::ForallOp loop) {
    std::optional<int64_t> all = 1;
    for (auto [lower, upper, step] :
         llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(), loop.getMixedStep())) {
      const std::optional<APInt> trips =
          constantTripCount(lower, upper, step, /*isSigned=*/true, scf::computeUbMinusLb);
      all = all && trips ? plim::checkedMul(*all, int64_t(trips->getLimitedValue(INT64_MAX)))
                         : std::nullopt;
    }
    return all;
  }

  /// Does the op compute from values alone, or check one?
  static bool mayRunInWorkgroup(Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        op->hasAttr(deviceAttr) || (linalgOp && !linalgOp.hasPureTensorSemantics()))
      return false;
    if (isa<RequireOp, cf::AssertOp, scf::InParallelOp, tensor::ParallelInsertSliceOp>(op))
      return true;
    // What is in its regions is looked at by itself.
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
           (isMemoryEffectFree(op) && !isa<CallOpInterface>(op));
  }

  /// Words, and tensors of them.
  static bool canBeBound(Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.getElementType().isIntOrIndexOrFloat();
    return !isa<MemRefType>(type) && plim::ir::canBeBound(type);
  }

  /// Constants that cost nothing in the code, as where dispatches are formed.
  bool isCheap(Value value) const {
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    auto elements = dyn_cast<ElementsAttr>(constant);
    return !elements || elements.isSplat() || isInlineConstant(constant, inlineConstantBytes);
  }

  scf::ForallOp loop;
  int64_t inlineConstantBytes;
  SmallVector<Value> inputs, cheap;
};

struct OutlineForalls : plim::ir::impl::PlimOutlineForallsBase<OutlineForalls> {
  using PlimOutlineForallsBase::PlimOutlineForallsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr) && !function->hasAttr(dispatchFunctionAttr) &&
          function.walk([](scf::ForallOp) { return WalkResult::interrupt(); }).wasInterrupted())
        functions.push_back(function);
    if (functions.empty())
      return;
    auto target = plim::targets::dlti::targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    const plim::targets::DeviceDescription &host = target->devices[0];
    SmallVector<ParallelLoop> loops;
    for (func::FuncOp function : functions)
      function.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
        std::optional<ParallelLoop> found = ParallelLoop::of(loop, host.cores, inlineConstantBytes);
        if (found)
          loops.push_back(*found);
        else
          ++kept;
        return found ? WalkResult::skip() : WalkResult::advance();
      });
    SymbolTable symbols(getOperation());
    for (ParallelLoop &loop : loops) {
      loop.outline(symbols, StringAttr::get(&getContext(), host.name));
      ++outlined;
    }
  }
};

} // namespace
