#include "ir/Import/Requirements.h"
#include "ir/Import/ShapeChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace plim::ir {

namespace {

using P = arith::CmpIPredicate;

std::string text(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Requires that a slice lies inside of its source, and that an inserted tensor has the extents of
/// the slice. An empty slice touches nothing, wherever it lies. Upstream's check refuses an empty
/// slice at the end, and its products wrap.
unsigned checkSlice(OffsetSizeAndStrideOpInterface op, Value whole, Value part,
                    const llvm::SmallBitVector &dropped) {
  Requirements requirements(op);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes(), offsets = op.getMixedOffsets(),
                            strides = op.getMixedStrides();
  auto type = cast<ShapedType>(whole.getType());
  Value zero = requirements.number(0), one = requirements.number(1);
  Value isEmpty;
  for (OpFoldResult size : sizes) {
    Value none = requirements.compare(P::eq, requirements.value(size), zero);
    isEmpty = isEmpty ? requirements.either(isEmpty, none) : none;
  }
  int64_t partDimension = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Value size = requirements.value(sizes[i]), offset = requirements.value(offsets[i]),
          stride = requirements.value(strides[i]);
    if (part && !dropped.test(i)) {
      Value have = requirements.extent(part, partDimension++);
      requirements.require(requirements.compare(P::eq, have, size),
                           "the source has {0} elements in dimension " + Twine(i) +
                               " of a slice of {1}",
                           {have, size});
    }
    Value extent = requirements.extent(whole, int64_t(i));
    // How many steps there is room for behind the first element, which is inside.
    Value behind = requirements.subtract(requirements.subtract(extent, one), offset);
    Value isForward = requirements.compare(P::sgt, stride, zero);
    Value isBackward = requirements.compare(P::slt, stride, zero);
    Value ahead = requirements.divide(behind, requirements.choose(isForward, stride, one));
    Value back = requirements.divide(
        offset, requirements.choose(isBackward, requirements.subtract(zero, stride), one));
    Value steps = requirements.subtract(size, one);
    Value hasRoom =
        requirements.choose(isForward, requirements.compare(P::sle, steps, ahead),
                            requirements.either(requirements.compare(P::eq, stride, zero),
                                                requirements.compare(P::sle, steps, back)));
    Value inside =
        requirements.both(requirements.compare(P::sgt, size, zero),
                          requirements.both(requirements.compare(P::ult, offset, extent), hasRoom));
    // Also of an empty one no size is negative: what is made of it would not have the extents of
    // its type.
    Value good = requirements.either(
        inside, requirements.both(isEmpty, requirements.compare(P::sge, size, zero)));
    requirements.require(good,
                         "the slice of {0} elements from {1} in steps of {2} leaves dimension " +
                             Twine(i) + " of " + text(type) + ", which has {3}",
                         {size, offset, stride, extent});
  }
  return requirements.count;
}

/// Extents that the type says must be those that are.
template <typename OpT> unsigned checkCast(OpT op) {
  auto from = dyn_cast<ShapedType>(op.getSource().getType());
  auto to = dyn_cast<ShapedType>(op.getType());
  if (!from || !to || !from.hasRank() || !to.hasRank())
    return 0;
  Requirements requirements(op);
  for (int64_t i = 0; i < to.getRank(); ++i)
    if (from.isDynamicDim(unsigned(i)) && !to.isDynamicDim(unsigned(i))) {
      Value have = requirements.extent(op.getSource(), i);
      Value want = requirements.number(to.getDimSize(unsigned(i)));
      requirements.require(requirements.compare(P::eq, have, want),
                           "extent " + Twine(i) + " is {0}, but the type says {1}", {have, want});
    }
  return requirements.count;
}

/// The extents that one is expanded to multiply to it.
unsigned checkExpansion(Operation *op, Value source, ArrayRef<ReassociationIndices> groups,
                        ArrayRef<OpFoldResult> sizes) {
  Requirements requirements(op);
  for (auto [dimension, group] : llvm::enumerate(groups)) {
    SmallVector<Value> factors =
        llvm::map_to_vector(group, [&](int64_t i) { return requirements.value(sizes[size_t(i)]); });
    Value extent = requirements.extent(source, int64_t(dimension));
    requirements.require(requirements.isProduct(factors, extent),
                         "extent " + Twine(dimension) +
                             ", which is {0}, cannot be expanded to the extents given",
                         extent);
  }
  return requirements.count;
}

/// What the result says of an extent is the product of those that were collapsed.
unsigned checkCollapse(Operation *op, Value source, ArrayRef<ReassociationIndices> groups) {
  Requirements requirements(op);
  auto result = cast<ShapedType>(op->getResult(0).getType());
  for (auto [dimension, group] : llvm::enumerate(groups)) {
    if (result.isDynamicDim(unsigned(dimension)))
      continue;
    SmallVector<Value> factors =
        llvm::map_to_vector(group, [&](int64_t i) { return requirements.extent(source, i); });
    Value extent = requirements.number(result.getDimSize(unsigned(dimension)));
    requirements.require(requirements.isProduct(factors, extent),
                         "the extents collapsed to dimension " + Twine(dimension) +
                             " do not multiply to {0}, which its type says",
                         extent);
  }
  return requirements.count;
}

/// As many elements as the source has, and in the extents that the type says.
template <typename OpT> unsigned checkReshape(OpT op) {
  auto source = dyn_cast<ShapedType>(op.getSource().getType());
  auto result = dyn_cast<ShapedType>(op.getResult().getType());
  auto shapeType = cast<ShapedType>(op.getShape().getType());
  if (!source || !result || !source.hasRank() || !result.hasRank() || !shapeType.hasStaticShape() ||
      shapeType.getDimSize(0) != result.getRank())
    return 0;
  Requirements requirements(op);
  OpBuilder &builder = requirements.builder;
  Location loc = op.getLoc();
  SmallVector<Value> extents;
  for (int64_t i = 0; i < result.getRank(); ++i) {
    Value at = requirements.number(i);
    Value extent = isa<TensorType>(shapeType)
                       ? builder.createOrFold<tensor::ExtractOp>(loc, op.getShape(), at)
                       : builder.createOrFold<memref::LoadOp>(loc, op.getShape(), at);
    if (!extent.getType().isIndex())
      extent = builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), extent);
    if (!result.isDynamicDim(unsigned(i))) {
      Value want = requirements.number(result.getDimSize(unsigned(i)));
      requirements.require(requirements.compare(P::eq, extent, want),
                           "extent " + Twine(i) + " is {0}, but the type says {1}", {extent, want});
    }
    extents.push_back(extent);
  }
  // The source is there: its elements can be counted.
  Value count = requirements.number(1);
  for (int64_t i = 0; i < source.getRank(); ++i)
    count = requirements.multiply(count, requirements.extent(op.getSource(), i));
  requirements.require(requirements.isProduct(extents, count),
                       "{0} elements cannot take the extents given", count);
  return requirements.count;
}

