// Positions: arithmetic of unsigned positions in a kernel, as ops where the kernel is being
// written.
//
//   Positions p(kernel);
//   mlir::Value row = p.quotient(position, width), column = p.remainder(position, width);
//
// Operands are indices, or truth values for both() and choose(). They are taken as unsigned and
// wrap; nothing looks for a divisor of zero. Nothing is folded here. Not for several threads.
#pragma once

#include "ir/Gpu/KernelWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace plim::ir::gpukernels {

/// Borrows the kernel and its builder.
class Positions {
public:
  explicit Positions(KernelWriter &kernel) : kernel(kernel), b(kernel.builder()) {}

  mlir::Value plus(mlir::Value x, mlir::Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  mlir::Value plus(mlir::Value x, int64_t y) { return plus(x, kernel.index(y)); }
  mlir::Value minus(mlir::Value x, mlir::Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  mlir::Value times(mlir::Value x, mlir::Value y) { return mlir::arith::MulIOp::create(b, x, y); }
  mlir::Value times(mlir::Value x, int64_t y) { return times(x, kernel.index(y)); }
  mlir::Value quotient(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivUIOp::create(b, x, y);
  }
  mlir::Value quotient(mlir::Value x, int64_t y) { return quotient(x, kernel.index(y)); }
  mlir::Value remainder(mlir::Value x, mlir::Value y) {
    return mlir::arith::RemUIOp::create(b, x, y);
  }
  mlir::Value remainder(mlir::Value x, int64_t y) { return remainder(x, kernel.index(y)); }
  mlir::Value exclusiveOr(mlir::Value x, mlir::Value y) {
    return mlir::arith::XOrIOp::create(b, x, y);
  }
  mlir::Value smaller(mlir::Value x, mlir::Value y) {
    return mlir::arith::MinUIOp::create(b, x, y);
  }
  mlir::Value isBelow(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ult, x, y);
  }
  mlir::Value isEqual(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, condition, x, y);
  }

private:
  KernelWriter &kernel;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace plim::ir::gpukernels
