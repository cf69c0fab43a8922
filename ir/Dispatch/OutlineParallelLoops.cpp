#include "ir/Analysis/BufferUses.h"
#include "ir/Analysis/LoopWork.h"
#include "ir/Dispatch/KernelDispatches.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Dispatch/SharedReductions.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/RegionUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEPARALLELLOOPS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Is the value the same wherever it is computed, from operands that may be captured instead?
bool isRecomputed(Operation *op) {
  return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<ViewLikeOpInterface>(op));
}

/// A loop of a kernel whose iterations go to workgroups.
class ParallelLoop {
public:
  /// Nothing where the iterations have to stay with the kernel, or are not worth a second task.
  static std::optional<ParallelLoop> of(scf::ParallelOp loop) {
    ParallelLoop result(loop);
    if (!isWorthTasks(loop) || !isSelfContained(loop))
      return std::nullopt;
    llvm::SetVector<Value> needed;
    needed.insert_range(loop->getOperands());
    getUsedValuesDefinedAbove(loop.getRegion(), needed);
    for (Value value : needed)
      if (!result.capture(value))
        return std::nullopt;
    return result;
  }

  /// Finds out what the kernel writes to. False if that is nothing that a dispatch can say: it
  /// would have no effect.
  bool findWritten(const BufferUses &uses) {
    for (Value value : captured)
      if (isa<MemRefType>(value.getType()) && uses.find(value).write)
        written.insert(value);
    return !written.empty();
  }

  /// Replaces the loop by a dispatch of a new function. Where only a call knows whether buffers
  /// overlap, and a loop inside has much to gain if they do not, by a choice of two.
  void outline(SymbolTable &symbols, StringAttr host) {
    OpBuilder builder(loop);
    const bool areWhole = llvm::all_of(
        captured, [](Value value) { return !isa<MemRefType>(value.getType()) || isWhole(value); });
    if (!areWhole || countArguments(captured.getArrayRef()) < 2) {
      dispatchAt(builder, "loop", areWhole, symbols, host);
    } else if (!hasLoops()) {
      dispatchAt(builder, "loop", /*areApart=*/false, symbols, host);
    } else {
      Value areApart = AreApartOp::create(builder, loop.getLoc(), builder.getI1Type());
      auto choice = scf::IfOp::create(builder, loop.getLoc(), areApart, /*withElseRegion=*/true);
      OpBuilder apart = choice.getThenBodyBuilder(), others = choice.getElseBodyBuilder();
      dispatchAt(apart, "loop_apart", /*areApart=*/true, symbols, host);
      dispatchAt(others, "loop", /*areApart=*/false, symbols, host);
    }
    loop.erase();
  }

private:
  explicit ParallelLoop(scf::ParallelOp loop) : loop(loop) {}

  /// Are there loops in an iteration? What such a loop adds to one place is kept in a register only
  /// if nothing that it reads can be at that place.
  bool hasLoops() {
    return loop.getRegion()
        .walk([](Operation *op) {
          return isa<LoopLikeOpInterface, linalg::LinalgOp>(op) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void dispatchAt(OpBuilder &builder, StringRef part, bool areApart, SymbolTable &symbols,
                  StringAttr host) {
    auto kernel = loop->getParentOfType<func::FuncOp>();
    const Location at = loop.getLoc();
    // Results of a dispatch come last.
    SmallVector<Value> inputs, outputs;
    SmallVector<Attribute> inputAccesses, outputAccesses;
    auto accessOf = [&](Access access) { return AccessAttr::get(builder.getContext(), access); };
    for (Value value : captured) {
      if (written.contains(value)) {
        outputs.push_back(value);
        outputAccesses.push_back(accessOf(Access::ReadWrite));
        continue;
      }
      inputs.push_back(value);
      if (isa<MemRefType>(value.getType()))
        inputAccesses.push_back(accessOf(Access::ReadOnly));
    }
    inputAccesses.append(outputAccesses);

    func::FuncOp body = makeDispatchFunction(kernel, part, at, symbols);
    body->setAttr(mayAliasAttr, builder.getUnitAttr());
    Block *entry = &body.front();
    IRMapping mapping;
    for (Value value : llvm::concat<Value>(inputs, outputs))
      mapping.map(value, entry->addArgument(value.getType(), value.getLoc()));
    body.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), {}));
    auto accesses = inputAccesses.begin();
    for (BlockArgument argument : entry->getArguments())
      if (isa<MemRefType>(argument.getType())) {
        body.setArgAttr(argument.getArgNumber(), accessAttr, *accesses++);
        if (areApart)
          body.setArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
      }
    OpBuilder inside = OpBuilder::atBlockEnd(entry);
    for (Operation *op : recomputed)
      inside.clone(*op, mapping);
    inside.clone(*loop, mapping);
    func::ReturnOp::create(inside, at);
    // plim-release-buffers finds out what an iteration is done with.
    body.walk([](memref::DeallocOp release) { release.erase(); });

    auto dispatch = DispatchOp::create(builder, at, TypeRange(), body.getSymName(), inputs, outputs,
                                       builder.getArrayAttr(inputAccesses));
    dispatch->setAttr(deviceAttr, host);
  }

