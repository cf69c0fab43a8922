#include "ir/Codegen/QuantizedWeights.h"

#include "ir/Analysis/Destinations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Does it write all elements of one tensor, each once?
bool writesElements(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Do all nested ops compute numbers from numbers?
bool isArithmetic(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return inner.getDialect()->getNamespace() == arith::ArithDialect::getDialectNamespace() &&
           isPure(&inner);
  });
}

/// The integers that a number may be.
struct Integers {
  int64_t least, most;
  bool isOfBytes() const { return (least >= -128 && most < 128) || (least >= 0 && most < 256); }
};

/// Of integers that floats of 32 bits have, too; nothing for others.
std::optional<Integers> exactly(int64_t least, int64_t most) {
  constexpr int64_t furthest = int64_t(1) << 24;
  return least >= -furthest && most <= furthest ? std::optional(Integers{least, most})
                                                : std::nullopt;
}

std::optional<Integers> rangeOf(linalg::LinalgOp op, Value value);

/// Of the elements of an integer tensor, as what makes them says.
std::optional<Integers> rangeOfElements(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && writesElements(generic)
               ? rangeOf(generic, generic.getBody()->getTerminator()->getOperand(0))
               : std::nullopt;
  }
  return std::nullopt;
}

/// Is it an integer that a byte has room for? Such have a sign only where they are widened.
bool isNarrow(Type type) { return type.isInteger() && type.getIntOrFloatBitWidth() <= 8; }

/// Do integers of so many bits hold all of them, with a sign or without?
bool fit(Integers range, unsigned bits, bool isSigned) {
  const int64_t half = int64_t(1) << (bits - 1);
  return isSigned ? range.least >= -half && range.most < half
                  : range.least >= 0 && range.most < 2 * half;
}

/// Of a number in the body of an op that makes weights, if it is an integer, as an integer of more
/// than 8 bits or as a float of 32 or more. Bytes have a sign only where they are widened.
std::optional<Integers> rangeOf(linalg::LinalgOp op, Value value) {
  if (isa<FloatType>(value.getType()) && value.getType().getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock() || argument.getArgNumber() >= op.getNumDpsInputs() ||
        !argument.getType().isInteger() || argument.getType().getIntOrFloatBitWidth() <= 8)
      return std::nullopt;
    return rangeOfElements(op->getOperand(argument.getArgNumber()));
  }
  Operation *made = value.getDefiningOp();
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.isSignedIntN(32) ? exactly(integer.getSExtValue(), integer.getSExtValue())
                                    : std::nullopt;
  APFloat number(0.0F);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    APSInt exact(32, /*isUnsigned=*/false);
    bool isExact = false;
    if (number.convertToInteger(exact, APFloat::rmTowardZero, &isExact) != APFloat::opOK ||
        !isExact)
      return std::nullopt;
    return exactly(exact.getExtValue(), exact.getExtValue());
  }
  if (isa<arith::ExtSIOp, arith::SIToFPOp, arith::ExtUIOp, arith::UIToFPOp>(made)) {
    const bool isSigned = isa<arith::ExtSIOp, arith::SIToFPOp>(made);
    Value narrow = made->getOperand(0);
    const unsigned bits = std::min(narrow.getType().getIntOrFloatBitWidth(), 32U);
    if (bits <= 8 && isa<BlockArgument>(narrow)) {
      const auto argument = cast<BlockArgument>(narrow);
      std::optional<Integers> known;
      if (argument.getOwner() == op.getBlock() && argument.getArgNumber() < op.getNumDpsInputs())
        known = rangeOfElements(op->getOperand(argument.getArgNumber()));
      if (known && fit(*known, bits, isSigned))
        return known;
      return isSigned ? Integers{-(1 << (bits - 1)), (1 << (bits - 1)) - 1}
                      : Integers{0, (1 << bits) - 1};
    }
    std::optional<Integers> range = rangeOf(op, narrow);
    return range && fit(*range, bits, isSigned) ? range : std::nullopt;
  }
  if (auto masked = dyn_cast<arith::AndIOp>(made))
    return matchPattern(masked.getRhs(), m_ConstantInt(&integer)) && integer.isNonNegative() &&
                   integer.isIntN(32)
               ? exactly(0, integer.getSExtValue())
               : std::nullopt;
  if (auto cut = dyn_cast<arith::TruncIOp>(made)) {
    const unsigned bits = cut.getType().getIntOrFloatBitWidth();
    std::optional<Integers> range = rangeOf(op, cut.getIn());
    return range && bits <= 32 && (fit(*range, bits, true) || fit(*range, bits, false))
               ? range
               : std::nullopt;
  }
  const bool isSum = isa<arith::AddIOp, arith::AddFOp>(made);
  if (!isSum && !isa<arith::SubIOp, arith::SubFOp>(made))
    return std::nullopt;
  std::optional<Integers> left = rangeOf(op, made->getOperand(0)),
                          right = rangeOf(op, made->getOperand(1));
  // Narrower integers wrap.
  if (!left || !right ||
      (value.getType().isInteger() && value.getType().getIntOrFloatBitWidth() < 32))
    return std::nullopt;
  return isSum ? exactly(left->least + right->least, left->most + right->most)
               : exactly(left->least - right->most, left->most - right->least);
}

} // namespace

