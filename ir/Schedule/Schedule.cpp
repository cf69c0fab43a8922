#include "ir/Plim/Plim.h"
#include "ir/Schedule/Passes.h"
#include "ir/Schedule/SharedMemory.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSCHEDULE
#include "ir/Schedule/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// A schedule that is being formed.
struct Members {
  SmallVector<DispatchOp> dispatches;
  SmallVector<SmallVector<MemoryUse>> uses; // of each
  SmallVector<MemoryUse> all;
  Operation *first = nullptr; // a dispatch or a group, which others stand ahead of
};

struct Schedule : plim::ir::impl::PlimScheduleBase<Schedule> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr) || function->hasAttr(dispatchFunctionAttr) ||
          function.isExternal())
        continue;
      llvm::SetVector<Block *> blocks;
      function.walk([&](DispatchOp dispatch) {
        Operation *op = dispatch;
        if (isa<ScheduleOp>(op->getParentOp()))
          op = op->getParentOp();
        blocks.insert(op->getBlock());
      });
      if (blocks.empty())
        continue;
      SharedMemory memory(function);
      for (Block *block : blocks)
        scheduleBlock(*block, memory);
    }
  }

  void scheduleBlock(Block &block, SharedMemory &memory) {
    Members members;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      SmallVector<DispatchOp> dispatches = dispatchesOf(op);
      if (!dispatches.empty()) {
        if (members.dispatches.size() + dispatches.size() > ScheduleOp::limit)
          finish(members, memory);
        if (!members.first)
          members.first = &op;
        for (DispatchOp dispatch : dispatches) {
          members.dispatches.push_back(dispatch);
          members.uses.push_back(*memory.usesOf(dispatch));
          llvm::append_range(members.all, members.uses.back());
        }
      } else if (members.first) {
        if (mayPass(op, members, memory))
          op.moveBefore(members.first);
        else
          finish(members, memory);
      }
    }
  }

  /// What `op` runs, if it may be part of a schedule.
  static SmallVector<DispatchOp> dispatchesOf(Operation &op) {
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      return dispatch.getNumResults() == 0 ? SmallVector<DispatchOp>{dispatch}
                                           : SmallVector<DispatchOp>();
    if (auto group = dyn_cast<ScheduleOp>(op))
      return llvm::to_vector(group.getBody().getOps<DispatchOp>());
    return {};
  }

  /// May `op` run ahead of the members?
  static bool mayPass(Operation &op, const Members &members, SharedMemory &memory) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      return false;
    std::optional<SmallVector<MemoryUse>> uses = memory.usesOf(&op);
    if (!uses || memory.conflict(*uses, members.all))
      return false;
    // What stands behind a check relies on it.
    return !isAssertion(&op) || !SharedMemory::writesVisibly(members.all);
  }

  void finish(Members &members, SharedMemory &memory) {
    Members formed = std::exchange(members, {});
    size_t count = formed.dispatches.size();
    if (count < 2)
      return;
    OpBuilder builder(formed.first);
    SmallVector<uint64_t> all(count, 0); // direct and through others
    SmallVector<Attribute> predecessors;
    for (size_t i = 0; i < count; ++i) {
      // From the last one back: what follows from another dependence is known by then.
      SmallVector<int64_t> direct;
      for (size_t j = i; j-- > 0;)
        if (!(all[i] >> j & 1) && memory.conflict(formed.uses[i], formed.uses[j])) {
          all[i] |= all[j] | uint64_t(1) << j;
          direct.insert(direct.begin(), int64_t(j));
        }
      dependences += direct.size();
      predecessors.push_back(builder.getDenseI64ArrayAttr(direct));
    }
    auto schedule =
        ScheduleOp::create(builder, formed.first->getLoc(), builder.getArrayAttr(predecessors));
    Block &body = schedule.getBody().emplaceBlock();
    llvm::SetVector<Operation *> groups;
    for (DispatchOp dispatch : formed.dispatches) {
      if (auto group = dyn_cast<ScheduleOp>(dispatch->getParentOp()))
        groups.insert(group);
      dispatch->moveBefore(&body, body.end());
    }
    for (Operation *group : groups)
      group->erase();
    ++schedules;
    scheduled += count;
  }
};

} // namespace
