#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/CastInterfaces.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCOUNTOPERATIONS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// Of one op: 0 or 1, those of all products of groups; nothing for arithmetic that is not of plain numbers.
std::optional<int64_t> operationsOf(Operation &op) {
  if (llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<ComplexType>(type); }))
    return std::nullopt;
  if (auto dot = dyn_cast<plim::ir::DotGroupsOp>(op))
    return 2 * dot.getNumProducts();
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
      op.hasTrait<OpTrait::ConstantLike>() ||
      isa<CastOpInterface, arith::CmpIOp, arith::CmpFOp, arith::SelectOp>(op))
    return 0;
  Type type = op.getResult(0).getType();
  return type.isIndex() || type.isInteger(1) ? 0 : 1;
}

/// Of all iterations.
std::optional<int64_t> operationsOf(linalg::LinalgOp op) {
  int64_t operations = 0;
  for (Operation &each : *op.getBlock()) {
    std::optional<int64_t> more = operationsOf(each);
    if (!more || each.getNumRegions() != 0)
      return std::nullopt;
    operations += *more;
  }
  if (operations == 0)
    return 0;
  std::optional<int64_t> all = operations;
  for (int64_t extent : op.getStaticLoopRanges())
    all = all && ShapedType::isStatic(extent) ? plim::checkedMul(*all, extent) : std::nullopt;
  return all;
}

std::optional<int64_t> operationsOf(func::FuncOp function) {
  std::optional<int64_t> all = 0;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<int64_t> more = 0;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp)
      more = operationsOf(linalgOp);
    // What is nested runs as often as only the op knows.
    else if (op != function && (op->getNumRegions() != 0 || isa<CallOpInterface>(op)))
      more = std::nullopt;
    all = all && more ? plim::checkedAdd(*all, *more) : std::nullopt;
    if (!all)
      return WalkResult::interrupt();
    return linalgOp ? WalkResult::skip() : WalkResult::advance();
  });
  return all;
}

struct CountOperations : plim::ir::impl::PlimCountOperationsBase<CountOperations> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(plim::ir::dispatchFunctionAttr))
      return;
    std::optional<int64_t> operations = operationsOf(function);
    if (!operations) {
      ++missed;
      return;
    }
    ++counted;
    function->setAttr(plim::ir::operationsAttr,
                      Builder(&getContext()).getI64IntegerAttr(*operations));
  }
};

} // namespace
