#include "ir/Import/LoopBounds.h"
#include "ir/Import/Passes.h"
#include "ir/Import/Requirements.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ValueBounds.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKSHAPES
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// One element that an op reads or writes.
struct ElementAccess {
  Operation *op = nullptr;
  Value shaped;
  ValueRange indices;
};

std::optional<ElementAccess> elementAccess(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return ElementAccess{op, extract.getTensor(), extract.getIndices()};
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return ElementAccess{op, insert.getDest(), insert.getIndices()};
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return ElementAccess{op, load.getMemRef(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return ElementAccess{op, store.getMemRef(), store.getIndices()};
  if (auto update = dyn_cast<memref::AtomicRMWOp>(op))
    return ElementAccess{op, update.getMemref(), update.getIndices()};
  if (auto update = dyn_cast<memref::GenericAtomicRMWOp>(op))
    return ElementAccess{op, update.getMemref(), update.getIndices()};
  return std::nullopt;
}

/// Tells which indices lie inside whatever the data.
class IndexRanges {
public:
  explicit IndexRanges(Operation *root) {
    solver.load<dataflow::DeadCodeAnalysis>();
    solver.load<dataflow::SparseConstantPropagation>();
    solver.load<dataflow::IntegerRangeAnalysis>();
    known = succeeded(solver.initializeAndRun(root));
  }

  bool isInside(Value index, Value shaped, int64_t dimension) {
    int64_t extent = cast<ShapedType>(shaped.getType()).getDimSize(dimension);
    // What the type of the data or a clamp bounds.
    if (!ShapedType::isDynamic(extent) && known)
      if (auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(index);
          state && !state->getValue().isUninitialized()) {
        const ConstantIntRanges &range = state->getValue().getValue();
        if (range.smin().isNonNegative() && range.smax().slt(extent))
          return true;
      }
    // What the loops bound: all operands that a loop runs along have the same extent, or the call
    // has failed.
    if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
      auto op = cast<linalg::LinalgOp>(loop->getParentOp());
      for (OpOperand &operand : op->getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()))
          for (auto [position, result] :
               llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
            if (result == getAffineDimExpr(loop.getDim(), index.getContext()) &&
                isKnown({operand.get(), int64_t(position)}, BoundsComparison::LE,
                        {shaped, dimension}))
              return true;
    }
    return isKnown(index, BoundsComparison::GE,
                   OpFoldResult(Builder(index.getContext()).getIndexAttr(0))) &&
           isKnown(index, BoundsComparison::LT, {shaped, dimension});
  }

private:
  DataFlowSolver solver;
  bool known;
};

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
      expandAffine();
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) { ops.push_back(op); });
      // First, before anything is inserted: extents that the checks ask for need no check.
      checkElements();
      for (Operation *op : ops)
        check(op);
    }
    function.walk([](Operation *op) { op->removeAttr(sourceOpAttr); });
  }

  void check(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](linalg::LinalgOp op) { checkLoops(op); })
        .Case<tensor::ExtractSliceOp, memref::SubViewOp>(
            [&](auto op) { checkSlice(op, op.getSource(), {}, op.getDroppedDims()); })
        .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(
            [&](auto op) { checkSlice(op, op.getDest(), op.getSource(), op.getDroppedDims()); })
        .Case<tensor::CastOp, memref::CastOp>([&](auto op) { checkCast(op); })
        .Case<tensor::ExpandShapeOp, memref::ExpandShapeOp>([&](auto op) {
          checkExpansion(op, op.getSrc(), op.getReassociationIndices(), op.getMixedOutputShape());
        })
        .Case<tensor::CollapseShapeOp, memref::CollapseShapeOp>(
            [&](auto op) { checkCollapse(op, op.getSrc(), op.getReassociationIndices()); })
        .Case<tensor::ReshapeOp, memref::ReshapeOp>([&](auto op) { checkReshape(op); })
        .Case([&](memref::CopyOp op) { checkSameExtents(op, op.getSource(), op.getTarget()); })
        .Case([&](bufferization::MaterializeInDestinationOp op) {
          checkSameExtents(op, op.getSource(), op.getDest());
        })
        .Case<vector::TransferReadOp, vector::TransferWriteOp>([&](auto op) { checkTransfer(op); })
        .Case<vector::LoadOp, vector::StoreOp>([&](auto op) { checkVector(op); })
        .Case<vector::GatherOp, vector::ScatterOp>(
            [&](auto op) { checkLanes(op, op.getBase(), op.getOffsets(), op.getIndices()); })
        .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>(
            [&](auto op) { checkLanes(op, op.getBase(), op.getIndices(), Value()); })
        .Case<vector::ExpandLoadOp, vector::CompressStoreOp>([&](auto op) { checkPacked(op); })
        .Case([&](memref::ViewOp op) { checkView(op); })
        .Case([&](memref::ReinterpretCastOp op) { checkReinterpretation(op); });
  }

  /// Accesses at affine indices become those at the values of the indices.
  void expandAffine() {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<affine::AffineReadOpInterface, affine::AffineWriteOpInterface>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      IRRewriter rewriter(op);
      auto expand = [&](auto access) {
        return *affine::expandAffineMap(rewriter, op->getLoc(), access.getAffineMap(),
                                        SmallVector<Value>(access.getMapOperands()));
      };
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](affine::AffineLoadOp op) {
            rewriter.replaceOpWithNewOp<memref::LoadOp>(op, op.getMemRef(), expand(op));
          })
          .Case([&](affine::AffineStoreOp op) {
            rewriter.replaceOpWithNewOp<memref::StoreOp>(op, op.getValueToStore(), op.getMemRef(),
                                                         expand(op));
          })
          .Case([&](affine::AffineVectorLoadOp op) {
            rewriter.replaceOpWithNewOp<vector::LoadOp>(op, op.getVectorType(), op.getMemRef(),
                                                        expand(op));
          })
          .Case([&](affine::AffineVectorStoreOp op) {
            rewriter.replaceOpWithNewOp<vector::StoreOp>(op, op.getValueToStore(), op.getMemRef(),
                                                         expand(op));
          });
    }
  }

  /// Single elements, wherever they are accessed.
  void checkElements() {
    SmallVector<ElementAccess> accesses;
    getOperation().walk([&](Operation *op) {
      if (std::optional<ElementAccess> access = elementAccess(op))
        accesses.push_back(*access);
    });
    if (accesses.empty())
      return;
    IndexRanges ranges(getOperation());
    SmallVector<SmallVector<int64_t>> unknown;
    for (const ElementAccess &access : accesses) {
      SmallVector<int64_t> &dimensions = unknown.emplace_back();
      for (auto [dimension, index] : llvm::enumerate(access.indices))
        if (!ranges.isInside(index, access.shaped, dimension))
          dimensions.push_back(dimension);
    }
    for (auto [access, dimensions] : llvm::zip(accesses, unknown))
      checkElement(access, dimensions);
  }

  void checkElement(const ElementAccess &access, ArrayRef<int64_t> dimensions) {
    bool isLate = canFailLate(access.op);
    Requirements requirements(access.op);
    OpBuilder &builder = requirements.builder;
    Location loc = access.op->getLoc();
    Value inside;
    for (int64_t dimension : dimensions) {
      Value index = access.indices[dimension];
      Value extent = requirements.extent(access.shaped, dimension);
      // Unsigned: a negative index is a large one.
      Value ok = requirements.compare(arith::CmpIPredicate::ult, index, extent);
      std::string type;
      llvm::raw_string_ostream(type) << access.shaped.getType();
      if (!isLate) {
        requirements.require(ok,
                             "index out of range in dimension " + Twine(dimension) + " of " + type +
                                 ", which has {1}: {0}",
                             {index, extent});
        continue;
      }
      ok = CheckOp::create(builder, loc, ok,
                           locationText(loc) + "index out of range in dimension " +
                               std::to_string(dimension) + " of " + type);
      inside = inside ? arith::AndIOp::create(builder, loc, inside, ok).getResult() : ok;
      ++checks;
    }
    checks += requirements.count;
    if (!inside)
      return;
    // In a body a branch out of the loop would keep it from being vectorised: the element is read
    // under a guard, as a masked load, and the loop goes on.
    auto extract = cast<tensor::ExtractOp>(access.op);
    auto guard = scf::IfOp::create(builder, loc, extract.getType(), inside, /*withElse=*/true);
    extract.replaceAllUsesWith(guard.getResult(0));
    extract->moveBefore(guard.thenBlock(), guard.thenBlock()->end());
    builder.setInsertionPointToEnd(guard.thenBlock());
    scf::YieldOp::create(builder, loc, extract.getResult());
    builder.setInsertionPointToEnd(guard.elseBlock());
    scf::YieldOp::create(builder, loc, zero(builder, loc, extract.getType()));
  }

  /// In the body of an op on tensors, unless what is read may decide that a loop goes on for ever.
  static bool canFailLate(Operation *op) { return isa<tensor::ExtractOp>(op) && isInLateBody(op); }

  static Value zero(OpBuilder &builder, Location loc, Type type) {
    auto complexType = dyn_cast<ComplexType>(type);
    if (!complexType)
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Attribute part = builder.getZeroAttr(complexType.getElementType());
    return complex::ConstantOp::create(builder, loc, type, builder.getArrayAttr({part, part}));
  }

  using P = arith::CmpIPredicate;

  /// The runtime would refuse a negative extent too, but knows no place.
  void checkExtents(Operation *op) {
    Requirements requirements(op);
    for (Value size : op->getOperands()) {
      if (!size.getType().isIndex() || size.getDefiningOp<ShapedDimOpInterface>() ||
          getConstantIntValue(size).value_or(-1) >= 0 || isNotNegative(size))
        continue;
      requirements.require(requirements.compare(P::sge, size, requirements.number(0)),
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

  /// A slice lies inside of what it is a slice of, and what is inserted has its extents. An empty slice
  /// touches nothing, wherever it lies. Upstream's check refuses one at the end, and its products wrap.
  void checkSlice(OffsetSizeAndStrideOpInterface op, Value whole, Value part,
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
      Value inside = requirements.both(
          requirements.compare(P::sgt, size, zero),
          requirements.both(requirements.compare(P::ult, offset, extent), hasRoom));
      // Also of an empty one no size is negative: what is made of it would not have the extents of its type.
      Value good = requirements.either(
          inside, requirements.both(isEmpty, requirements.compare(P::sge, size, zero)));
      requirements.require(good,
                           "the slice of {0} elements from {1} in steps of {2} leaves dimension " +
                               Twine(i) + " of " + text(type) + ", which has {3}",
                           {size, offset, stride, extent});
    }
    checks += requirements.count;
  }

  static std::string text(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Extents that the type says must be those that are.
  template <typename OpT> void checkCast(OpT op) {
    auto from = dyn_cast<ShapedType>(op.getSource().getType());
    auto to = dyn_cast<ShapedType>(op.getType());
    if (!from || !to || !from.hasRank() || !to.hasRank())
      return;
    Requirements requirements(op);
    for (int64_t i = 0; i < to.getRank(); ++i)
      if (from.isDynamicDim(unsigned(i)) && !to.isDynamicDim(unsigned(i))) {
        Value have = requirements.extent(op.getSource(), i);
        Value want = requirements.number(to.getDimSize(unsigned(i)));
        requirements.require(requirements.compare(P::eq, have, want),
                             "extent " + Twine(i) + " is {0}, but the type says {1}", {have, want});
      }
    checks += requirements.count;
  }

  /// The extents that one is expanded to multiply to it.
  void checkExpansion(Operation *op, Value source, ArrayRef<ReassociationIndices> groups,
                      ArrayRef<OpFoldResult> sizes) {
    Requirements requirements(op);
    for (auto [dimension, group] : llvm::enumerate(groups)) {
      SmallVector<Value> factors = llvm::map_to_vector(
          group, [&](int64_t i) { return requirements.value(sizes[size_t(i)]); });
      Value extent = requirements.extent(source, int64_t(dimension));
      requirements.require(requirements.isProduct(factors, extent),
                           "extent " + Twine(dimension) +
                               ", which is {0}, cannot be expanded to the extents given",
                           extent);
    }
    checks += requirements.count;
  }

  /// What the result says of an extent is the product of those that were collapsed.
  void checkCollapse(Operation *op, Value source, ArrayRef<ReassociationIndices> groups) {
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
    checks += requirements.count;
  }

  /// As many elements as the source has, and in the extents that the type says.
  template <typename OpT> void checkReshape(OpT op) {
    auto source = dyn_cast<ShapedType>(op.getSource().getType());
    auto result = dyn_cast<ShapedType>(op.getResult().getType());
    auto shapeType = cast<ShapedType>(op.getShape().getType());
    if (!source || !result || !source.hasRank() || !result.hasRank() ||
        !shapeType.hasStaticShape() || shapeType.getDimSize(0) != result.getRank())
      return;
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
                             "extent " + Twine(i) + " is {0}, but the type says {1}",
                             {extent, want});
      }
      extents.push_back(extent);
    }
    // The source is there: its elements can be counted.
    Value count = requirements.number(1);
    for (int64_t i = 0; i < source.getRank(); ++i)
      count = requirements.multiply(count, requirements.extent(op.getSource(), i));
    requirements.require(requirements.isProduct(extents, count),
                         "{0} elements cannot take the extents given", count);
    checks += requirements.count;
  }

  void checkSameExtents(Operation *op, Value from, Value to) {
    Requirements requirements(op);
    for (int64_t i = 0; i < cast<ShapedType>(from.getType()).getRank(); ++i) {
      Value left = requirements.extent(from, i), right = requirements.extent(to, i);
      requirements.require(requirements.compare(P::eq, left, right),
                           "extent " + Twine(i) + " of the source is {0}, of the target {1}",
                           {left, right});
    }
    checks += requirements.count;
  }

  /// Where a transfer says that it is in bounds it is not masked.
  template <typename OpT> void checkTransfer(OpT op) {
    Requirements requirements(op);
    AffineMap map = op.getPermutationMap();
    Operation::operand_range indices = op.getIndices();
    SmallVector<bool> seen(indices.size(), false);
    SmallVector<bool> inBounds = op.getInBoundsValues();
    const bool isMasked = bool(op.getMask());
    for (auto [lane, result] : llvm::enumerate(map.getResults())) {
      auto dimension = dyn_cast<AffineDimExpr>(result);
      if (!dimension)
        continue;
      unsigned i = dimension.getPosition();
      seen[i] = true;
      // Which lanes a mask leaves is not asked: the author's word for them is not needed.
      if (isMasked)
        inBounds[lane] = false;
      else if (inBounds[lane])
        requireRange(requirements, indices[i],
                     requirements.number(op.getVectorType().getDimSize(unsigned(lane))),
                     op.getBase(), i);
    }
    if (isMasked)
      op.setInBoundsAttr(requirements.builder.getBoolArrayAttr(inBounds));
    // The other indices name one element each.
    for (auto [i, index] : llvm::enumerate(indices))
      if (!seen[i])
        requireRange(requirements, index, requirements.number(1), op.getBase(), unsigned(i));
    checks += requirements.count;
  }

  template <typename OpT> void checkVector(OpT op) {
    Requirements requirements(op);
    Operation::operand_range indices = op.getIndices();
    VectorType type = op.getVectorType();
    for (auto [i, index] : llvm::enumerate(indices)) {
      int64_t lane = int64_t(i) - (int64_t(indices.size()) - type.getRank());
      requireRange(requirements, index,
                   requirements.number(lane < 0 ? 1 : type.getDimSize(unsigned(lane))),
                   op.getBase(), unsigned(i));
    }
    checks += requirements.count;
  }

  /// Which lanes an op with a mask accesses.
  template <typename OpT> static Value activeLanes(OpBuilder &b, OpT op) {
    auto type = cast<VectorType>(op.getMask().getType());
    auto flat = VectorType::get({type.getNumElements()}, type.getElementType());
    return b.createOrFold<vector::ShapeCastOp>(op.getLoc(), flat, op.getMask());
  }

  /// Each active lane accesses the last dimension at the last index and its own offset, or its number where
  /// there is none; the other indices are those of all.
  template <typename OpT> void checkLanes(OpT op, Value base, ValueRange indices, Value offsets) {
    Requirements requirements(op);
    OpBuilder &b = requirements.builder;
    Location loc = op.getLoc();
    Value active = activeLanes(b, op);
    auto type = cast<VectorType>(active.getType()).clone(b.getIndexType());
    Value positions = vector::StepOp::create(b, loc, type);
    if (offsets) {
      auto flat = type.clone(cast<VectorType>(offsets.getType()).getElementType());
      positions = b.createOrFold<vector::ShapeCastOp>(loc, flat, offsets);
      if (!flat.getElementType().isIndex())
        positions = arith::IndexCastOp::create(b, loc, type, positions);
    }
    Value first = vector::BroadcastOp::create(b, loc, type, indices.back());
    positions = arith::AddIOp::create(b, loc, positions, first);
    unsigned last = unsigned(indices.size()) - 1;
    Value extent = requirements.extent(base, last);
    Value limits = vector::BroadcastOp::create(b, loc, type, extent);
    // Unsigned: a negative position is a large one.
    Value outside = arith::CmpIOp::create(b, loc, P::uge, positions, limits);
    requirements.require(isNone(b, loc, arith::AndIOp::create(b, loc, active, outside)),
                         "a lane leaves dimension " + Twine(last) + ", which has {0}", extent);
    Value none = isNone(b, loc, active);
    for (auto [i, index] : llvm::enumerate(indices.drop_back()))
      requireRange(requirements, index, requirements.number(1), base, unsigned(i), none);
    checks += requirements.count;
  }

  static Value isNone(OpBuilder &b, Location loc, Value lanes) {
    Value any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, lanes);
    return arith::XOrIOp::create(b, loc, any,
                                 arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  }

  /// As many elements one after the other as there are active lanes.
  template <typename OpT> void checkPacked(OpT op) {
    Requirements requirements(op);
    OpBuilder &b = requirements.builder;
    Location loc = op.getLoc();
    Value active = activeLanes(b, op);
    Value ones = arith::ExtUIOp::create(
        b, loc, cast<VectorType>(active.getType()).clone(b.getI64Type()), active);
    Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, ones);
    Value count = arith::IndexCastOp::create(b, loc, b.getIndexType(), sum);
    Value none = requirements.compare(P::eq, count, requirements.number(0));
    for (auto [i, index] : llvm::enumerate(op.getIndices()))
      requireRange(requirements, index,
                   i + 1 == op.getIndices().size() ? count : requirements.number(1), op.getBase(),
                   unsigned(i), none);
    checks += requirements.count;
  }

  /// The elements lie among the bytes.
  void checkView(memref::ViewOp op) {
    Requirements requirements(op);
    Value zero = requirements.number(0), one = requirements.number(1);
    Value bytes = requirements.extent(op.getSource(), 0), shift = op.getByteShift();
    Value isGood = requirements.both(requirements.compare(P::sge, shift, zero),
                                     requirements.compare(P::sle, shift, bytes));
    DataLayout layout = DataLayout::closest(op);
    int64_t each = int64_t(layout.getTypeSize(op.getType().getElementType()).getFixedValue());
    Value room =
        requirements.divide(requirements.subtract(bytes, shift), requirements.number(each));
    Value isEmpty = requirements.compare(P::slt, room, zero); // never; for the fold
    for (OpFoldResult size :
         getMixedValues(op.getType().getShape(), op.getSizes(), op.getContext())) {
      Value extent = requirements.value(size);
      isGood = requirements.both(isGood, requirements.compare(P::sge, extent, zero));
      Value isZero = requirements.compare(P::eq, extent, zero);
      isEmpty = requirements.either(isEmpty, isZero);
      room = requirements.divide(room, requirements.choose(isZero, one, extent));
    }
    isGood = requirements.both(
        isGood, requirements.either(isEmpty, requirements.compare(P::sge, room, one)));
    requirements.require(isGood, "the view from byte {0} leaves the buffer, which has {1}",
                         {shift, bytes});
    checks += requirements.count;
  }

  /// Nothing lies outside of what the source spans. Offsets are those from the beginning of the buffer.
  void checkReinterpretation(memref::ReinterpretCastOp op) {
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
    // How far the elements may go from the first one, less what each dimension takes of it. Nothing wraps as
    // long as all is good.
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
    checks += requirements.count;
  }

  /// `count` elements from `index` on lie inside, unless `unless` holds.
  static void requireRange(Requirements &requirements, Value index, Value count, Value shaped,
                           unsigned dimension, Value unless = {}) {
    Value extent = requirements.extent(shaped, dimension);
    // Unsigned: a negative index is a large one.
    Value last = requirements.subtract(extent, count);
    Value inside = requirements.both(requirements.compare(P::sge, last, requirements.number(0)),
                                     requirements.compare(P::ule, index, last));
    if (unless)
      inside = requirements.either(unless, inside);
    requirements.require(
        inside, "{0} elements from {1} leave dimension " + Twine(dimension) + ", which has {2}",
        {count, index, extent});
  }

  /// Extents that one loop runs along agree, and whatever else is read or written exists.
  void checkLoops(linalg::LinalgOp op) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<std::optional<Extent>> loops(op.getNumLoops());
    Requirements requirements(op);

    // Extents that are a loop by themselves: all must agree with the first.
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ShapedType>(operand.get().getType()))
        continue;
      ArrayRef<int64_t> shape = op.getShape(&operand);
      for (auto [dimension, result] :
           llvm::enumerate(maps[operand.getOperandNumber()].getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(result);
        if (!loop)
          continue;
        Extent extent{operand.getOperandNumber(), unsigned(dimension), shape[dimension]};
        std::optional<Extent> &first = loops[loop.getPosition()];
        if (!first)
          first = extent;
        else if (ShapedType::isDynamic(first->size) || ShapedType::isDynamic(extent.size))
          requireEqual(requirements, op, *first, extent);
      }
    }
    LoopBounds bounds(requirements, op, loops);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ShapedType>(operand.get().getType()))
        continue;
      for (auto [dimension, result] :
           llvm::enumerate(maps[operand.getOperandNumber()].getResults()))
        if (!isa<AffineDimExpr>(result))
          bounds.require(result, operand, unsigned(dimension));
    }
    checks += requirements.count;
  }

  static void requireEqual(Requirements &requirements, linalg::LinalgOp op, const Extent &a,
                           const Extent &b) {
    Value left = requirements.extent(op->getOperand(a.operand), a.dimension);
    Value right = requirements.extent(op->getOperand(b.operand), b.dimension);
    if (left == right)
      return;
    requirements.require(requirements.compare(P::eq, left, right),
                         "extent " + Twine(a.dimension) + " of " +
                             operandText(op->getOpOperand(a.operand)) + " is {0}, but extent " +
                             Twine(b.dimension) + " of " +
                             operandText(op->getOpOperand(b.operand)) + " is {1}",
                         {left, right});
  }

  llvm::DenseMap<Value, bool> notNegative;
};

} // namespace
