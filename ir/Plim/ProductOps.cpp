// What products are made of: panels, groups, tiles.
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace plim::ir;

LogicalResult UnpackPanelsOp::verify() {
  RankedTensorType panels = getPanels().getType(), result = getResult().getType();
  const int64_t column = int64_t(getColumn());
  SmallVector<int64_t> all(getRest());
  all.push_back(column);
  if (!isPermutationVector(all) || int64_t(all.size()) != result.getRank() ||
      panels.getRank() != result.getRank() + 1)
    return emitOpError("has other dimensions than its panels");
  const int64_t width = std::max<int64_t>(1, getWidth()), group = int64_t(getGroup());
  const Type element = result.getElementType();
  if (getGrouped() &&
      (llvm::none_of(getRest(), [&](int64_t dimension) { return isGrouped(dimension); }) ||
       (group != 2 && group != 4) || !element.isIntOrFloat() ||
       element.getIntOrFloatBitWidth() > 32 / group))
    return emitOpError("has groups of two or four elements that fit into 32 bits, along a "
                       "dimension other than that of its columns");
  SmallVector<int64_t> shape = {
      int64_t(llvm::divideCeil(result.getDimSize(unsigned(column)), width))};
  for (int64_t dimension : getRest())
    shape.push_back(
        llvm::divideCeil(result.getDimSize(unsigned(dimension)), isGrouped(dimension) ? group : 1));
  shape.push_back(getWidth());
  const Type elementOfPanels = getGrouped() ? IntegerType::get(getContext(), 32) : element;
  if (panels.getShape() != ArrayRef(shape) || panels.getElementType() != elementOfPanels)
    return emitOpError("does not have the type of its panels, which would be ")
           << panels.clone(shape, elementOfPanels);
  return success();
}

LogicalResult DotGroupsOp::verify() {
  const Type element = getElement(), sum = getElementTypeOrSelf(getSum().getType());
  if (!getElementTypeOrSelf(getA().getType()).isInteger(32))
    return emitOpError("takes groups in 32 bits");
  if (element.isBF16() ? !sum.isF32()
                       : !sum.isInteger(32) || !(element.isInteger(8) || element.isInteger(16)))
    return emitOpError("adds i8 and i16 to i32, and bf16 to f32");
  return success();
}

LogicalResult TileProductOp::verify() {
  if (getOutputs().empty() || getOutputs().size() > 2)
    return emitOpError("has one sum, and memory for some rows of it");
  auto a = cast<ShapedType>(getA().getType()), b = cast<ShapedType>(getB().getType()),
       sum = cast<ShapedType>(getSum().getType());
  const Type factor = a.getElementType();
  const bool isOfIntegers = factor.isInteger(8);
  if (!isOfIntegers && !factor.isBF16())
    return emitOpError("multiplies bf16 or integers of 8 bits");
  if (!b.getElementType().isInteger(32))
    return emitOpError("has groups in elements of type i32 for the second factor");
  if (isOfIntegers ? !sum.getElementType().isInteger(32) : !sum.getElementType().isF32())
    return emitOpError("has a sum of another type than ") << (isOfIntegers ? "i32" : "f32");
  if (a.getRank() != 2 || b.getRank() != 2 || sum.getRank() != 2)
    return emitOpError("works on matrices");
  if ((!a.isDynamicDim(0) && a.getDimSize(0) % rowsOfTile != 0) || b.isDynamicDim(1) ||
      b.getDimSize(1) % rowsOfTile != 0)
    return emitOpError("needs whole tiles of rows and columns in its factors");
  if ((!a.isDynamicDim(0) && sum.getDimSize(0) > a.getDimSize(0)) ||
      sum.getDimSize(1) > b.getDimSize(1))
    return emitOpError("has a sum that is larger than its factors");
  // Two by two tiles of sums and their factors are all registers.
  if (b.getDimSize(1) > 2 * rowsOfTile)
    return emitOpError("has more columns than registers");
  auto isDepth = [&](int64_t groups) {
    return ShapedType::isDynamic(groups) || groups % rowsOfTile == 0;
  };
  if (!isDepth(b.getDimSize(0)) || (!a.isDynamicDim(1) && !b.isDynamicDim(0) &&
                                    a.getDimSize(1) != groupSize() * b.getDimSize(0)))
    return emitOpError("needs whole tiles, as deep in one factor as in the other");
  if (!getRows())
    return needsRows(sum.getShape(), b.getDimSize(1))
               ? emitOpError("needs memory for rows that fill tiles")
               : success();
  auto rows = cast<ShapedType>(getRows().getType());
  if (rows.getShape() != ArrayRef<int64_t>{rowsOfTile, b.getDimSize(1)} ||
      rows.getElementType() != sum.getElementType())
    return emitOpError("has memory for rows that does not fill tiles of the sum");
  return success();
}

void TileProductOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    const bool isOutput = isDpsInit(&operand);
    if (!isOutput || isRead(operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
    if (isOutput)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}
