#include "ir/Analysis/Borders.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSKIPBORDERS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// The loops around a read that add products with it to one sum, from the inside: where it is zero, so is all that they add.
SmallVector<scf::ForOp> loopsThatSum(vector::TransferReadOp read) {
  auto onlyUser = [](Value value) {
    return value.hasOneUse() ? *value.user_begin() : static_cast<Operation *>(nullptr);
  };
  Operation *user = onlyUser(read.getResult());
  while (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(user))
    user = onlyUser(user->getResult(0));
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(user))
    return {};
  Operation *sum = onlyUser(user->getResult(0));
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return {};
  // What is left of a body without the products of the read is its accumulator.
  Value accumulator = sum->getOperand(sum->getOperand(0) == user->getResult(0) ? 1 : 0),
        next = sum->getResult(0);
  SmallVector<scf::ForOp> loops;
  for (;;) {
    auto loop = dyn_cast<scf::ForOp>(next.getParentBlock()->getParentOp());
    if (!loop || loop.getNumRegionIterArgs() != 1 || loop.getRegionIterArg(0) != accumulator ||
        loop.getYieldedValues()[0] != next)
      return loops;
    loops.push_back(loop);
    accumulator = loop.getInitArgs()[0];
    next = loop.getResult(0);
  }
}

/// An index of a tensor as coefficient * iv + rest.
struct Position {
  int64_t coefficient;
  AffineExpr rest;
  SmallVector<Value> operands; // symbols of the rest, defined outside of the loop
};

std::optional<Position> positionIn(scf::ForOp loop, Value index) {
  MLIRContext *context = loop.getContext();
  AffineMap map = AffineMap::getMultiDimIdentityMap(1, context);
  SmallVector<Value> operands{index};
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  // All are symbols here.
  SmallVector<AffineExpr> symbols;
  std::optional<unsigned> iv;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    symbols.push_back(getAffineSymbolExpr(unsigned(number), context));
    if (operand != loop.getInductionVar())
      continue;
    if (iv)
      return std::nullopt;
    iv = unsigned(number);
  }
  if (!iv)
    return std::nullopt;
  const unsigned count = unsigned(operands.size());
  const ArrayRef<AffineExpr> all(symbols);
  const AffineExpr expr = map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()),
                                                                 all.drop_front(map.getNumDims()));
  auto at = [&](int64_t value) {
    return simplifyAffineExpr(expr.replace(symbols[*iv], getAffineConstantExpr(value, context)), 0,
                              count);
  };
  const AffineExpr rest = at(0);
  auto coefficient = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(at(1) - rest, 0, count));
  if (!coefficient || coefficient.getValue() <= 0 ||
      simplifyAffineExpr(expr - rest - symbols[*iv] * coefficient.getValue(), 0, count) != 0)
    return std::nullopt;
  for (auto [number, operand] : llvm::enumerate(operands))
    if (number != *iv && !loop.isDefinedOutsideOfLoop(operand))
      return std::nullopt;
  return Position{coefficient.getValue(), rest, std::move(operands)};
}

/// How many indices of each dimension of a tensor a read takes.
SmallVector<int64_t> extentsOf(vector::TransferReadOp read) {
  SmallVector<int64_t> extents(read.getIndices().size(), 1);
  for (auto [index, size] :
       llvm::zip(read.getPermutationMap().getResults(), read.getVectorType().getShape()))
    if (auto dimension = dyn_cast<AffineDimExpr>(index))
      extents[dimension.getPosition()] = size;
  return extents;
}

