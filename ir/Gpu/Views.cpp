#include "ir/Gpu/Views.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::ir;
using Kind = Numbers::Kind;

const View *Views::find(Value memref) const {
  auto found = views.find(memref);
  return found == views.end() ? nullptr : &found->second;
}

SmallVector<Number> Views::denseStrides(ArrayRef<Number> sizes) {
  SmallVector<Number> strides(sizes.size(), numbers.constant(1));
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = numbers.apply(Kind::Multiply, strides[i], sizes[i]);
  return strides;
}

View &Views::add(Value memref, unsigned buffer, ArrayRef<Number> sizes) {
  View view{buffer, cast<MemRefType>(memref.getType()).getElementType(), numbers.constant(0),
            llvm::to_vector(sizes), denseStrides(sizes)};
  return views[memref] = std::move(view);
}

bool Views::isDense(const View &view) { return view.strides == denseStrides(view.sizes); }

FailureOr<bool> Views::follow(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      !isa<MemRefType>(op->getResult(0).getType()))
    return false;
  const View *source = find(op->getOperand(0));
  if (!source)
    return false;
  View view = *source;
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    if (followSubview(subview, std::move(view)))
      return true;
    return op->emitError("has a slice whose place a launch cannot compute");
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    followCollapse(collapse, std::move(view));
    return true;
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    if (followExpand(expand, std::move(view)))
      return true;
    return op->emitError("has a shape that a launch cannot compute");
  }
  if (isa<memref::CastOp, memref::MemorySpaceCastOp, memref::AssumeAlignmentOp>(op)) {
    views[op->getResult(0)] = std::move(view);
    return true;
  }
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    View result = view;
    for (auto [i, position] : llvm::enumerate(transpose.getPermutation().getResults())) {
      const unsigned from = cast<AffineDimExpr>(position).getPosition();
      result.sizes[i] = view.sizes[from];
      result.strides[i] = view.strides[from];
    }
    views[op->getResult(0)] = std::move(result);
    return true;
  }
  return false;
}

bool Views::followSubview(memref::SubViewOp op, View view) {
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  View result{view.buffer, view.element, view.offset, {}, {}};
  for (auto [i, mixed] : llvm::enumerate(
           llvm::zip_equal(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()))) {
    auto offset = numberOf(std::get<0>(mixed)), size = numberOf(std::get<1>(mixed)),
         stride = numberOf(std::get<2>(mixed));
    if (!offset || !size || !stride)
      return false;
    result.offset = numbers.apply(Kind::Add, result.offset,
                                  numbers.apply(Kind::Multiply, *offset, view.strides[i]));
    if (dropped.test(i))
      continue;
    result.sizes.push_back(*size);
    result.strides.push_back(numbers.apply(Kind::Multiply, *stride, view.strides[i]));
  }
  views[op] = std::move(result);
  return true;
}

void Views::followCollapse(memref::CollapseShapeOp op, View view) {
  View result{view.buffer, view.element, view.offset, {}, {}};
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Number size = numbers.constant(1), stride = numbers.constant(1);
    bool hasStride = false;
    for (int64_t dimension : llvm::reverse(group)) {
      size = numbers.apply(Kind::Multiply, size, view.sizes[size_t(dimension)]);
      // The strides of extents of one say nothing.
      if (!hasStride && !numbers.isConstant(view.sizes[size_t(dimension)], 1)) {
        stride = view.strides[size_t(dimension)];
        hasStride = true;
      }
    }
    result.sizes.push_back(size);
    result.strides.push_back(stride);
  }
  views[op] = std::move(result);
}

bool Views::followExpand(memref::ExpandShapeOp op, View view) {
  View result{view.buffer, view.element, view.offset, {}, {}};
  SmallVector<OpFoldResult> shape =
      getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), op.getContext());
  for (OpFoldResult extent : shape) {
    std::optional<Number> size = numberOf(extent);
    if (!size)
      return false;
    result.sizes.push_back(*size);
  }
  result.strides.assign(result.sizes.size(), numbers.constant(1));
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices())) {
    Number stride = view.strides[i];
    for (int64_t dimension : llvm::reverse(group)) {
      result.strides[size_t(dimension)] = stride;
      stride = numbers.apply(Kind::Multiply, stride, result.sizes[size_t(dimension)]);
    }
  }
  views[op] = std::move(result);
  return true;
}

