#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCOMPUTEINPLACE
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// The op in the block of `block` that `op` is, or is inside of; null if there is none.
Operation *ancestorIn(Block *block, Operation *op) { return block->findAncestorOpInBlock(*op); }

struct ComputeInPlace : plim::ir::impl::PlimComputeInPlaceBase<ComputeInPlace> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      for (int64_t result = 0; result < op.getNumDpsInits(); ++result)
        for (OpOperand *input : op.getDpsInputOperands())
          if (canTakeMemoryOf(op, *op.getDpsInitOperand(result), *input)) {
            takeMemoryOf(op, *op.getDpsInitOperand(result), *input);
            ++reused;
            break;
          }
  }

  /// Is a result of the op, an element for each iteration, memory of its own, where that of an operand, which nobody reads behind
  /// the op, would do?
  static bool canTakeMemoryOf(linalg::GenericOp op, OpOperand &init, OpOperand &input) {
    auto value = dyn_cast<OpResult>(input.get());
    return value && value.getOwner()->getBlock() == op->getBlock() &&
           value.getType() == init.get().getType() && hasElementOfEach(op, init) &&
           !op.payloadUsesValueFromOperand(&init) &&
           op.getMatchingIndexingMap(&input) == op.getMatchingIndexingMap(&init) &&
           isScratch(init.get()) && isScratch(value) &&
           llvm::all_of(value.getUses(), [&](OpOperand &use) {
             if (&use == &input)
               return true;
             Operation *user = ancestorIn(op->getBlock(), use.getOwner());
             return user && user != op && user->isBeforeInBlock(op);
           });
  }

  /// Has it been computed into memory that the function allocates?
  static bool isScratch(Value tensor) {
    for (Value whole = tensor; whole; whole = enclosing(whole))
      if (whole.getDefiningOp<tensor::EmptyOp>())
        return true;
    return false;
  }

  /// The body reads the old element in the place of the operand's.
  static void takeMemoryOf(linalg::GenericOp op, OpOperand &init, OpOperand &input) {
    const unsigned number = input.getOperandNumber();
    op.getMatchingBlockArgument(&input).replaceAllUsesWith(op.getMatchingBlockArgument(&init));
    init.set(input.get());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.erase(maps.begin() + number);
    op.getBody()->eraseArgument(number);
    op.getInputsMutable().erase(number);
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  }
};

} // namespace
