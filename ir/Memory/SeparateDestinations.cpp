#include "ir/Memory/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
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

/// Bufferization makes one buffer of it.
void copyWhatGoesOnTwice(Operation *terminator) {
  llvm::SmallPtrSet<Value, 4> seen;
  for (OpOperand &operand : terminator->getOpOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        type && !seen.insert(operand.get()).second) {
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
      if (isa<scf::YieldOp, scf::ConditionOp>(op) && isa<scf::WhileOp>(op->getParentOp()))
        copyWhatGoesOnTwice(op);
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