unsigned checkSameExtents(Operation *op, Value from, Value to) {
  Requirements requirements(op);
  for (int64_t i = 0; i < cast<ShapedType>(from.getType()).getRank(); ++i) {
    Value left = requirements.extent(from, i), right = requirements.extent(to, i);
    requirements.require(requirements.compare(P::eq, left, right),
                         "extent " + Twine(i) + " of the source is {0}, of the target {1}",
                         {left, right});
  }
  return requirements.count;
}

/// The elements lie among the bytes.
unsigned checkBytes(memref::ViewOp op) {
  Requirements requirements(op);
  Value zero = requirements.number(0), one = requirements.number(1);
  Value bytes = requirements.extent(op.getSource(), 0), shift = op.getByteShift();
  Value isGood = requirements.both(requirements.compare(P::sge, shift, zero),
                                   requirements.compare(P::sle, shift, bytes));
  DataLayout layout = DataLayout::closest(op);
  int64_t each = int64_t(layout.getTypeSize(op.getType().getElementType()).getFixedValue());
  Value room = requirements.divide(requirements.subtract(bytes, shift), requirements.number(each));
  Value isEmpty = requirements.compare(P::slt, room, zero); // never; for the fold
  for (OpFoldResult size :
       getMixedValues(op.getType().getShape(), op.getSizes(), op.getContext())) {
    Value extent = requirements.value(size);
    isGood = requirements.both(isGood, requirements.compare(P::sge, extent, zero));
    Value isZero = requirements.compare(P::eq, extent, zero);
    isEmpty = requirements.either(isEmpty, isZero);
    room = requirements.divide(room, requirements.choose(isZero, one, extent));
  }
  isGood = requirements.both(isGood,
                             requirements.either(isEmpty, requirements.compare(P::sge, room, one)));
  requirements.require(isGood, "the view from byte {0} leaves the buffer, which has {1}",
                       {shift, bytes});
  return requirements.count;
}

