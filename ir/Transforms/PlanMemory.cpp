#include "ir/Plim/Plim.h"
#include "ir/Transforms/Allocations.h"
#include "ir/Transforms/Passes.h"
#include "planner/Planner.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPLANMEMORY
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// PLIM_BUFFER_ALIGNMENT.
constexpr int64_t alignmentOfRuntime = 64;

struct PlannedBuffer {
  AllocOp alloc;
  Life life;
};

/// The buffers of a function that share one memory: the slab, the scratch of a worker, or a pool.
struct Region {
  SmallVector<PlannedBuffer> buffers;
  plim::planner::Problem problem;
};

struct PlanMemory : plim::ir::impl::PlimPlanMemoryBase<PlanMemory> {
  using PlimPlanMemoryBase::PlimPlanMemoryBase;

  void runOnOperation() override {
    FailureOr<plim::targets::TargetDescription> target =
        plim::targets::dlti::fromDlti(getOperation());
    if (failed(target))
      return signalPassFailure();
    alignment = workspaceAlignment(getOperation(), target->devices[0]);
    for (auto global : getOperation().getOps<memref::GlobalOp>())
      if (auto scope = global->getAttrOfType<StringAttr>(scopeAttr))
        if (StringRef pool = Scope::parse(scope.getValue())->pool; !pool.empty())
          pools.insert(pool);
    llvm::DenseSet<StringAttr> called = calledFunctions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration() && !called.contains(function.getSymNameAttr()) &&
          failed(plan(function)))
        return signalPassFailure();
    if (!pools.empty())
      getOperation()->setAttr(poolsAttr,
                              Builder(&getContext()).getStrArrayAttr(pools.getArrayRef()));
  }

  LogicalResult plan(func::FuncOp function) {
    Positions positions(function);
    llvm::MapVector<StringRef, Region> regions; // by pool, "" is the slab or the scratch
    function.walk([&](AllocOp alloc) {
      Scope scope = *Scope::parse(alloc.getScope());
      // The allocator aligns to cache lines only.
      bool isPlanned = policy != "heap" || scope.kind == Scope::Pool ||
                       int64_t(alloc.getAlignment().value_or(1)) > alignmentOfRuntime;
      if (scope.kind == Scope::Stack || !isPlanned)
        return;
      Life life = lifeOf(alloc);
      if (!alloc.getBytes() || life.escapes()) {
        ++missed;
        return;
      }
      Region &region = regions[scope.pool];
      auto [lower, upper] = interval(alloc, life, positions);
      region.buffers.push_back({alloc, life});
      plim::planner::Buffer &buffer = region.problem.buffers.emplace_back();
      buffer.lifetime = {{lower, upper}};
      buffer.bytes = int64_t(*alloc.getBytes());
      int64_t &needed = region.problem.pools[0].alignment;
      needed = std::max({needed, alignment, int64_t(alloc.getAlignment().value_or(1))});
    });

    Builder builder(&getContext());
    SmallVector<NamedAttribute> poolBytes;
    for (auto &[pool, region] : regions) {
      plim::planner::Plan plan = plim::planner::planGreedy(region.problem);
      if (!plan.isFound())
        return function.emitError() << "its buffers have no plan: " << plan.message;
      for (auto [buffer, times, offset] :
           llvm::zip(region.buffers, region.problem.buffers, plan.offsets)) {
        buffer.alloc.setOffset(offset);
        buffer.alloc.setLifetime(
            ArrayRef<int64_t>{times.lifetime[0].lower, times.lifetime[0].upper});
        if (buffer.life.release)
          buffer.life.release.erase();
        ++planned;
      }
      if (pool.empty()) {
        // The runtime aligns to cache lines; code rounds its base up to what is more.
        int64_t slabAlignment = region.problem.pools[0].alignment;
        int64_t bytes = plan.peaks[0] + slabAlignment - alignmentOfRuntime;
        function->setAttr(workspaceBytesAttr, builder.getI64IntegerAttr(bytes));
        function->setAttr(workspaceAlignmentAttr, builder.getI64IntegerAttr(slabAlignment));
        continue;
      }
      pools.insert(pool);
      poolBytes.push_back({pool, builder.getI64IntegerAttr(plan.peaks[0])});
    }
    if (!poolBytes.empty())
      function->setAttr(poolBytesAttr, builder.getDictionaryAttr(poolBytes));
    return success();
  }

private:
  int64_t alignment = 64;
  llvm::SetVector<StringRef> pools;
};

} // namespace