std::optional<Number> Views::numberOf(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return numbers.constant(cast<IntegerAttr>(attribute).getInt());
  return numberOf(cast<Value>(value));
}

std::optional<Number> Views::numberOf(Value value) {
  if (!value.getType().isIntOrIndex() || value.getType().isInteger(1))
    return std::nullopt;
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known)))
    return known.getSignificantBits() <= 64 ? std::optional(numbers.constant(known.getSExtValue()))
                                            : std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const bool isOfDispatch = isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return isOfDispatch && !value.getType().isInteger(128)
               ? std::optional(numbers.scalar(argument.getArgNumber()))
               : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    const View *view = find(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    return view && index ? std::optional(view->sizes[size_t(*index)]) : std::nullopt;
  }
  // Narrow integers wrap around where numbers do not.
  const bool isWide = value.getType().isIndex() || value.getType().isInteger(64);
  if (!isWide)
    return std::nullopt;
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return numberOf(op->getOperand(0));
  SmallVector<Number> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Number> number = numberOf(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  auto both = [&](Kind kind) { return numbers.apply(kind, operands[0], operands[1]); };
  auto fold = [&](AffineMap map, Kind kind) -> std::optional<Number> {
    std::optional<Number> result;
    for (AffineExpr expression : map.getResults()) {
      std::optional<Number> number = numberOf(expression, operands, map.getNumDims());
      if (!number)
        return std::nullopt;
      result = result ? numbers.apply(kind, *result, *number) : *number;
    }
    return result;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Number>>(op)
      .Case([&](arith::AddIOp) { return both(Kind::Add); })
      .Case([&](arith::SubIOp) { return both(Kind::Subtract); })
      .Case([&](arith::MulIOp) { return both(Kind::Multiply); })
      .Case([&](arith::FloorDivSIOp) { return both(Kind::FloorDivide); })
      .Case([&](arith::CeilDivSIOp) { return both(Kind::CeilDivide); })
      .Case([&](arith::DivSIOp) { return both(Kind::Divide); })
      .Case([&](arith::RemSIOp) { return both(Kind::Remainder); })
      .Case([&](arith::MinSIOp) { return both(Kind::Minimum); })
      .Case([&](arith::MaxSIOp) { return both(Kind::Maximum); })
      .Case([&](affine::AffineApplyOp apply) { return fold(apply.getMap(), Kind::Add); })
      .Case([&](affine::AffineMinOp min) { return fold(min.getMap(), Kind::Minimum); })
      .Case([&](affine::AffineMaxOp max) { return fold(max.getMap(), Kind::Maximum); })
      .Default(std::optional<Number>());
}

std::optional<Number> Views::numberOf(AffineExpr expression, ArrayRef<Number> operands,
                                      unsigned dimensions) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return numbers.constant(constant.getValue());
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return operands[dimension.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return operands[dimensions + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::optional<Number> left = numberOf(binary.getLHS(), operands, dimensions),
                        right = numberOf(binary.getRHS(), operands, dimensions);
  if (!left || !right)
    return std::nullopt;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return numbers.apply(Kind::Add, *left, *right);
  case AffineExprKind::Mul:
    return numbers.apply(Kind::Multiply, *left, *right);
  case AffineExprKind::FloorDiv:
    return numbers.apply(Kind::FloorDivide, *left, *right);
  case AffineExprKind::CeilDiv:
    return numbers.apply(Kind::CeilDivide, *left, *right);
  default: { // Mod: what a floor leaves
    Number floor = numbers.apply(Kind::FloorDivide, *left, *right);
    return numbers.apply(Kind::Subtract, *left, numbers.apply(Kind::Multiply, floor, *right));
  }
  }
}
