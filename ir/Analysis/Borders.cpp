#include "ir/Analysis/Borders.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace plim::ir;

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// The argument of a dispatch function that is the tensor, as plim-bind-arguments leaves it.
static BlockArgument argumentOf(Value tensor) {
  if (auto toTensor = tensor.getDefiningOp<bufferization::ToTensorOp>()) {
    tensor = toTensor.getBuffer();
    if (auto cast = tensor.getDefiningOp<memref::ReinterpretCastOp>())
      tensor = cast.getSource();
  }
  return dyn_cast<BlockArgument>(tensor);
}

std::optional<Interior> plim::ir::interiorOf(Value tensor) {
  Interior interior;
  if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>()) {
    auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
    if (!fill || !isZero(fill.getInputs()[0]) || !insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank())
      return std::nullopt;
    interior.offsets = insert.getMixedOffsets();
    interior.sizes = insert.getMixedSizes();
    return interior;
  }
  BlockArgument argument = argumentOf(tensor);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function || !function->hasAttr(dispatchFunctionAttr) ||
      argument.getOwner() != &function.front())
    return std::nullopt;
  auto borders =
      function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), zeroBordersAttr);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!borders || !type || borders.size() != 2 * type.getRank())
    return std::nullopt;
  Builder builder(function.getContext());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    const int64_t begin = borders[2 * dimension], end = borders[2 * dimension + 1],
                  extent = type.getDimSize(unsigned(dimension));
    interior.offsets.push_back(builder.getIndexAttr(begin));
    interior.sizes.push_back(ShapedType::isDynamic(extent)
                                 ? OpFoldResult()
                                 : builder.getIndexAttr(extent - begin - end));
  }
  return interior;
}