struct SkipBorders : plim::ir::impl::PlimSkipBordersBase<SkipBorders> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<vector::TransferReadOp> reads;
    getOperation().walk([&](vector::TransferReadOp read) { reads.push_back(read); });
    for (vector::TransferReadOp read : reads) {
      std::optional<Interior> interior = interiorOf(read.getBase());
      if (!interior || read.getMask())
        continue;
      for (scf::ForOp loop : loopsThatSum(read))
        for (auto [index, extent, offset, size] :
             llvm::zip(read.getIndices(), extentsOf(read), interior->offsets, interior->sizes))
          if (std::optional<Position> position = positionIn(loop, index))
            shorten(loop, *position, extent, offset, size);
    }
  }

  /// To the iterations in which something of what is read lies inside: those with offset - extent < index < offset + size.
  void shorten(scf::ForOp loop, const Position &position, int64_t extent, OpFoldResult offset,
               OpFoldResult size) {
    const std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                                 end = getConstantIntValue(loop.getUpperBound()),
                                 step = getConstantIntValue(loop.getStep());
    if (!begin || !end || step != 1)
      return;
    OpBuilder builder(loop);
    SmallVector<OpFoldResult> operands = getAsOpFoldResult(position.operands);
    // The induction variable is not in what remains.
    for (OpFoldResult &operand : operands)
      if (operand == OpFoldResult(loop.getInductionVar()))
        operand = builder.getIndexAttr(0);
    auto symbolOf = [&](OpFoldResult value) {
      operands.push_back(value);
      return builder.getAffineSymbolExpr(unsigned(operands.size() - 1));
    };
    for (OpFoldResult bound : {offset, size})
      if (auto value = dyn_cast_if_present<Value>(bound);
          value && !loop.isDefinedOutsideOfLoop(value))
        return;
    const AffineExpr inside = symbolOf(offset);
    const AffineExpr first = inside - position.rest - (extent - 1); // of coefficient * iv
    const IntegerAttr most = builder.getI64IntegerAttr(*end - *begin);
    if (mayBeLess(builder.getAffineConstantExpr(*begin * position.coefficient), first, operands)) {
      loop->setAttr(mostIterationsAttr, most);
      setBound(loop, /*isUpper=*/false, first.ceilDiv(position.coefficient), operands);
    }
    if (!size)
      return;
    const AffineExpr behind = inside + symbolOf(size) - position.rest;
    if (mayBeLess(behind, builder.getAffineConstantExpr((*end - 1) * position.coefficient + 1),
                  operands)) {
      loop->setAttr(mostIterationsAttr, most);
      setBound(loop, /*isUpper=*/true, behind.ceilDiv(position.coefficient), operands);
    }
  }

  static bool mayBeLess(AffineExpr left, AffineExpr right, ArrayRef<OpFoldResult> operands) {
    const unsigned count = unsigned(operands.size());
    SmallVector<int64_t> coefficients; // of the operands, and the constant
    if (failed(getFlattenedAffineExpr(left - right, 0, count, &coefficients)) ||
        coefficients.size() != count + 1)
      return true;
    int64_t least = coefficients.back();
    for (auto [coefficient, operand] : llvm::zip(coefficients, operands)) {
      if (coefficient == 0)
        continue;
      const std::optional<int64_t> extreme = extremeOf(operand, /*isLargest=*/coefficient < 0);
      if (!extreme)
        return true;
      least += coefficient * *extreme;
    }
    return least < 0;
  }

  /// Of what is constant, or the induction variable of a loop with constant bounds. Upstream's bounds of values do not know of steps.
  static std::optional<int64_t> extremeOf(OpFoldResult operand, bool isLargest) {
    if (std::optional<int64_t> value = getConstantIntValue(operand))
      return value;
    scf::ForOp loop = scf::getForInductionVarOwner(cast<Value>(operand));
    if (!loop)
      return std::nullopt;
    const std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                                 end = getConstantIntValue(loop.getUpperBound()),
                                 step = getConstantIntValue(loop.getStep());
    if (!begin || !end || !step || *begin >= *end)
      return std::nullopt;
    return isLargest ? *begin + (*end - 1 - *begin) / *step * *step : *begin;
  }

  void setBound(scf::ForOp loop, bool isUpper, AffineExpr bound, ArrayRef<OpFoldResult> operands) {
    OpBuilder builder(loop);
    const Location loc = loop.getLoc();
    SmallVector<OpFoldResult> all(operands);
    all.push_back(isUpper ? loop.getUpperBound() : loop.getLowerBound());
    const AffineMap bounds = AffineMap::get(
        0, unsigned(all.size()), {bound, builder.getAffineSymbolExpr(unsigned(all.size() - 1))},
        loop.getContext());
    const OpFoldResult folded =
        isUpper ? affine::makeComposedFoldedAffineMin(builder, loc, bounds, all)
                : affine::makeComposedFoldedAffineMax(builder, loc, bounds, all);
    Value value = getValueOrCreateConstantIndexOp(builder, loc, folded);
    if (isUpper)
      loop.setUpperBound(value);
    else
      loop.setLowerBound(value);
    ++shortened;
  }
};

} // namespace
