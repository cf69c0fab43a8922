#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"
#include "planner/Planner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPLANMEMORY
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

constexpr int64_t slabAlignment = 64;

struct PlannedBuffer {
  memref::AllocOp allocation;
  memref::DeallocOp release;
};

struct PlanMemory : plim::ir::impl::PlimPlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    llvm::DenseSet<StringAttr> called;
    getOperation().walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!called.contains(function.getSymNameAttr()) && !function->hasAttr(kernelAttr) &&
          !function->hasAttr(dispatchFunctionAttr))
        plan(function);
  }

  void plan(func::FuncOp function) {
    // Positions in program order; a loop body's buffers live within one iteration, so the order of
    // the text is an order of lifetimes.
    DenseMap<Operation *, int64_t> position;
    function.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { position.try_emplace(op, position.size()); });

    SmallVector<PlannedBuffer> buffers;
    plim::planner::Problem problem;
    problem.alignment = slabAlignment;
    function.walk([&](memref::AllocOp allocation) {
      memref::DeallocOp release = releaseOf(allocation);
      MemRefType type = allocation.getType();
      if (!release || !type.hasStaticShape()) {
        ++missed;
        return;
      }
      int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
      buffers.push_back({allocation, release});
      problem.buffers.push_back({position[allocation], position[release] + 1, bytes});
    });
    if (buffers.empty())
      return;
    plim::planner::Plan plan = plim::planner::planGreedy(problem);

    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    Value context = ContextOp::create(builder, function.getLoc(), ContextType::get(&getContext()));
    auto slabType = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    Value slab = WorkspaceOp::create(builder, function.getLoc(), slabType, context);
    for (auto [buffer, offset] : llvm::zip(buffers, plan.offsets)) {
      builder.setInsertionPoint(buffer.allocation);
      Location loc = buffer.allocation.getLoc();
      Value shift = arith::ConstantIndexOp::create(builder, loc, offset);
      auto view = memref::ViewOp::create(builder, loc, buffer.allocation.getType(), slab, shift,
                                         ValueRange());
      for (StringRef name : {scopeAttr, reasonAttr})
        if (Attribute value = buffer.allocation->getAttr(name))
          view->setAttr(name, value);
      buffer.release.erase();
      buffer.allocation.replaceAllUsesWith(view.getResult());
      buffer.allocation.erase();
      ++planned;
    }
    function->setAttr(workspaceBytesAttr, builder.getI64IntegerAttr(plan.peak));
  }

  /// The one release of a buffer, if it stands in the block of the allocation.
  static memref::DeallocOp releaseOf(memref::AllocOp allocation) {
    memref::DeallocOp release;
    for (Operation *user : allocation->getUsers())
      if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
        if (release || dealloc->getBlock() != allocation->getBlock())
          return {};
        release = dealloc;
      }
    return release;
  }
};

} // namespace
