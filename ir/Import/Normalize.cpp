#include "ir/Import/NormalizeVectors.h"
#include "ir/Import/Passes.h"
#include "ir/Import/Requirements.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMNORMALIZE
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Groups of dimensions that collapse the dropped dimensions of a slice into others.
SmallVector<ReassociationIndices> groupsOf(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t i = 0; i < int64_t(dropped.size()); ++i) {
    if (dropped.test(unsigned(i))) {
      (groups.empty() ? leading : groups.back()).push_back(i);
      continue;
    }
    groups.push_back(std::exchange(leading, {}));
    groups.back().push_back(i);
  }
  return groups;
}

/// May upstream take another dimension for the one that a slice drops? It knows of units only: of
/// two, it takes the first when types are made anew, and compares strides, which may be unknown, on
/// buffers.
bool isAmbiguous(ArrayRef<OpFoldResult> sizes, const llvm::SmallBitVector &dropped) {
  if (dropped.none() || dropped.all())
    return false;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (dropped.test(unsigned(i)))
      continue;
    std::optional<int64_t> known = getConstantIntValue(size);
    if (known == 1)
      return true;
    // It may turn out to be a unit that stands before one which is dropped.
    if (!known && dropped.find_last() > int(i))
      return true;
  }
  return false;
}

RankedTensorType typeOf(ArrayRef<OpFoldResult> sizes, Type element) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    auto known = dyn_cast<Attribute>(size);
    shape.push_back(known ? cast<IntegerAttr>(known).getInt() : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, element);
}

