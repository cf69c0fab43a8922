#include "ir/Analysis/Arrangement.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// What a dimension of a tensor goes over, the outermost first.
using DimensionLoops = SmallVector<Arrangement::Dimension>;

struct Moved {
  Value origin;
  SmallVector<DimensionLoops> dimensions;
};

RankedTensorType staticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

Moved unmoved(Value value) {
  Moved result{value, {}};
  for (auto [dimension, extent] : llvm::enumerate(staticType(value).getShape()))
    result.dimensions.push_back({{extent, unsigned(dimension), 1}});
  return result;
}

/// Makes dimensions of the extents given of one, if its loops are of those or come apart into them.
std::optional<SmallVector<DimensionLoops>> split(DimensionLoops loops, ArrayRef<int64_t> extents) {
  SmallVector<DimensionLoops> parts(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    for (int64_t missing = extents[i]; missing != 1;) {
      if (loops.empty() || missing == 0)
        return std::nullopt;
      Arrangement::Dimension &last = loops.back();
      const int64_t taken = std::min(last.extent, missing);
      if (taken == 0 || missing % taken != 0 || last.extent % taken != 0)
        return std::nullopt;
      parts[i].insert(parts[i].begin(), {taken, last.of, last.step});
      missing /= taken;
      last = {last.extent / taken, last.of, last.step * taken};
      if (last.extent == 1)
        loops.pop_back();
    }
  }
  if (llvm::any_of(loops, [](const Arrangement::Dimension &loop) { return loop.extent != 1; }))
    return std::nullopt;
  return parts;
}

/// Where a bit of a value in the body of a linalg op comes from.
struct Bit {
  int input = -1; // -1: it is zero
  unsigned position = 0;
};
using Bits = SmallVector<Bit>;

/// Those of the result of an op, of which those of all operands are known. Nothing if it does more than move bits.
std::optional<Bits> bitsOf(Operation &op, const llvm::DenseMap<Value, Bits> &known) {
  Bits bits = known.lookup(op.getOperand(0));
  const unsigned width = op.getResult(0).getType().getIntOrFloatBitWidth();
  APInt by;
  if (isa<arith::BitcastOp>(op))
    return bits;
  if (isa<arith::ExtUIOp>(op)) {
    bits.resize(width);
    return bits;
  }
  if (isa<arith::ShLIOp>(op) && matchPattern(op.getOperand(1), m_ConstantInt(&by)) &&
      by.ult(width)) {
    bits.insert(bits.begin(), size_t(by.getZExtValue()), Bit());
    bits.resize(width);
    return bits;
  }
  if (isa<arith::OrIOp>(op) && known.contains(op.getOperand(1))) {
    for (auto [bit, other] : llvm::zip_equal(bits, known.lookup(op.getOperand(1)))) {
      if (bit.input >= 0 && other.input >= 0)
        return std::nullopt;
      if (other.input >= 0)
        bit = other;
    }
    return bits;
  }
  return std::nullopt;
}

bool isZero(Value value) {
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}

/// Is it a tensor of zeros?
bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill ? isZero(fill.getInputs()[0]) : isZero(value);
}

Moved move(Value value, bool mayGroup = false);

/// The elements of an op that computes nothing, each loop of which is a dimension of the result. Groups have their elements
/// innermost, and where the value is moved on they would not stay there.
std::optional<Moved> moveThrough(linalg::LinalgOp op, bool mayGroup) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.getNumDpsInputs() == 0)
    return std::nullopt;
  const SmallVector<int> parts =
      inputsSideBySide(op, op.getBlock()->getTerminator()->getOperand(0));
  Value source = op->getOperand(0);
  if (parts.empty() || (parts.size() > 1 && !mayGroup) || !staticType(source) ||
      !staticType(op->getResult(0)) ||
      llvm::any_of(parts, [&](int part) { return op->getOperand(unsigned(part)) != source; }) ||
      (parts.size() > 1 && !(fillsItsBytes(getElementTypeOrSelf(source)) &&
                             fillsItsBytes(getElementTypeOrSelf(op->getResult(0))))))
    return std::nullopt;
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!written.isPermutation())
    return std::nullopt;
  // The dimension of the source that each loop goes over, and the one that parts differ in.
  SmallVector<std::optional<unsigned>> dimensionOf(op.getNumLoops());
  std::optional<unsigned> grouped;
  for (auto [position, part] : llvm::enumerate(parts)) {
    const AffineMap read = op.getMatchingIndexingMap(&op->getOpOperand(unsigned(part)));
    if (read.getNumResults() != op.getNumLoops() + (parts.size() > 1))
      return std::nullopt;
    for (auto [dimension, index] : llvm::enumerate(read.getResults())) {
      if (auto loop = dyn_cast<AffineDimExpr>(index)) {
        std::optional<unsigned> &of = dimensionOf[loop.getPosition()];
        if (of && *of != dimension)
          return std::nullopt;
        of = unsigned(dimension);
      } else {
        auto constant = dyn_cast<AffineConstantExpr>(index);
        if (parts.size() == 1 || !constant || constant.getValue() != int64_t(position) ||
            (grouped && *grouped != dimension))
          return std::nullopt;
        grouped = unsigned(dimension);
      }
    }
  }
  Moved before = move(source), result{before.origin, {}};
  // All of what is grouped is in one group.
  if (grouped &&
      cast<RankedTensorType>(source.getType()).getDimSize(*grouped) != int64_t(parts.size()))
    return std::nullopt;
  for (unsigned position = 0; position < written.getNumResults(); ++position) {
    std::optional<unsigned> dimension = dimensionOf[written.getDimPosition(position)];
    if (!dimension)
      return std::nullopt;
    result.dimensions.push_back(before.dimensions[*dimension]);
  }
  if (grouped) {
    if (result.dimensions.empty())
      result.dimensions.emplace_back();
    llvm::append_range(result.dimensions.back(), before.dimensions[*grouped]);
  }
  return result;
}

