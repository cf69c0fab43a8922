#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// The arguments of a function have the extents that the call was checked for.
struct ArgumentBounds : ValueBoundsOpInterface::ExternalModel<ArgumentBounds, func::FuncOp> {
  void populateBoundsForIndexValue(Operation *op, Value value,
                                   ValueBoundsConstraintSet &set) const {
    auto argument = cast<BlockArgument>(value);
    if (!argument.getOwner()->isEntryBlock())
      return;
    unsigned position = argument.getArgNumber();
    auto attribute = cast<func::FuncOp>(op).getArgAttrOfType<DictionaryAttr>(position, boundsAttr);
    if (!attribute)
      return;
    ExtentBounds bounds = extentBounds(attribute);
    set.bound(value) >= bounds.min;
    if (bounds.max)
      set.bound(value) <= *bounds.max;
  }

  void populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                       ValueBoundsConstraintSet &set) const {
    auto argument = cast<BlockArgument>(value);
    if (!argument.getOwner()->isEntryBlock())
      return;
    unsigned position = argument.getArgNumber();
    auto all = cast<func::FuncOp>(op).getArgAttrOfType<ArrayAttr>(position, boundsAttr);
    if (!all || dim >= int64_t(all.size()))
      return;
    ExtentBounds bounds = extentBounds(cast<DictionaryAttr>(all[dim]));
    set.bound(value)[dim] >= bounds.min;
    if (bounds.max)
      set.bound(value)[dim] <= *bounds.max;
  }
};

/// What the bindings of a function become (plim-bind-arguments), which upstream says nothing of.
struct BindingBounds
    : ValueBoundsOpInterface::ExternalModel<BindingBounds, memref::ReinterpretCastOp> {
  void populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                       ValueBoundsConstraintSet &set) const {
    set.bound(value)[dim] ==
        set.getExpr(cast<memref::ReinterpretCastOp>(op).getMixedSizes()[size_t(dim)]);
  }
};

} // namespace

ExtentBounds plim::ir::extentBounds(DictionaryAttr bounds) {
  ExtentBounds result;
  if (auto min = bounds ? bounds.getAs<IntegerAttr>("min") : IntegerAttr())
    result.min = min.getInt();
  if (auto max = bounds ? bounds.getAs<IntegerAttr>("max") : IntegerAttr())
    result.max = max.getInt();
  return result;
}

void plim::ir::registerValueBoundsOpInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    func::FuncOp::attachInterface<ArgumentBounds>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::ReinterpretCastOp::attachInterface<BindingBounds>(*context);
  });
}
