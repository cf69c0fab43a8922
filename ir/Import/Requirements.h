// What must hold when a call comes to an op, as code in front of it.
//
// Arithmetic folds while it is made, so that what is known at load costs nothing: a requirement
// that always holds leaves no trace. One instance serves one op.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace plim::ir {

/// Is it in the body of a linalg op, which runs once for each element? A branch out of there would
/// keep the loops from being vectorised. Not where what is computed may decide that a loop goes on
/// for ever.
bool isInLateBody(mlir::Operation *op);

class Requirements {
public:
  /// Code is written in front of `op`.
  explicit Requirements(mlir::Operation *op);

  // Values are of type index, conditions i1. Sums and products wrap where nothing says otherwise.

  mlir::Value number(int64_t value);
  mlir::Value value(mlir::OpFoldResult value);
  mlir::Value extent(mlir::Value shaped, int64_t dimension);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// Rounds towards zero. The divisor is neither zero nor, of the smallest number, -1.
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Do `factors` multiply to `product`, which is not negative, none of them being negative?
  /// Whatever they are: no product wraps.
  mlir::Value isProduct(llvm::ArrayRef<mlir::Value> factors, mlir::Value product);

  /// The call fails if `condition` does not hold: with the place and the name of the op, then
  /// `message`, where {0}, {1}, ... stand for the values.
  void require(mlir::Value condition, const llvm::Twine &message, mlir::ValueRange values = {});

  /// For code of other kinds; it stands in front of the op.
  mlir::OpBuilder builder;
  /// Of those that do not hold by themselves.
  unsigned count = 0;

private:
  mlir::Operation *op;
  mlir::Location loc;
};

/// "argument #2 (%x)" for an argument of the function, without the name where its location has
/// none, "operand #1 (of 34:8)" for any other operand of `op`, with the line and column that it
/// comes from, where they are known.
std::string operandText(mlir::OpOperand &operand);

} // namespace plim::ir