  /// One workgroup is no gain over a loop.
  static bool isWorthTasks(scf::ParallelOp loop) {
    int64_t work = operationsOf(loop) + pointCost;
    for (int64_t trips : tripCountsOf(loop)) {
      if (ShapedType::isDynamic(trips))
        return true;
      work = plim::checkedMul(work, trips).value_or(INT64_MAX);
    }
    return work > workgroupCost;
  }

  /// Calls may lead to the host application, and what is allocated or freed is the kernel's, unless
  /// it is an iteration's own and of a size that is known.
  static bool isSelfContained(scf::ParallelOp loop) {
    auto isOwn = [&](Value buffer) {
      Operation *op = buffer.getDefiningOp();
      return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op) && loop->isAncestor(op) &&
             cast<MemRefType>(buffer.getType()).hasStaticShape();
    };
    auto isVariable = [](Operation *op) {
      auto get = dyn_cast<memref::GetGlobalOp>(op);
      return get && !isConstantMemory(get);
    };
    auto mayStay = [&](Operation *op) {
      if (isa<memref::AllocOp, memref::AllocaOp>(op))
        return isOwn(op->getResult(0));
      if (isa<memref::DeallocOp>(op))
        return isOwn(op->getOperand(0));
      // Upstream's release of buffers knows no other regions.
      const bool hasKnownRegions =
          op->getNumRegions() == 0 ||
          isa<RegionBranchOpInterface, linalg::LinalgOp, scf::ReduceOp>(op);
      return hasKnownRegions && !isVariable(op) && !isa<CallOpInterface, ContextOp>(op) &&
             !hasEffect<MemoryEffects::Allocate>(op) && !hasEffect<MemoryEffects::Free>(op);
    };
    return !loop.walk([&](Operation *op) {
                  return mayStay(op) ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// Takes the value along, or what it is computed from. False where that cannot be done.
  bool capture(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isRecomputed(op))
      return canBeBound(value.getType()) && (captured.insert(value), true);
    if (recomputed.contains(op))
      return true;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return capture(operand); }))
      return false;
    recomputed.insert(op); // behind what it needs
    return true;
  }

  scf::ParallelOp loop;
  llvm::SetVector<Value> captured;
  DenseSet<Value> written; // of those
  llvm::SetVector<Operation *> recomputed;
};

