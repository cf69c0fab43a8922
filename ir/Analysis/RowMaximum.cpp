#include "ir/Analysis/RowMaximum.h"

#include "ir/Analysis/Reductions.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// The operand that a value in the body of an op is an element of.
OpOperand *operandOf(linalg::GenericOp op, Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  return argument && argument.getOwner() == op.getBody()
             ? &op->getOpOperand(argument.getArgNumber())
             : nullptr;
}

/// What makes the elements of an operand one by one, in the iterations of the op that reads them.
linalg::GenericOp makerOf(linalg::GenericOp op, OpOperand *operand) {
  auto maker = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!maker || maker.getNumReductionLoops() > 0 || maker->getNumResults() != 1 ||
      !op.getMatchingIndexingMap(operand).isIdentity() ||
      !maker.getMatchingIndexingMap(maker.getDpsInitOperand(0)).isIdentity())
    return {};
  return maker;
}

/// Pairs of elements that were compared already: what is used twice would be compared twice, and so all behind it.
using Compared = DenseSet<std::pair<Value, Value>>;

/// Is an element in the body of `op` the same as one in that of `other`, in the same iteration? One that was `compared` either is, or
/// the answer is no anyway.
bool isSame(linalg::GenericOp op, Value element, linalg::GenericOp other, Value its,
            Compared &compared) {
  if (!compared.insert({element, its}).second)
    return true;
  OpOperand *operand = operandOf(op, element), *otherOperand = operandOf(other, its);
  if (operand && otherOperand)
    return operand->get() == otherOperand->get() &&
           op.getMatchingIndexingMap(operand) == other.getMatchingIndexingMap(otherOperand);
  if (operand) {
    // The other op yields what this one reads.
    auto result = dyn_cast<OpResult>(operand->get());
    if (result && result.getOwner() == other && yielded(other, result) == its &&
        op.getMatchingIndexingMap(operand) ==
            other.getMatchingIndexingMap(other.getTiedOpOperand(result)))
      return true;
    linalg::GenericOp maker = makerOf(op, operand);
    return maker &&
           isSame(maker, yielded(maker, cast<OpResult>(maker->getResult(0))), other, its, compared);
  }
  if (otherOperand) {
    linalg::GenericOp maker = makerOf(other, otherOperand);
    return maker && isSame(op, element, maker, yielded(maker, cast<OpResult>(maker->getResult(0))),
                           compared);
  }
  Operation *def = element.getDefiningOp(), *otherDef = its.getDefiningOp();
  if (element == its) // of neither body
    return !def || def->getBlock() != op.getBody();
  if (!def || !otherDef || def->getBlock() != op.getBody() ||
      otherDef->getBlock() != other.getBody()) {
    // Constants may be in a body or in front of it.
    return def && otherDef && def->hasTrait<OpTrait::ConstantLike>() &&
           def->getName() == otherDef->getName() &&
           def->getAttrDictionary() == otherDef->getAttrDictionary();
  }
  return def->getName() == otherDef->getName() && def->getNumRegions() == 0 &&
         def->getNumOperands() == otherDef->getNumOperands() &&
         def->getAttrDictionary() == otherDef->getAttrDictionary() &&
         def->getResultTypes() == otherDef->getResultTypes() &&
         cast<OpResult>(element).getResultNumber() == cast<OpResult>(its).getResultNumber() &&
         llvm::all_of(llvm::zip(def->getOperands(), otherDef->getOperands()), [&](auto operands) {
           auto [first, second] = operands;
           return isSame(op, first, other, second, compared);
         });
}

} // namespace

Value plim::ir::yielded(linalg::GenericOp op, OpResult result) {
  return op.getMatchingYieldValue(op.getTiedOpOperand(result))->get();
}

bool plim::ir::subtractsRowMaximum(linalg::GenericOp op, arith::SubFOp difference) {
  OpOperand *operand = operandOf(op, difference.getRhs());
  auto result = operand ? dyn_cast<OpResult>(operand->get()) : OpResult();
  auto reduction = result ? dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
  if (!reduction || reduction.getNumReductionLoops() != 1 ||
      reduction.getNumLoops() != op.getNumLoops())
    return false;
  OpOperand *init = reduction.getTiedOpOperand(result);
  const std::optional<Combination> its =
      combinationOf(yielded(reduction, result), reduction.getMatchingBlockArgument(init));
  Compared compared;
  return its && isa<arith::MaximumFOp, arith::MaxNumFOp>(its->combiner) &&
         reduction.getMatchingIndexingMap(init) == op.getMatchingIndexingMap(operand) &&
         isSame(op, difference.getLhs(), reduction, its->element, compared);
}
