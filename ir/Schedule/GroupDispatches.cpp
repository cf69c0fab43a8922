#include "ir/Plim/Plim.h"
#include "ir/Schedule/Passes.h"
#include "ir/Schedule/SharedMemory.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMGROUPDISPATCHES
#include "ir/Schedule/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Dispatches of a group at most: each holds its buffers until the whole group is done.
constexpr size_t groupLimit = 16;
/// How many ops that touch memory are looked at behind the first dispatch of a group: keeps the
/// pass linear in long functions.
constexpr size_t lookahead = 64;

struct GroupDispatches : plim::ir::impl::PlimGroupDispatchesBase<GroupDispatches> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr) || function->hasAttr(dispatchFunctionAttr) ||
          function.isExternal())
        continue;
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) {
        if (isa<ScheduleOp>(block->getParentOp()))
          return;
        auto dispatches = block->getOps<DispatchOp>();
        if (llvm::hasNItemsOrMore(dispatches, 2))
          blocks.push_back(block);
        else
          missed += !dispatches.empty();
      });
      if (blocks.empty())
        continue;
      SharedMemory memory(function);
      for (Block *block : blocks)
        for (Operation *op = &block->front(); op; op = op->getNextNode())
          if (auto dispatch = dyn_cast<DispatchOp>(op); dispatch && isOnBuffers(dispatch))
            op = group(dispatch, memory);
    }
  }

  static bool isInPool(Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    return alloc &&
           (alloc.getCandidatePoolsAttr() || Scope::parse(alloc.getScope())->kind == Scope::Pool);
  }

  static bool isOnBuffers(DispatchOp dispatch) { return dispatch.getNumResults() == 0; }

  /// An op that may move ahead of the group, or a dispatch that joins it.
  struct Candidate {
    Operation *op;
    SmallVector<MemoryUse> uses;
    bool joins;
  };

  /// Groups `first` with those behind it that may run at the same time; returns what holds it then.
  Operation *group(DispatchOp first, SharedMemory &memory) {
    SmallVector<MemoryUse> ahead = *memory.usesOf(first); // of all that a later op can't pass
    llvm::SmallPtrSet<Operation *, 16> fixed = {first};   // where they stand
    SmallVector<Candidate> candidates;
    size_t members = 1, seen = 0;
    for (Operation *op = first->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode()) {
      std::optional<SmallVector<MemoryUse>> uses = memory.usesOf(op);
      if (!uses || (!uses->empty() && !isa<memref::DeallocOp>(op) && ++seen > lookahead))
        break;
      bool waits =
          memory.conflict(*uses, ahead) || llvm::any_of(op->getOperands(), [&](Value operand) {
            return fixed.contains(operand.getDefiningOp());
          });
      if (isAssertion(op)) {
        // What stands behind a check relies on it.
        if (waits || SharedMemory::writesVisibly(ahead))
          break;
      }
      auto dispatch = dyn_cast<DispatchOp>(op);
      bool joins = !waits && dispatch && isOnBuffers(dispatch);
      // A pool may have room for one buffer after the other only.
      waits |= isInPool(op);
      if (waits || joins) {
        fixed.insert(op);
        llvm::append_range(ahead, *uses);
      }
      if (!waits)
        candidates.push_back({op, std::move(*uses), joins});
      if (joins && ++members == groupLimit)
        break;
    }
    if (members == 1) {
      ++missed;
      return first;
    }

    // Other ops move only if a member of the group needs them, or an op that moves.
    llvm::SmallPtrSet<Operation *, 16> needed;
    SmallVector<MemoryUse> neededUses;
    SmallVector<Operation *> moved;
    for (Candidate &candidate : llvm::reverse(candidates)) {
      bool isNeeded = needed.contains(candidate.op) ||
                      memory.conflict(candidate.uses, neededUses) ||
                      (isAssertion(candidate.op) && !moved.empty());
      if (!candidate.joins && !isNeeded)
        continue;
      for (Value operand : candidate.op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          needed.insert(definition);
      llvm::append_range(neededUses, candidate.uses);
      moved.push_back(candidate.op);
    }

    OpBuilder builder(first);
    auto schedule = ScheduleOp::create(builder, first.getLoc(), /*predecessors=*/nullptr);
    Block &body = schedule.getBody().emplaceBlock();
    first->moveBefore(&body, body.end());
    for (Operation *op : llvm::reverse(moved)) {
      if (isa<DispatchOp>(op))
        op->moveBefore(&body, body.end());
      else
        op->moveBefore(schedule);
    }
    ++groups;
    grouped += members;
    return schedule;
  }
};

} // namespace
