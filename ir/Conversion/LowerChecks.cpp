#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMLOWERCHECKS
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct LowerChecks : plim::ir::impl::PlimLowerChecksBase<LowerChecks> {
  void runOnOperation() override {
    // Tiling has copied checks: one flag for each message, in the order of the first of each.
    llvm::MapVector<StringAttr, Value> failed;
    SmallVector<plim::ir::CheckOp> checks;
    getOperation().walk([&](plim::ir::CheckOp check) { checks.push_back(check); });
    for (plim::ir::CheckOp check : checks)
      lower(check, failed[check.getMessageAttr()]);
    if (failed.empty())
      return;
    flags += failed.size();
    SmallVector<func::ReturnOp> returns;
    getOperation().walk([&](func::ReturnOp op) { returns.push_back(op); });
    for (func::ReturnOp op : returns) {
      OpBuilder builder(op);
      for (auto &[message, flag] : failed) {
        Location loc = flag.getLoc();
        Value value = memref::LoadOp::create(builder, loc, flag);
        Value zero = arith::ConstantIntOp::create(builder, loc, 0, 8);
        Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value, zero);
        auto assertion = cf::AssertOp::create(builder, loc, ok, message);
        if (getOperation()->hasAttr(plim::ir::kernelAttr))
          assertion->setAttr(plim::ir::impliedAttr, builder.getUnitAttr());
      }
    }
  }

  /// A byte of the frame. It comes after placement, with a place of its own.
  Value makeFlag(OpBuilder &entry, Location loc) {
    auto flag =
        plim::ir::AllocOp::create(entry, loc, MemRefType::get({}, entry.getI8Type()), ValueRange());
    flag.setScope("global.stack");
    flag.setAccessorsAttr(entry.getStrArrayAttr({}));
    flag.setCandidatesAttr(entry.getStrArrayAttr({"stack"}));
    flag.setBytes(1);
    if (auto sum = getOperation()->getAttrOfType<IntegerAttr>(plim::ir::stackSumAttr))
      getOperation()->setAttr(plim::ir::stackSumAttr, entry.getI64IntegerAttr(sum.getInt() + 1));
    return flag;
  }

  void lower(plim::ir::CheckOp check, Value &flag) {
    Location loc = check.getLoc();
    if (!flag) {
      OpBuilder entry = OpBuilder::atBlockBegin(&getOperation().front());
      flag = makeFlag(entry, loc);
      memref::StoreOp::create(entry, loc, arith::ConstantIntOp::create(entry, loc, 0, 8), flag);
    }
    OpBuilder builder(check);
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value bad =
        arith::ExtUIOp::create(builder, loc, builder.getI8Type(),
                               arith::XOrIOp::create(builder, loc, check.getCondition(), yes));
    Value old = memref::LoadOp::create(builder, loc, flag);
    memref::StoreOp::create(builder, loc, arith::OrIOp::create(builder, loc, old, bad), flag);
    check.replaceAllUsesWith(check.getCondition());
    check.erase();
  }
};

} // namespace