struct OutlineParallelLoops : plim::ir::impl::PlimOutlineParallelLoopsBase<OutlineParallelLoops> {
  using PlimOutlineParallelLoopsBase::PlimOutlineParallelLoopsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kernelAttr))
        kernels.push_back(function);
    SmallVector<ParallelLoop> loops;
    for (func::FuncOp kernel : kernels) {
      if (failed(useParallelLoops(kernel)))
        return signalPassFailure();
      kernel.walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
        std::optional<ParallelLoop> found = ParallelLoop::of(loop);
        if (found)
          loops.push_back(*found);
        else
          ++kept;
        return found ? WalkResult::skip() : WalkResult::advance();
      });
    }
    if (loops.empty())
      return;
    const StringAttr host = hostDevice(getOperation());
    if (!host)
      return signalPassFailure();
    // Before any loop is gone.
    const BufferUses uses(getOperation());
    llvm::erase_if(loops, [&](ParallelLoop &loop) { return !loop.findWritten(uses); });
    SymbolTable symbols(getOperation());
    for (ParallelLoop &loop : loops) {
      loop.outline(symbols, host);
      ++outlined;
    }
  }

  /// Loops of other dialects that say the same.
  LogicalResult useParallelLoops(func::FuncOp kernel) {
    SmallVector<scf::ForallOp> foralls;
    kernel.walk([&](scf::ForallOp forall) {
      if (forall.getNumResults() == 0)
        foralls.push_back(forall);
    });
    IRRewriter rewriter(kernel.getContext());
    for (scf::ForallOp forall : foralls) {
      rewriter.setInsertionPoint(forall);
      if (failed(scf::forallToParallelLoop(rewriter, forall)))
        return failure();
    }
    if (failed(lowerAffineParallels(kernel)))
      return failure();
    SmallVector<scf::ParallelOp> reducing;
    kernel.walk([&](scf::ParallelOp loop) {
      if (loop.getNumReductions() > 0)
        reducing.push_back(loop);
    });
    for (scf::ParallelOp loop : reducing) {
      // Others have their own tasks, and the order of the source is one.
      scf::ParallelOp part;
      if (!strict && !loop->getParentOfType<scf::ParallelOp>() && ParallelLoop::of(loop))
        part = shareReduction(rewriter, loop);
      carryResults(rewriter, part ? part : loop);
    }
    return success();
  }

  /// What reduces becomes loops that carry its results: they are vectorised, and look for stops, as those
  /// that were written so. In which order is open, so a vector at a time may be. Upstream's conversion
  /// refuses reductions.
  void carryResults(RewriterBase &rewriter, scf::ParallelOp loop) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(loop);
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
        loop.getInitVals(),
        [&](OpBuilder &builder, Location, ValueRange indices, ValueRange carried) {
          IRMapping mapping;
          mapping.map(loop.getInductionVars(), indices);
          for (Operation &op : loop.getBody()->without_terminator())
            builder.clone(op, mapping);
          auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
          SmallVector<Value> results;
          for (auto [region, value, sum] :
               llvm::zip_equal(reduce.getReductions(), reduce.getOperands(), carried)) {
            mapping.map(region.getArgument(0), sum);
            mapping.map(region.getArgument(1), mapping.lookupOrDefault(value));
            for (Operation &op : region.front().without_terminator())
              builder.clone(op, mapping);
            results.push_back(mapping.lookupOrDefault(
                cast<scf::ReduceReturnOp>(region.front().getTerminator()).getResult()));
            if (auto combines = results.back().getDefiningOp<arith::ArithFastMathInterface>();
                combines && !strict)
              combines->setAttr(combines.getFastMathAttrName(),
                                arith::FastMathFlagsAttr::get(
                                    &getContext(), combines.getFastMathFlagsAttr().getValue() |
                                                       arith::FastMathFlags::reassoc));
          }
          return results;
        });
    rewriter.replaceOp(loop, nest.results);
  }

  static LogicalResult lowerAffineParallels(func::FuncOp kernel) {
    if (!kernel.walk([](affine::AffineParallelOp) { return WalkResult::interrupt(); })
             .wasInterrupted())
      return success();
    RewritePatternSet patterns(kernel.getContext());
    populateAffineToStdConversionPatterns(patterns);
    populateAffineToVectorConversionPatterns(patterns);
    affine::populateAffineExpandIndexOpsPatterns(patterns);
    ConversionTarget target(*kernel.getContext());
    target.addIllegalDialect<affine::AffineDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};

} // namespace
