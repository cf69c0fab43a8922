#include "ir/Conversion/StorageFloats.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Sign, exponent and mantissa of a float, and what its largest bits mean.
struct Format {
  unsigned width, mantissa;
  int64_t bias;
  uint64_t largest, overflow, nan; // without sign

  static Format of(Type type) {
    if (isa<Float8E4M3FNType>(type))
      return {8, 3, 7, 0x7e, 0x7f, 0x7f};
    if (isa<Float8E5M2Type>(type))
      return {8, 2, 15, 0x7b, 0x7c, 0x7e};
    if (type.isF32())
      return {32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000};
    return {64, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000};
  }

  /// The bits of 2^exponent, which is normal.
  uint64_t power(int64_t exponent) const { return uint64_t(bias + exponent) << mantissa; }
  int64_t smallestExponent() const { return 1 - bias; }
};

/// Arithmetic on the bits of numbers or vectors of one shape.
class Bits {
public:
  Bits(Operation *op, Type shape) : b(op->getLoc(), op), shape(shape) {}

  /// The same number, or numbers, in another type.
  Type as(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type integer(unsigned width) { return as(b.getIntegerType(width)); }
  Value constant(Type type, uint64_t value) {
    TypedAttr element = b.getIntegerAttr(getElementTypeOrSelf(type), int64_t(value));
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, Attribute(element));
    return arith::ConstantOp::create(b, element);
  }
  template <typename OpT> Value op(Value value, uint64_t constantOperand) {
    return OpT::create(b, value, constant(value.getType(), constantOperand));
  }
  Value less(Value value, uint64_t limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                 constant(value.getType(), limit));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value cast(Type type, Value value) { return arith::BitcastOp::create(b, type, value); }

  ImplicitLocOpBuilder b;

private:
  Type shape;
};

Value extend(arith::ExtFOp op) {
  Bits bits(op, op.getType());
  Format from = Format::of(getElementTypeOrSelf(op.getIn().getType()));
  Type single = bits.as(bits.b.getF32Type()), word = bits.integer(32);
  Format to = Format::of(getElementTypeOrSelf(single));

  Value all =
      arith::ExtUIOp::create(bits.b, word, bits.cast(bits.integer(8), op.getIn())).getResult();
  Value sign = bits.op<arith::ShLIOp>(bits.op<arith::AndIOp>(all, 0x80), to.width - from.width);
  Value size = bits.op<arith::AndIOp>(all, 0x7f);
  Value normal = bits.op<arith::AddIOp>(bits.op<arith::ShLIOp>(size, to.mantissa - from.mantissa),
                                        uint64_t(to.bias - from.bias) << to.mantissa);
  // Below the normal numbers it is a count of the smallest one. A product of normal numbers: modes that take
  // what is not for zero do not matter.
  Value unit = bits.cast(
      single, bits.constant(word, to.power(from.smallestExponent() - int64_t(from.mantissa))));
  Value counted = bits.cast(
      word, arith::MulFOp::create(bits.b, arith::SIToFPOp::create(bits.b, single, size), unit));
  Value result = bits.select(bits.less(size, uint64_t(1) << from.mantissa), counted, normal);
  Value special = bits.constant(word, to.nan);
  if (from.overflow != from.nan)
    special =
        bits.select(bits.less(size, from.overflow + 1), bits.constant(word, to.overflow), special);
  result = bits.select(bits.less(size, from.largest + 1), result, special);
  Value number = bits.cast(single, arith::OrIOp::create(bits.b, result, sign));
  if (op.getType() == single)
    return number;
  // Exact, whatever the type.
  if (getElementTypeOrSelf(op.getType()).isF64())
    return arith::ExtFOp::create(bits.b, op.getType(), number);
  return arith::TruncFOp::create(bits.b, op.getType(), number);
}

Value truncate(arith::TruncFOp op) {
  Bits bits(op, op.getType());
  Value number = op.getIn();
  // From f64 on its own: by way of f32 a number could be rounded twice.
  if (!getElementTypeOrSelf(number.getType()).isF64() &&
      !getElementTypeOrSelf(number.getType()).isF32())
    number = arith::ExtFOp::create(bits.b, bits.as(bits.b.getF32Type()), number);
  Format from = Format::of(getElementTypeOrSelf(number.getType()));
  Format to = Format::of(getElementTypeOrSelf(op.getType()));
  Type word = bits.integer(from.width);

  Value all = bits.cast(word, number);
  Value size = bits.op<arith::AndIOp>(all, (uint64_t(1) << (from.width - 1)) - 1);
  unsigned dropped = from.mantissa - to.mantissa;
  // Half of a unit is added, or a little less if the unit is even: ties go to even.
  Value odd = bits.op<arith::AndIOp>(bits.op<arith::ShRUIOp>(size, dropped), 1);
  Value half = bits.op<arith::AddIOp>(odd, (uint64_t(1) << (dropped - 1)) - 1);
  Value rounded =
      bits.op<arith::ShRUIOp>(arith::AddIOp::create(bits.b, size, half).getResult(), dropped);
  Value normal = bits.op<arith::SubIOp>(rounded, uint64_t(from.bias - to.bias) << to.mantissa);
  Value result =
      bits.select(bits.less(normal, to.largest + 1), normal, bits.constant(word, to.overflow));
  // Below the normal numbers: a sum with the number whose unit is the smallest of the result rounds to it, and
  // has the count of it in its last bits.
  uint64_t magic = from.power(to.smallestExponent() - int64_t(to.mantissa) + from.mantissa);
  Value sum = arith::AddFOp::create(bits.b, bits.cast(number.getType(), size),
                                    bits.cast(number.getType(), bits.constant(word, magic)));
  Value counted = bits.op<arith::SubIOp>(bits.cast(word, sum), magic);
  result = bits.select(bits.less(size, from.power(to.smallestExponent())), counted, result);
  if (to.overflow != to.nan)
    result = bits.select(bits.less(size, from.overflow + 1), result, bits.constant(word, to.nan));
  Value sign = bits.op<arith::AndIOp>(bits.op<arith::ShRUIOp>(all, from.width - 8), 0x80);
  Value byte = arith::TruncIOp::create(bits.b, bits.integer(8),
                                       arith::OrIOp::create(bits.b, result, sign).getResult());
  return bits.cast(op.getType(), byte);
}

} // namespace

unsigned plim::ir::expandStorageFloats(Operation *root) {
  SmallVector<Operation *> conversions;
  root->walk([&](Operation *op) {
    if (auto extension = dyn_cast<arith::ExtFOp>(op);
        extension && isStorageFloat(getElementTypeOrSelf(extension.getIn().getType())))
      conversions.push_back(op);
    else if (auto truncation = dyn_cast<arith::TruncFOp>(op);
             truncation && isStorageFloat(getElementTypeOrSelf(truncation.getType())))
      conversions.push_back(op);
  });
  for (Operation *op : conversions) {
    auto extension = dyn_cast<arith::ExtFOp>(op);
    op->getResult(0).replaceAllUsesWith(extension ? extend(extension)
                                                  : truncate(cast<arith::TruncFOp>(op)));
    op->erase();
  }
  return unsigned(conversions.size());
}