struct Normalize : plim::ir::impl::PlimNormalizeBase<Normalize> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      dropClaims(op);
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](arith::ConstantOp op) {
            // An element of it is folded to what lies behind it: it counts as one of equal
            // elements.
            if (auto type = dyn_cast<RankedTensorType>(op.getType());
                type && type.hasStaticShape() && type.getNumElements() == 0)
              replace<tensor::EmptyOp>(op, type.getShape(), type.getElementType());
          })
          .Case([&](index::CeilDivSOp op) {
            replace<arith::CeilDivSIOp>(op, op.getLhs(), op.getRhs());
          })
          .Case<complex::AddOp, complex::SubOp>([&](auto op) { splitSum(op); })
          .Case([&](complex::LogOp op) { splitLogarithm(op); })
          .Case([&](math::IPowIOp op) { raiseInteger(op); })
          .Case([&](scf::ForOp op) { countByIndex(op); })
          .Case([&](tensor::ExtractSliceOp op) { keepRank(op); })
          .Case([&](tensor::InsertSliceOp op) { keepRank(op); })
          .Case([&](memref::SubViewOp op) { keepRank(op); })
          .Case([&](tensor::ConcatOp op) { checkConcatenation(op); });
    normalized += normalizeVectors(getOperation());
  }

  template <typename NewT, typename OldT, typename... Args>
  void replace(OldT op, Args... arguments) {
    OpBuilder builder(op);
    auto made = NewT::create(builder, op.getLoc(), arguments...);
    op->replaceAllUsesWith(made->getResults());
    op->erase();
    ++normalized;
  }

  /// Of what the author promises, a sum that does not wrap or a quotient without remainder, nothing
  /// is needed, and a promise that is broken would leave no value at all.
  void dropClaims(Operation *op) {
    auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    if (flags && flags.getOverflowAttr().getValue() != arith::IntegerOverflowFlags::none) {
      op->setAttr(
          flags.getIntegerOverflowAttrName(),
          arith::IntegerOverflowFlagsAttr::get(&getContext(), arith::IntegerOverflowFlags::none));
      ++normalized;
    }
    if (isa<arith::ArithDialect>(op->getDialect()))
      for (StringRef claim : {"isExact", "nonNeg"})
        if (op->hasAttr(claim)) {
          op->removeAttr(claim);
          ++normalized;
        }
  }

  /// A number is not rounded the same way on both sides of a sum: (a - b) + b is not a.
  template <typename OpT> void splitSum(OpT op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    arith::FastMathFlagsAttr flags = op.getFastmathAttr();
    auto sum = [&](Value a, Value b) -> Value {
      if constexpr (std::is_same_v<OpT, complex::AddOp>)
        return arith::AddFOp::create(builder, loc, a, b, flags);
      else
        return arith::SubFOp::create(builder, loc, a, b, flags);
    };
    Value real = sum(complex::ReOp::create(builder, loc, op.getLhs()),
                     complex::ReOp::create(builder, loc, op.getRhs()));
    Value imaginary = sum(complex::ImOp::create(builder, loc, op.getLhs()),
                          complex::ImOp::create(builder, loc, op.getRhs()));
    replace<complex::CreateOp>(op, op.getType(), real, imaginary);
  }

  /// The imaginary part of a logarithm is an angle: log(exp(z)) is not z.
  void splitLogarithm(complex::LogOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value size = complex::AbsOp::create(builder, loc, op.getComplex(), op.getFastmathAttr());
    Value real = math::LogOp::create(builder, loc, size, op.getFastmathAttr());
    Value imaginary = complex::AngleOp::create(builder, loc, op.getComplex(), op.getFastmathAttr());
    replace<complex::CreateOp>(op, op.getType(), real, imaginary);
  }

  /// Upstream's function for it takes integers, not indices.
  void raiseInteger(math::IPowIOp op) {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isIndex())
      return;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Type integer = builder.getI64Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      integer = shaped.clone(integer);
    auto cast = [&](Type to, Value value) -> Value {
      return arith::IndexCastOp::create(builder, loc, to, value);
    };
    Value result =
        math::IPowIOp::create(builder, loc, cast(integer, op.getLhs()), cast(integer, op.getRhs()));
    replace<arith::IndexCastOp>(op, type, result);
  }

  /// The number of iterations fits in 64 bits, not in the bits of a narrow counter.
  void countByIndex(scf::ForOp loop) {
    auto type = dyn_cast<IntegerType>(loop.getInductionVar().getType());
    if (!type || type.getWidth() >= 64)
      return;
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    bool isUnsigned = loop.getUnsignedCmp();
    auto widen = [&](Value value) -> Value {
      if (isUnsigned)
        return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value);
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
    };
    loop.setLowerBound(widen(loop.getLowerBound()));
    loop.setUpperBound(widen(loop.getUpperBound()));
    loop.setStep(widen(loop.getStep()));
    loop.setUnsignedCmp(false);
    Value counter = loop.getInductionVar();
    counter.setType(builder.getIndexType());
    builder.setInsertionPointToStart(loop.getBody());
    Value narrow = arith::IndexCastOp::create(builder, loc, type, counter);
    counter.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
    ++normalized;
  }

  void keepRank(tensor::ExtractSliceOp op) {
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    if (!isAmbiguous(sizes, dropped))
      return;
    OpBuilder builder(op);
    auto whole = tensor::ExtractSliceOp::create(
        builder, op.getLoc(), typeOf(sizes, op.getType().getElementType()), op.getSource(),
        op.getMixedOffsets(), sizes, op.getMixedStrides());
    Value collapsed =
        tensor::CollapseShapeOp::create(builder, op.getLoc(), whole, groupsOf(dropped));
    if (collapsed.getType() != op.getType())
      collapsed = tensor::CastOp::create(builder, op.getLoc(), op.getType(), collapsed);
    op.replaceAllUsesWith(collapsed);
    op.erase();
    ++normalized;
  }

  void keepRank(memref::SubViewOp op) {
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    // Upstream's own answer is what cannot be trusted: sizes from left to right.
    llvm::SmallBitVector dropped(unsigned(sizes.size()));
    MemRefType type = op.getType();
    int64_t next = 0;
    for (auto [i, size] : llvm::enumerate(sizes)) {
      std::optional<int64_t> known = getConstantIntValue(size);
      bool fits =
          next < type.getRank() && (isa<Attribute>(size) ? known == type.getDimSize(unsigned(next))
                                                         : type.isDynamicDim(unsigned(next)));
      next += fits;
      dropped[unsigned(i)] = !fits;
    }
    if (next != type.getRank() || !isAmbiguous(sizes, dropped))
      return;
    OpBuilder builder(op);
    Value whole = memref::SubViewOp::create(builder, op.getLoc(), op.getSource(),
                                            op.getMixedOffsets(), sizes, op.getMixedStrides());
    Value collapsed =
        memref::CollapseShapeOp::create(builder, op.getLoc(), whole, groupsOf(dropped));
    if (collapsed.getType() != type)
      collapsed = memref::CastOp::create(builder, op.getLoc(), type, collapsed);
    op.replaceAllUsesWith(collapsed);
    op.erase();
    ++normalized;
  }

  void keepRank(tensor::InsertSliceOp op) {
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    if (!isAmbiguous(sizes, dropped))
      return;
    OpBuilder builder(op);
    // The extents are the source's own. A check where the slice is inserted compares them with
    // those of the slice.
    SmallVector<OpFoldResult> own;
    int64_t dimension = 0;
    for (unsigned i = 0; i < sizes.size(); ++i)
      own.push_back(dropped.test(i)
                        ? OpFoldResult(builder.getIndexAttr(1))
                        : tensor::getMixedSize(builder, op.getLoc(), op.getSource(), dimension++));
    auto whole = tensor::ExpandShapeOp::create(builder, op.getLoc(),
                                               typeOf(own, op.getSourceType().getElementType()),
                                               op.getSource(), groupsOf(dropped), own);
    // Of a slice whose extents are known the type has to know them too.
    Value source = whole;
    if (RankedTensorType type = typeOf(sizes, op.getSourceType().getElementType());
        type != source.getType())
      source = tensor::CastOp::create(builder, op.getLoc(), type, source);
    auto inserted =
        tensor::InsertSliceOp::create(builder, op.getLoc(), source, op.getDest(),
                                      op.getMixedOffsets(), sizes, op.getMixedStrides());
    op.replaceAllUsesWith(inserted.getResult());
    op.erase();
    ++normalized;
  }

  /// Once it is taken apart it is insertions, each of which fits for itself.
  void checkConcatenation(tensor::ConcatOp op) {
    Requirements requirements(op);
    Value first = op.getInputs().front();
    for (auto [i, input] : llvm::enumerate(op.getInputs().drop_front()))
      for (int64_t d = 0; d < op.getRank(); ++d) {
        if (uint64_t(d) == op.getDim())
          continue;
        Value have = requirements.extent(input, d), want = requirements.extent(first, d);
        requirements.require(requirements.compare(arith::CmpIPredicate::eq, have, want),
                             "extent " + Twine(d) + " of " +
                                 operandText(op->getOpOperand(unsigned(i + 1))) + " is {0}, of " +
                                 operandText(op->getOpOperand(0)) + " {1}",
                             {have, want});
      }
  }
};

} // namespace
