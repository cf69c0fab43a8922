#include "ir/Memory/Allocations.h"
#include "ir/Memory/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVERIFYPLACEMENT
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct VerifyPlacement : plim::ir::impl::PlimVerifyPlacementBase<VerifyPlacement> {
  void runOnOperation() override {
    bool ok = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        ok &= succeeded(verify(function));
    if (!ok)
      signalPassFailure();
  }

  LogicalResult verify(func::FuncOp function) {
    bool ok = true;
    int64_t onStack = 0;
    function.walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
        op->emitError("was allocated after placement: no stage may do that");
        ok = false;
      } else if (auto alloc = dyn_cast<AllocOp>(op)) {
        ok &= succeeded(verify(alloc));
        if (Scope::parse(alloc.getScope())->kind == Scope::Stack)
          onStack += alloc.getBytes().value_or(0);
        ++verified;
      }
    });
    auto sum = function->getAttrOfType<IntegerAttr>(stackSumAttr);
    if (sum && onStack > sum.getInt()) {
      function.emitError() << "has " << onStack << " bytes of stack allocations, " << sum.getInt()
                           << " after placement: a later stage has duplicated one";
      ok = false;
    }
    return success(ok);
  }

  LogicalResult verify(AllocOp alloc) {
    if (!alloc.getCandidatesAttr() || !alloc.getAccessorsAttr())
      return alloc.emitError("has no place");
    StringRef place = alloc.getScope();
    if (place == "workgroup")
      place = "workspace";
    else if (!place.consume_front("global."))
      return alloc.emitError("has no place");
    if (!llvm::is_contained(alloc.getCandidatesAttr().getAsValueRange<StringAttr>(), place))
      return alloc.emitError() << "lies in '" << place << "', which is none of its candidates "
                               << alloc.getCandidatesAttr();
    if (place != "stack")
      return success();
    if (!alloc.getBytes())
      return alloc.emitError("is on the stack without a bound of its size");
    if (lifeOf(alloc).escapes())
      return alloc.emitError("is on the stack and may outlive the block that allocates it");
    return success();
  }
};

} // namespace