std::optional<Moved> moveThrough(tensor::ExpandShapeOp op) {
  Moved before = move(op.getSrc()), result{before.origin, {}};
  for (auto [loops, group] : llvm::zip_equal(before.dimensions, op.getReassociationIndices())) {
    std::optional<SmallVector<DimensionLoops>> parts =
        split(loops, op.getResultType().getShape().slice(size_t(group.front()), group.size()));
    if (!parts)
      return std::nullopt;
    llvm::append_range(result.dimensions, *parts);
  }
  // A scalar has no dimension that others could be parts of.
  result.dimensions.resize(size_t(op.getResultType().getRank()));
  return result;
}

std::optional<Moved> moveThrough(tensor::CollapseShapeOp op) {
  Moved before = move(op.getSrc()), result{before.origin, {}};
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    DimensionLoops &loops = result.dimensions.emplace_back();
    for (int64_t dimension : group)
      llvm::append_range(loops, before.dimensions[size_t(dimension)]);
  }
  return result;
}

/// Zeros behind the elements of dimensions that the origin has as well.
std::optional<Moved> moveThrough(tensor::InsertSliceOp op) {
  auto isFrom = [](ArrayRef<OpFoldResult> values, int64_t wanted) {
    return llvm::all_of(values,
                        [&](OpFoldResult each) { return isConstantIntValue(each, wanted); });
  };
  if (!isZeros(op.getDest()) || op.getSourceType().getRank() != op.getDestType().getRank() ||
      !isFrom(op.getMixedOffsets(), 0) || !isFrom(op.getMixedStrides(), 1))
    return std::nullopt;
  Moved result = move(op.getSource());
  for (auto [loops, extent, padded] : llvm::zip_equal(
           result.dimensions, op.getSourceType().getShape(), op.getDestType().getShape())) {
    if (extent == padded)
      continue;
    const auto origin = cast<RankedTensorType>(result.origin.getType());
    if (loops.size() != 1 || loops[0].step != 1 || loops[0].extent < origin.getDimSize(loops[0].of))
      return std::nullopt;
    loops[0].extent = padded;
  }
  return result;
}

Moved move(Value value, bool mayGroup) {
  std::optional<Moved> moved;
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
      expand && staticType(expand.getSrc()))
    moved = moveThrough(expand);
  else if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
           collapse && staticType(collapse.getSrc()))
    moved = moveThrough(collapse);
  else if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
           insert && staticType(insert.getSource()))
    moved = moveThrough(insert);
  else if (auto op = value.getDefiningOp<linalg::LinalgOp>())
    moved = moveThrough(op, mayGroup);
  return moved ? *moved : unmoved(value);
}

} // namespace

SmallVector<int> plim::ir::inputsSideBySide(linalg::LinalgOp op, Value value) {
  Block *body = op.getBlock();
  llvm::DenseMap<Value, Bits> known;
  for (BlockArgument argument : body->getArguments())
    if (argument.getType().isIntOrFloat())
      for (unsigned i = 0; i < argument.getType().getIntOrFloatBitWidth(); ++i)
        known[argument].push_back({int(argument.getArgNumber()), i});
  for (Operation &each : body->without_terminator()) {
    const bool isKnown = each.getNumOperands() > 0 && each.getNumResults() == 1 &&
                         each.getResult(0).getType().isIntOrFloat() &&
                         llvm::all_of(each.getOperands(), [&](Value operand) {
                           return known.contains(operand) || matchPattern(operand, m_Constant());
                         });
    if (isKnown && known.contains(each.getOperand(0)))
      if (std::optional<Bits> bits = bitsOf(each, known))
        known[each.getResult(0)] = std::move(*bits);
  }
  const Bits bits = known.lookup(value);
  SmallVector<int> inputs;
  for (size_t i = 0; i < bits.size();) {
    const int input = bits[i].input;
    if (input < 0 || input >= op.getNumDpsInputs())
      return {};
    const unsigned width = body->getArgument(unsigned(input)).getType().getIntOrFloatBitWidth();
    for (unsigned position = 0; position < width; ++position, ++i)
      if (i >= bits.size() || bits[i].input != input || bits[i].position != position)
        return {};
    inputs.push_back(input);
  }
  return inputs;
}

std::optional<Arrangement> plim::ir::arrangementOf(Value value) {
  if (!staticType(value))
    return std::nullopt;
  Moved moved = move(value, /*mayGroup=*/true);
  if (moved.origin == value)
    return std::nullopt;
  Arrangement arrangement{moved.origin, {}};
  for (const DimensionLoops &loops : moved.dimensions)
    for (const Arrangement::Dimension &loop : loops)
      if (loop.extent != 1)
        arrangement.dimensions.push_back(loop);
  return arrangement;
}
