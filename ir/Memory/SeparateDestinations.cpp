#include "ir/Memory/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSEPARATEDESTINATIONS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// How many ops may share a destination. The fewer, the less is there to compare; the more, the more of them find room in
/// what becomes a result of the function.
constexpr size_t mostSharing = 64;

/// Is the memory of a tensor made within the loop, or what the loop carries? Only what is written gets memory of its own, and its
/// analysis knows of that.
bool isOfLoop(Value value, scf::WhileOp loop) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loop->isProperAncestor(argument.getOwner()->getParentOp()) ||
           argument.getOwner()->getParentOp() == loop;
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op))
    return false;
  auto areOfLoop = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value each) {
      return !isa<TensorType>(each.getType()) || isOfLoop(each, loop);
    });
  };
  if (isa<DestinationStyleOpInterface, plim::ir::DispatchOp>(op))
    return true;
  const unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto inner = dyn_cast<LoopLikeOpInterface>(op))
    return areOfLoop(inner.getInits());
  if (isa<RegionBranchOpInterface>(op))
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return region.empty() || isOfLoop(region.front().getTerminator()->getOperand(number), loop);
    });
  return areOfLoop(op->getOperands());
}

/// What a `scf.while` hands on is copied where bufferization would make one buffer of it and another tensor without looking for
/// conflicts: what goes on twice, and what came about outside and begins the next round, which may write it.
void copyWhatIsShared(Operation *terminator) {
  auto loop = cast<scf::WhileOp>(terminator->getParentOp());
  llvm::SmallPtrSet<Value, 4> seen;
  for (OpOperand &operand : terminator->getOpOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        type && (!seen.insert(operand.get()).second ||
                 (isa<scf::YieldOp>(terminator) && !isOfLoop(operand.get(), loop)))) {
      OpBuilder builder(terminator);
      operand.set(bufferization::AllocTensorOp::create(builder, terminator->getLoc(), type,
                                                       ValueRange(), operand.get()));
    }
}

struct SeparateDestinations : plim::ir::impl::PlimSeparateDestinationsBase<SeparateDestinations> {
  void runOnOperation() override {
    llvm::MapVector<Operation *, SmallVector<OpOperand *>>
        uses; // of each, in the order of the source
    getOperation()->walk([&](Operation *op) {
      if (isa<scf::SCFDialect>(op->getDialect()) &&
          llvm::any_of(op->getResultTypes(), [](Type type) { return isa<MemRefType>(type); }))
        op->getParentOfType<func::FuncOp>()->setAttr(plim::ir::carriesBuffersAttr,
                                                     UnitAttr::get(op->getContext()));
      if (isa<scf::YieldOp, scf::ConditionOp>(op) && isa<scf::WhileOp>(op->getParentOp()))
        copyWhatIsShared(op);
      for (OpOperand &operand : op->getOpOperands()) {
        auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
        if (!empty || empty->hasOneUse())
          continue;
        if (isa<LoopLikeOpInterface>(op)) {
          operand.set(OpBuilder(op).clone(*empty)->getResult(0));
          ++separated;
        } else if (llvm::hasNItemsOrMore(empty->getUses(), mostSharing + 1)) {
          uses[empty].push_back(&operand);
        }
      }
    });
    for (auto &[empty, operands] : uses)
      // The last ones keep it.
      for (ArrayRef rest = ArrayRef(operands).drop_back(mostSharing); !rest.empty();) {
        ArrayRef group = rest.take_back(mostSharing);
        rest = rest.drop_back(group.size());
        OpBuilder builder(empty->getBlock()->findAncestorOpInBlock(*group.front()->getOwner()));
        Value own = builder.clone(*empty)->getResult(0);
        for (OpOperand *operand : group)
          operand->set(own);
        ++separated;
      }
  }
};

} // namespace