/// Nothing lies outside of what the source spans. Offsets are those from the beginning of the
/// buffer.
unsigned checkReinterpretation(memref::ReinterpretCastOp op) {
  Requirements requirements(op);
  OpBuilder &b = requirements.builder;
  Value zero = requirements.number(0), one = requirements.number(1);
  auto source = memref::ExtractStridedMetadataOp::create(b, op.getLoc(), op.getSource());
  Value low = source.getOffset(), high = low, isEmpty = requirements.compare(P::slt, one, zero);
  Value hasNone = isEmpty;
  for (auto [size, stride] : llvm::zip(source.getSizes(), source.getStrides())) {
    Value reach = requirements.multiply(requirements.subtract(size, one), stride);
    Value isForward = requirements.compare(P::sge, reach, zero);
    low = requirements.add(low, requirements.choose(isForward, zero, reach));
    high = requirements.add(high, requirements.choose(isForward, reach, zero));
    hasNone = requirements.either(hasNone, requirements.compare(P::eq, size, zero));
  }
  low = requirements.choose(hasNone, zero, low);
  high = requirements.choose(hasNone, requirements.number(-1), high);
  // How far the elements may go from the first one, less what each dimension takes of it. Nothing
  // wraps as long as all is good.
  Value offset = requirements.value(op.getMixedOffsets()[0]);
  Value ahead = requirements.subtract(high, offset), behind = requirements.subtract(offset, low);
  Value isGood = requirements.both(requirements.compare(P::sge, ahead, zero),
                                   requirements.compare(P::sge, behind, zero));
  for (auto [mixedSize, mixedStride] : llvm::zip(op.getMixedSizes(), op.getMixedStrides())) {
    Value size = requirements.value(mixedSize), stride = requirements.value(mixedStride);
    isEmpty = requirements.either(isEmpty, requirements.compare(P::eq, size, zero));
    Value isForward = requirements.compare(P::sge, stride, zero);
    Value step = requirements.choose(isForward, stride, requirements.subtract(zero, stride));
    Value steps = requirements.subtract(size, one);
    Value room = requirements.choose(isForward, ahead, behind);
    Value most = requirements.divide(
        room, requirements.choose(requirements.compare(P::sgt, step, zero), step, one));
    Value fits = requirements.either(requirements.compare(P::eq, step, zero),
                                     requirements.compare(P::sle, steps, most));
    isGood = requirements.both(isGood, fits);
    isGood = requirements.both(isGood, requirements.compare(P::sge, size, zero));
    isGood = requirements.both(isGood, requirements.compare(P::sge, step, zero));
    Value rest = requirements.subtract(room, requirements.multiply(steps, step));
    ahead = requirements.choose(isForward, rest, ahead);
    behind = requirements.choose(isForward, behind, rest);
  }
  requirements.require(requirements.either(isEmpty, isGood),
                       "elements leave those of the source, {0} to {1}", {low, high});
  return requirements.count;
}

} // namespace

unsigned checkView(Operation *op) {
  return llvm::TypeSwitch<Operation *, unsigned>(op)
      .Case<tensor::ExtractSliceOp, memref::SubViewOp>(
          [&](auto op) { return checkSlice(op, op.getSource(), {}, op.getDroppedDims()); })
      .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>([&](auto op) {
        return checkSlice(op, op.getDest(), op.getSource(), op.getDroppedDims());
      })
      .Case<tensor::CastOp, memref::CastOp>([&](auto op) { return checkCast(op); })
      .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>([&](auto op) {
        return checkExpansion(op, op.getSrc(), op.getReassociationIndices(),
                              op.getMixedOutputShape());
      })
      .Case<tensor::CollapseShapeOp, memref::CollapseShapeOp>(
          [&](auto op) { return checkCollapse(op, op.getSrc(), op.getReassociationIndices()); })
      .Case<tensor::ReshapeOp, memref::ReshapeOp>([&](auto op) { return checkReshape(op); })
      .Case([&](memref::CopyOp op) { return checkSameExtents(op, op.getSource(), op.getTarget()); })
      .Case([&](bufferization::MaterializeInDestinationOp op) {
        return checkSameExtents(op, op.getSource(), op.getDest());
      })
      .Case([&](memref::ViewOp op) { return checkBytes(op); })
      .Case([&](memref::ReinterpretCastOp op) { return checkReinterpretation(op); })
      .Default(0u);
}

} // namespace plim::ir
