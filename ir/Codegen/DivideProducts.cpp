#include "ir/Analysis/Products.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

/// What an op yields for a result.
Value yielded(linalg::GenericOp op, OpResult result) {
  return op.getMatchingYieldValue(op.getTiedOpOperand(result))->get();
}

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

/// Is it an exponential of what a maximum has been subtracted from?
bool isAtMostOne(Value exponentials) {
  auto op = exponentials.getDefiningOp<linalg::GenericOp>();
  Operation *exp = op ? yielded(op, cast<OpResult>(exponentials)).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exp))
    return false;
  auto difference = exp->getOperand(0).getDefiningOp<arith::SubFOp>();
  auto argument = difference ? dyn_cast<BlockArgument>(difference.getRhs()) : BlockArgument();
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return false;
  Value maximum = op.getDpsInputOperand(argument.getArgNumber())->get();
  auto reduction = maximum.getDefiningOp<linalg::GenericOp>();
  return reduction && reduction.getNumReductionLoops() == 1 &&
         isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(
             yielded(reduction, cast<OpResult>(maximum)).getDefiningOp());
}

/// Is `sum` that of the elements along one dimension?
bool isSumOf(Value sum, Value elements) {
  auto op = sum.getDefiningOp<linalg::GenericOp>();
  auto addition =
      op ? yielded(op, cast<OpResult>(sum)).getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  if (!addition || op.getNumReductionLoops() != 1)
    return false;
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getTiedOpOperand(cast<OpResult>(sum)));
  if (addition.getLhs() != accumulator && addition.getRhs() != accumulator)
    return false;
  Value added = addition.getLhs() == accumulator ? addition.getRhs() : addition.getLhs();
  if (auto argument = dyn_cast<BlockArgument>(added))
    return argument.getOwner() == op.getBody() &&
           op->getOperand(argument.getArgNumber()) == elements;
  return elements.getDefiningOp() == op && yielded(op, cast<OpResult>(elements)) == added;
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
    Value result = product->getResult(0);
    auto division = linalg::GenericOp::create(
        builder, product.getLoc(), result.getType(), quotient->divisor->get(), result,
        ArrayRef{AffineMap::get(rank, 0, dimensions, product.getContext()),
                 builder.getMultiDimIdentityMap(rank)},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [](OpBuilder &b, Location at, ValueRange arguments) {
          Value each = arith::DivFOp::create(b, at, arguments[1], arguments[0]);
          linalg::YieldOp::create(b, at, each);
        });
    result.replaceAllUsesExcept(division->getResult(0), division);
    factor.set(quotient->dividend->get());
    quotient->op->erase();
    return true;
  }
};

} // namespace