bool plim::ir::makesElements(linalg::LinalgOp op) {
  return writesElements(op) && !op.hasIndexSemantics() && !op->hasAttr(deviceAttr) &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

std::optional<SmallVector<unsigned>> plim::ir::loopsOf(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  return llvm::map_to_vector(
      map.getResults(), [](AffineExpr index) { return cast<AffineDimExpr>(index).getPosition(); });
}

std::optional<QuantizedWeights> plim::ir::quantizedWeightsOf(Value value) {
  const auto rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<SmallVector<unsigned>> dimensions; // of the result of the op that is looked at
  for (int64_t i = 0; i < rank; ++i)
    dimensions.push_back({unsigned(i)});
  auto replace = [&](function_ref<SmallVector<unsigned>(unsigned)> sources) {
    for (SmallVector<unsigned> &each : dimensions) {
      SmallVector<unsigned> next;
      for (unsigned dimension : each)
        llvm::append_range(next, sources(dimension));
      each = std::move(next);
    }
  };
  while (Operation *op = value.getDefiningOp()) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      const SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
      replace([&](unsigned dimension) {
        return llvm::map_to_vector(groups[dimension], [](int64_t each) { return unsigned(each); });
      });
      value = collapse.getSrc();
      continue;
    }
    auto maker = dyn_cast<linalg::LinalgOp>(op);
    if (!maker || !makesElements(maker) || hasPinnedResult(maker) || maker.getNumDpsInputs() == 0)
      return std::nullopt;
    const SmallVector<unsigned> written =
        *loopsOf(maker.getMatchingIndexingMap(maker.getDpsInitOperand(0)));
    replace([&](unsigned dimension) { return SmallVector<unsigned>{written[dimension]}; });
    Value made = maker.getBlock()->getTerminator()->getOperand(0);
    OpOperand *first = maker.getDpsInputOperand(0);
    std::optional<SmallVector<unsigned>> read = loopsOf(maker.getMatchingIndexingMap(first));
    if (maker.getNumDpsInputs() == 1 && made == maker.getBlock()->getArgument(0) && read &&
        read->size() == maker.getNumLoops()) {
      replace([&](unsigned loop) {
        return SmallVector<unsigned>{unsigned(llvm::find(*read, loop) - read->begin())};
      });
      value = first->get();
      continue;
    }
    if (!isa<FloatType>(made.getType()) || !isArithmetic(maker))
      return std::nullopt;
    std::optional<unsigned> narrow;
    for (OpOperand *input : maker.getDpsInputOperands()) {
      std::optional<SmallVector<unsigned>> loops = loopsOf(maker.getMatchingIndexingMap(input));
      if (!loops || !isa<RankedTensorType>(input->get().getType()))
        return std::nullopt;
      if (loops->size() < maker.getNumLoops())
        continue;
      if (narrow)
        return std::nullopt;
      narrow = input->getOperandNumber();
    }
    if (!narrow)
      return std::nullopt;
    return QuantizedWeights{maker, dimensions, *narrow};
  }
  return std::nullopt;
}

