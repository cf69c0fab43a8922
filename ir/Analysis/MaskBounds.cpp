#include "ir/Analysis/MaskBounds.h"

#include "ir/Analysis/Products.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace plim::ir;

namespace {

constexpr unsigned mostSymbols = 4;

/// An integer of an op's body as a sum of loops, symbols and a constant.
class Sums {
public:
  explicit Sums(linalg::GenericOp op) : op(op) {}

  AffineExpr of(Value value) {
    MLIRContext *context = op.getContext();
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return small(getAffineConstantExpr(*constant, context));
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == op.getBody()) {
      if (auto index = dyn_cast<linalg::IndexOp>(def))
        return getAffineDimExpr(unsigned(index.getDim()), context);
      // Numbers of fewer bits may have been cut off.
      if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(def))
        return isWide(value) && isWide(def->getOperand(0)) ? of(def->getOperand(0)) : symbol(value);
      if (isa<arith::AddIOp>(def))
        return small(of(def->getOperand(0)) + of(def->getOperand(1)));
      if (isa<arith::SubIOp>(def))
        return small(of(def->getOperand(0)) - of(def->getOperand(1)));
      if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
        SmallVector<AffineExpr> operands;
        for (Value operand : apply.getOperands())
          operands.push_back(of(operand));
        const unsigned dims = apply.getAffineMap().getNumDims();
        return small(apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
            ArrayRef(operands).take_front(dims), ArrayRef(operands).drop_front(dims)));
      }
    }
    return symbol(value);
  }

  SmallVector<Value> symbols;
  /// Is each sum on the way so small that it fits in 32 bits, if symbols are small?
  bool areSmall = true;

private:
  AffineExpr small(AffineExpr sum) {
    const std::optional<SmallVector<int64_t>> factors =
        factorsOf(sum, op.getNumLoops(), unsigned(symbols.size()));
    areSmall =
        areSmall && factors && std::abs(factors->back()) < tooLargeForMasks &&
        llvm::all_of(
            ArrayRef(*factors).drop_back(), [](int64_t factor) { return std::abs(factor) <= 1; });
    return sum;
  }

  AffineExpr symbol(Value value) {
    auto found = llvm::find(symbols, value);
    const unsigned number = unsigned(found - symbols.begin());
    if (found == symbols.end())
      symbols.push_back(value);
    return getAffineSymbolExpr(number, op.getContext());
  }

  static bool isWide(Value value) {
    return value.getType().isIndex() || value.getType().getIntOrFloatBitWidth() >= 32;
  }

  linalg::GenericOp op;
};

/// That of numbers that are not negative; nothing if it is of equality.
std::optional<arith::CmpIPredicate> signedOf(arith::CmpIPredicate predicate) {
  using arith::CmpIPredicate;
  switch (predicate) {
  case CmpIPredicate::eq:
  case CmpIPredicate::ne:
    return std::nullopt;
  case CmpIPredicate::ult:
    return CmpIPredicate::slt;
  case CmpIPredicate::ule:
    return CmpIPredicate::sle;
  case CmpIPredicate::ugt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::uge:
    return CmpIPredicate::sge;
  default:
    return predicate;
  }
}

/// That of the numbers with the other sign.
arith::CmpIPredicate mirrored(arith::CmpIPredicate predicate) {
  using arith::CmpIPredicate;
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  default:
    return predicate;
  }
}

} // namespace

IndexSum plim::ir::indexSum(linalg::GenericOp op, Value value) {
  Sums sums(op);
  const AffineExpr expr = sums.of(value);
  return {sums.areSmall ? expr : AffineExpr(), std::move(sums.symbols)};
}

std::optional<SmallVector<int64_t>> plim::ir::factorsOf(AffineExpr sum, unsigned loops,
                                                        unsigned symbols) {
  SmallVector<int64_t> factors;
  if (failed(getFlattenedAffineExpr(sum, loops, symbols, &factors)) ||
      factors.size() != loops + symbols + 1)
    return std::nullopt;
  return factors;
}

SmallVector<MaskBound> plim::ir::maskBounds(linalg::GenericOp op, unsigned loop) {
  SmallVector<MaskBound> bounds;
  for (arith::CmpIOp comparison : op.getBody()->getOps<arith::CmpIOp>()) {
    using arith::CmpIPredicate;
    Sums sums(op);
    const AffineExpr left = sums.of(comparison.getLhs()), right = sums.of(comparison.getRhs());
    const std::optional<CmpIPredicate> known = signedOf(comparison.getPredicate());
    const bool isUnsigned = known && *known != comparison.getPredicate();
    const auto areSums = [&](AffineExpr sum) {
      const std::optional<SmallVector<int64_t>> factors =
          factorsOf(sum, op.getNumLoops(), unsigned(sums.symbols.size()));
      return factors && (!isUnsigned || llvm::all_of(*factors, [](int64_t f) { return f >= 0; }));
    };
    if (!known || !sums.areSmall || !areSums(left) || !areSums(right))
      continue;
    CmpIPredicate predicate = *known;
    AffineExpr difference = left - right;
    const std::optional<SmallVector<int64_t>> factors =
        factorsOf(difference, op.getNumLoops(), unsigned(sums.symbols.size()));
    if (!factors || sums.symbols.size() > mostSymbols || std::abs((*factors)[loop]) != 1 ||
        llvm::any_of(ArrayRef(*factors).drop_back(),
                     [](int64_t factor) { return std::abs(factor) > 1; }) ||
        std::abs(factors->back()) >= tooLargeForMasks)
      continue;
    // loop - rest, compared with 0.
    if ((*factors)[loop] < 0) {
      difference = -difference;
      predicate = mirrored(predicate);
    }
    const AffineExpr rest =
        getAffineDimExpr(loop, op.getContext()) - difference; // of the others alone
    const bool isAbove = predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sge;
    // It holds above or below the rest, and masks what it holds of, or the others.
    const AffineExpr last = isAbove ? (predicate == CmpIPredicate::sgt ? rest : rest - 1)
                                    : (predicate == CmpIPredicate::slt ? rest - 1 : rest);
    bounds.push_back({comparison, isAbove, /*isLast=*/true, isUnsigned, {last, sums.symbols}});
    bounds.push_back(
        {comparison, !isAbove, /*isLast=*/false, isUnsigned, {last + 1, sums.symbols}});
  }
  return bounds;
}

bool plim::ir::isMaskedByPlace(Value tensor) {
  llvm::SetVector<Value> open;
  open.insert(tensor);
  for (size_t i = 0; i < open.size(); ++i) {
    auto op = open[i].getDefiningOp<linalg::LinalgOp>();
    if (!op || op->getBlock() != tensor.getParentBlock() || productOf(op))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (generic && generic.getNumLoops() > 0 &&
        !maskBounds(generic, generic.getNumLoops() - 1).empty())
      return true;
    for (Value input : op.getDpsInputs())
      open.insert(input);
  }
  return false;
}
