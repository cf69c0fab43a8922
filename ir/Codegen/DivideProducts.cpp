#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Analysis/RowMaximum.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMDIVIDEPRODUCTS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// An elementwise op that does nothing but divide one operand, an element for each of its own, by another one.
struct Quotient {
  linalg::GenericOp op;
  OpOperand *dividend, *divisor;
};

std::optional<Quotient> quotientOf(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 ||
      op->getNumResults() != 1 || !llvm::hasSingleElement(op.getBody()->without_terminator()))
    return std::nullopt;
  auto division = dyn_cast<arith::DivFOp>(op.getBody()->front());
  if (!division)
    return std::nullopt;
  auto inputOf = [&](Value argument) -> OpOperand * {
    auto number = dyn_cast<BlockArgument>(argument);
    return number && number.getArgNumber() < op.getNumDpsInputs()
               ? op.getDpsInputOperand(number.getArgNumber())
               : nullptr;
  };
  OpOperand *dividend = inputOf(division.getLhs()), *divisor = inputOf(division.getRhs());
  if (!dividend || !divisor || !op.getMatchingIndexingMap(dividend).isIdentity() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getMatchingIndexingMap(divisor).isProjectedPermutation())
    return std::nullopt;
  return Quotient{op, dividend, divisor};
}

/// Is `result` the sum of elements along one dimension?
bool isSumOf(Value result, Value elements) {
  auto op = result.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() != 1)
    return false;
  const std::optional<Combination> its =
      combinationOf(yielded(op, cast<OpResult>(result)),
                    op.getMatchingBlockArgument(op.getTiedOpOperand(cast<OpResult>(result))));
  if (!its || !isa<arith::AddFOp>(its->combiner))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(its->element))
    return argument.getOwner() == op.getBody() &&
           op->getOperand(argument.getArgNumber()) == elements;
  return elements.getDefiningOp() == op && yielded(op, cast<OpResult>(elements)) == its->element;
}

/// Is it an exponential of elements from which their maximum has been subtracted?
bool isAtMostOne(Value exponentials) {
  auto op = exponentials.getDefiningOp<linalg::GenericOp>();
  Operation *exp = op ? yielded(op, cast<OpResult>(exponentials)).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exp))
    return false;
  auto difference = exp->getOperand(0).getDefiningOp<arith::SubFOp>();
  return difference && subtractsRowMaximum(op, difference);
}

struct DivideProducts : plim::ir::impl::PlimDivideProductsBase<DivideProducts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::GenericOp> products;
    function.walk([&](linalg::GenericOp op) {
      if (productOf(op))
        products.push_back(op);
    });
    for (linalg::GenericOp product : products)
      for (OpOperand *factor : product.getDpsInputOperands())
        if (divide(product, *factor)) {
          ++divided;
          break;
        }
  }

  /// Are there no iterations of the sum? Null if there are some.
  static Value hasNoTerms(OpBuilder &builder, linalg::GenericOp product, OpOperand &factor) {
    OpOperand *other = product.getDpsInputOperand(1 - factor.getOperandNumber());
    const Location at = product.getLoc();
    Value hasNone;
    for (auto [dimension, index] :
         llvm::enumerate(product.getMatchingIndexingMap(other).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      if (!loop ||
          product.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::reduction)
        continue;
      const OpFoldResult extent =
          tensor::getMixedSize(builder, at, other->get(), int64_t(dimension));
      if (const std::optional<int64_t> known = getConstantIntValue(extent); known && *known != 0)
        continue;
      Value isNone = arith::CmpIOp::create(builder, at, arith::CmpIPredicate::eq,
                                           getValueOrCreateConstantIndexOp(builder, at, extent),
                                           arith::ConstantIndexOp::create(builder, at, 0));
      hasNone = hasNone ? arith::OrIOp::create(builder, at, hasNone, isNone).getResult() : isNone;
    }
    return hasNone;
  }

  static bool divide(linalg::GenericOp product, OpOperand &factor) {
    std::optional<Quotient> quotient = quotientOf(factor.get());
    auto zeros = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!quotient || !quotient->op->hasOneUse() || !zeros ||
        !matchPattern(zeros.getInputs()[0], m_AnyZeroFloat()) || product->getNumResults() != 1 ||
        getElementTypeOrSelf(product->getResult(0)) !=
            getElementTypeOrSelf(quotient->divisor->get()) ||
        !isAtMostOne(quotient->dividend->get()) ||
        !isSumOf(quotient->divisor->get(), quotient->dividend->get()))
      return false;
    const AffineMap resultMap = product.getMatchingIndexingMap(product.getDpsInitOperand(0)),
                    factorMap = product.getMatchingIndexingMap(&factor);
    if (!resultMap.isProjectedPermutation() || !factorMap.isProjectedPermutation())
      return false;
    // Loops of the division are dimensions of the factor.
    const AffineMap divisorMap =
        quotient->op.getMatchingIndexingMap(quotient->divisor).compose(factorMap);
    SmallVector<AffineExpr> dimensions;
    for (AffineExpr loop : divisorMap.getResults()) {
      std::optional<unsigned> dimension = resultMap.getResultPosition(loop);
      if (!dimension)
        return false;
      dimensions.push_back(getAffineDimExpr(*dimension, product.getContext()));
    }
    const unsigned rank = resultMap.getNumResults();
    OpBuilder builder(product);
    builder.setInsertionPointAfter(product);
    Value result = product->getResult(0), hasNone = hasNoTerms(builder, product, factor);
    auto division = linalg::GenericOp::create(
        builder, product.getLoc(), result.getType(), quotient->divisor->get(), result,
        ArrayRef{AffineMap::get(rank, 0, dimensions, product.getContext()),
                 builder.getMultiDimIdentityMap(rank)},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &b, Location at, ValueRange arguments) {
          Value each = arith::DivFOp::create(b, at, arguments[1], arguments[0]);
          // A sum of nothing is zero, not divided by zero.
          if (hasNone)
            each = arith::SelectOp::create(b, at, hasNone, arguments[1], each);
          linalg::YieldOp::create(b, at, each);
        });
    result.replaceAllUsesExcept(division->getResult(0), division);
    factor.set(quotient->dividend->get());
    quotient->op->erase();
    return true;
  }
};

} // namespace
