#include "ir/Import/Passes.h"
#include "ir/Import/Requirements.h"
#include "ir/Import/ShapeChecks.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ValueBounds.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKSHAPES
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct CheckShapes : plim::ir::impl::PlimCheckShapesBase<CheckShapes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    notNegative.clear();
    function.walk([&](Operation *op) {
      if (isa<tensor::EmptyOp, memref::AllocOp, bufferization::AllocTensorOp, AllocOp>(op))
        checkExtents(op);
    });
    // What a kernel does to memory is its author's own.
    if (!function->hasAttr(kernelAttr)) {
      // First, before anything else is inserted: extents that the checks ask for need no check.
      checks += checkElements(function);
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) { ops.push_back(op); });
      for (Operation *op : ops) {
        if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
          checks += checkLoops(linalgOp);
        checks += checkView(op) + checkVectorAccess(op);
      }
    }
    function.walk([](Operation *op) { op->removeAttr(sourceOpAttr); });
  }

  /// The runtime would refuse a negative extent too, but knows no place.
  void checkExtents(Operation *op) {
    Requirements requirements(op);
    for (Value size : op->getOperands()) {
      if (!size.getType().isIndex() || size.getDefiningOp<ShapedDimOpInterface>() ||
          getConstantIntValue(size).value_or(-1) >= 0 || isNotNegative(size))
        continue;
      requirements.require(
          requirements.compare(arith::CmpIPredicate::sge, size, requirements.number(0)),
          "an extent is negative: {0}", size);
    }
    checks += requirements.count;
  }

  /// Is that known? Many buffers have one extent.
  bool isNotNegative(Value size) {
    auto [answer, isNew] = notNegative.try_emplace(size, false);
    if (isNew)
      answer->second = isKnown(size, BoundsComparison::GE,
                               OpFoldResult(Builder(size.getContext()).getIndexAttr(0)));
    return answer->second;
  }

  llvm::DenseMap<Value, bool> notNegative;
};

} // namespace