Value QuantizedWeights::weight() { return op.getBlock()->getTerminator()->getOperand(0); }
Value QuantizedWeights::number() { return op.getBlock()->getArgument(narrow); }

std::optional<StoredWeight> plim::ir::storedWeightOf(QuantizedWeights weights) {
  linalg::LinalgOp op = weights.op;
  Value value = weights.number();
  const bool isByte = value.getType().isInteger(8);
  std::optional<StoredWeight> stored;
  if (isByte)
    stored = StoredWeight{value, true};
  else if (std::optional<Integers> range = rangeOf(op, value))
    stored = StoredWeight{value, range->least < 0};
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user == op.getBlock()->getTerminator())
      break;
    value = user->getResult(0);
    if (isNarrow(value.getType()))
      continue;
    std::optional<Integers> range = rangeOf(op, value);
    if (!range)
      break;
    // What only widens a byte is not stored in its place: bytes are put in order without code.
    const bool isComputed = isa<arith::AddIOp, arith::AddFOp, arith::SubIOp, arith::SubFOp>(user);
    if (range->isOfBytes() && (isComputed || !isByte))
      stored = StoredWeight{value, range->least < 0};
  }
  return stored;
}

std::optional<ScaledWeight> plim::ir::scaledWeightOf(QuantizedWeights weights) {
  linalg::LinalgOp op = weights.op;
  const Value given = weights.number();
  auto needsNumber = [&](Value value) {
    return value == given || isUsedBy(given, opsFor(op, value));
  };
  ScaledWeight scaled;
  auto product = weights.weight().getDefiningOp<arith::MulFOp>();
  if (!product || !product.getType().isF32() ||
      needsNumber(product.getLhs()) == needsNumber(product.getRhs()))
    return std::nullopt;
  Value &left = scaled.number;
  left = product.getLhs();
  scaled.scale = product.getRhs();
  if (needsNumber(scaled.scale))
    std::swap(left, scaled.scale);
  std::optional<Integers> range; // as the last conversion says, which knows the sign of a byte
  while (left != given) {
    Operation *made = left.getDefiningOp();
    const bool isConversion =
        isa<arith::UIToFPOp, arith::SIToFPOp, arith::ExtUIOp, arith::ExtSIOp>(made);
    const bool takesZero = !scaled.zero && isa<arith::SubFOp, arith::AddFOp, arith::SubIOp>(made) &&
                           !needsNumber(made->getOperand(1));
    if (!isConversion && !takesZero)
      break; // computed in another way, of which the range is all that matters
    Value inner = made->getOperand(0);
    if (isConversion && inner != given && isNarrow(inner.getType()))
      break; // has no sign by itself
    range = rangeOf(op, left);
    // Integers that may wrap, or change with the sign that they are widened with, are something else.
    if (!range && !isa<arith::SubFOp, arith::AddFOp>(made))
      return std::nullopt;
    if (takesZero) {
      scaled.zero = made->getOperand(1);
      scaled.addsZero = isa<arith::AddFOp>(made);
      range.reset();
    }
    left = inner;
  }
  if (left != given || !range)
    range = rangeOf(op, left);
  if (!range || !range->isOfBytes())
    return std::nullopt;
  scaled.least = std::min<int64_t>(range->least, 0);
  const int64_t most = range->most - scaled.least;
  scaled.bits = most < 4 ? 2 : most < 16 ? 4 : 8;
  return scaled;
}

SetVector<Operation *> plim::ir::opsFor(linalg::LinalgOp op, ValueRange values, Value given) {
  SetVector<Operation *> needed;
  SmallVector<Value> open(values);
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *made = next.getDefiningOp();
    if (next != given && made && made->getBlock() == op.getBlock() && needed.insert(made))
      llvm::append_range(open, made->getOperands());
  }
  return needed;
}

bool plim::ir::isUsedBy(Value element, const SetVector<Operation *> &ops) {
  return llvm::any_of(element.getUsers(), [&](Operation *user) { return ops.contains(user); });
}

void plim::ir::cloneInto(OpBuilder &builder, linalg::LinalgOp op, const SetVector<Operation *> &ops,
                         IRMapping &mapping) {
  for (Operation &inner : op.getBlock()->without_terminator())
    if (ops.contains(&inner))
      builder.clone(inner, mapping);
}
