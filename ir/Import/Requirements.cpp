#include "ir/Import/Requirements.h"

#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace plim::ir;

bool plim::ir::isInLateBody(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (isa<scf::WhileOp>(op))
      return false;
    if (isa<linalg::LinalgOp>(op))
      return true;
  }
  return false;
}

Requirements::Requirements(Operation *op) : builder(op), op(op), loc(op->getLoc()) {
  // Nothing but the insertions themselves may stand between them.
  if (isa<InParallelOpInterface>(op->getParentOp()))
    builder.setInsertionPoint(op->getParentOp());
}

Value Requirements::number(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value Requirements::value(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value Requirements::extent(Value shaped, int64_t dimension) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(unsigned(dimension)))
    return number(type.getDimSize(unsigned(dimension)));
  return isa<TensorType>(type)
             ? builder.createOrFold<tensor::DimOp>(loc, shaped, number(dimension))
             : builder.createOrFold<memref::DimOp>(loc, shaped, number(dimension));
}

Value Requirements::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value Requirements::subtract(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value Requirements::multiply(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
Value Requirements::divide(Value a, Value b) {
  return builder.createOrFold<arith::DivSIOp>(loc, a, b);
}
Value Requirements::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}
Value Requirements::both(Value a, Value b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, b);
}
Value Requirements::either(Value a, Value b) {
  return builder.createOrFold<arith::OrIOp>(loc, a, b);
}
Value Requirements::choose(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}

Value Requirements::isProduct(ArrayRef<Value> factors, Value product) {
  using enum arith::CmpIPredicate;
  Value zero = number(0), one = number(1);
  Value isEmpty = compare(eq, product, zero);
  Value anyZero, fits, so = one;
  Value noneNegative;
  auto also = [&](Value &all, Value condition, bool isAnd) {
    all = !all ? condition : isAnd ? both(all, condition) : either(all, condition);
  };
  for (Value factor : factors) {
    also(noneNegative, compare(sge, factor, zero), true);
    also(anyZero, compare(eq, factor, zero), false);
    // Before it is multiplied: so * factor <= product.
    Value room = divide(product, choose(compare(sgt, factor, zero), factor, one));
    also(fits, compare(sle, so, room), true);
    so = multiply(so, factor);
  }
  if (!anyZero)
    return compare(eq, product, one);
  Value isSame = both(fits, compare(eq, so, product));
  return both(noneNegative, choose(isEmpty, anyZero, isSame));
}

void Requirements::require(Value condition, const Twine &message, ValueRange values) {
  if (matchPattern(condition, m_One()))
    return;
  std::string text = locationText(loc) + "'" + sourceName(op).str() + "': " + message.str();
  RequireOp::create(builder, loc, condition, text, values);
  ++count;
}

std::string plim::ir::operandText(OpOperand &operand) {
  auto argument = dyn_cast<BlockArgument>(operand.get());
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    auto named = dyn_cast<NameLoc>(argument.getLoc());
    // A location may be of any name: braces would stand for values, escapes are nobody's to print.
    const bool isName = named && llvm::all_of(named.getName().getValue(), [](char c) {
                          return llvm::isAlnum(c) || llvm::is_contained("_$.-", c);
                        });
    return "argument #" + std::to_string(argument.getArgNumber()) +
           (isName ? " (%" + named.getName().str() + ")" : "");
  }
  std::string text = "operand #" + std::to_string(operand.getOperandNumber());
  // Nothing but its place tells a reader which value it is.
  if (auto place = operand.get().getLoc()->findInstanceOf<FileLineColLoc>())
    text +=
        " (of " + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) + ")";
  return text;
}
