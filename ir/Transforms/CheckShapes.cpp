#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/raw_ostream.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKSHAPES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// An extent that a loop of the op takes its trip count from.
struct Extent {
  unsigned operand;
  unsigned dimension;
  int64_t size;
};

/// "file:line:column", or an empty string for an op without one.
std::string locationText(Location loc) {
  std::string text;
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()) + ": ")
               .str();
  return text;
}

struct CheckShapes : plim::ir::impl::PlimCheckShapesBase<CheckShapes> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops)
      check(op);
    // Slices and single elements, where they stand in host code: inside a body a check of every
    // element would cost more than the access.
    SmallVector<RuntimeVerifiableOpInterface> accesses;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      if (auto access = dyn_cast<RuntimeVerifiableOpInterface>(op);
          access && isa<tensor::TensorDialect>(op->getDialect()))
        accesses.push_back(access);
      return WalkResult::advance();
    });
    getOperation().walk([&](tensor::ExpandShapeOp op) { checkExpansion(op); });
    getOperation().walk([&](tensor::InsertSliceOp op) { checkInsertion(op); });
    for (RuntimeVerifiableOpInterface access : accesses) {
      OpBuilder builder(access);
      access.generateRuntimeVerification(
          builder, access.getLoc(), [](Operation *op, StringRef message) {
            return locationText(op->getLoc()) + "'" + op->getName().getStringRef().str() +
                   "': " + message.str();
          });
      ++checks;
    }
  }

  /// Upstream has no check of the slice that is written.
  void checkInsertion(tensor::InsertSliceOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto value = [&](OpFoldResult v) { return getValueOrCreateConstantIndexOp(builder, loc, v); };
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate, a, b);
    };
    auto sizes = op.getMixedSizes(), offsets = op.getMixedOffsets(), strides = op.getMixedStrides();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    int64_t sourceDimension = 0;
    using P = arith::CmpIPredicate;
    for (size_t i = 0; i < sizes.size(); ++i) {
      Value size = value(sizes[i]), offset = value(offsets[i]);
      if (!dropped.test(i)) {
        int64_t dimension = sourceDimension++;
        if (op.getSourceType().isDynamicDim(dimension)) {
          Value extent = builder.createOrFold<tensor::DimOp>(
              loc, op.getSource(), arith::ConstantIndexOp::create(builder, loc, dimension));
          require(builder, op, compare(P::eq, extent, size),
                  "the source does not have the size of the slice in dimension " + Twine(i));
        }
      }
      if (getConstantIntValue(sizes[i]) && getConstantIntValue(offsets[i]) &&
          getConstantIntValue(strides[i]) && !op.getDestType().isDynamicDim(i))
        continue; // the verifier of the op has checked it
      Value last = arith::AddIOp::create(
          builder, loc, offset,
          arith::MulIOp::create(builder, loc, arith::SubIOp::create(builder, loc, size, one),
                                value(strides[i])));
      Value end = builder.createOrFold<tensor::DimOp>(
          loc, op.getDest(), arith::ConstantIndexOp::create(builder, loc, i));
      Value inside =
          arith::AndIOp::create(builder, loc, compare(P::sge, offset, zero),
                                arith::AndIOp::create(builder, loc, compare(P::sge, last, zero),
                                                      compare(P::slt, last, end)));
      // An empty slice touches nothing, wherever it lies.
      inside = arith::AndIOp::create(builder, loc, inside, compare(P::sge, size, zero));
      Value good = arith::OrIOp::create(builder, loc, compare(P::eq, size, zero), inside);
      require(builder, op, good, "the slice leaves the destination in dimension " + Twine(i));
    }
  }

  /// The extents that one is expanded to must multiply to it.
  void checkExpansion(tensor::ExpandShapeOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    for (auto [dimension, group] : llvm::enumerate(op.getReassociationIndices())) {
      unsigned dynamic = llvm::count_if(group, [&](int64_t i) {
        return ShapedType::isDynamic(op.getResultType().getDimSize(i));
      });
      if (dynamic == 0)
        continue;
      Value product = arith::ConstantIndexOp::create(builder, loc, 1);
      for (int64_t i : group)
        product = arith::MulIOp::create(builder, loc, product,
                                        getValueOrCreateConstantIndexOp(builder, loc, sizes[i]));
      Value size = builder.createOrFold<tensor::DimOp>(
          loc, op.getSrc(), arith::ConstantIndexOp::create(builder, loc, dimension));
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, product, size);
      require(builder, op, same,
              "extent " + Twine(dimension) + " cannot be expanded to the extents given");
    }
  }

  void check(linalg::LinalgOp op) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<std::optional<Extent>> loops(op.getNumLoops());
    OpBuilder builder(op);

    // Extents that are a loop by themselves: all must agree with the first.
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
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
          requireEqual(builder, op, *first, extent);
      }
    }
    // Extents that are read through a window, a * i + b * j + c: the last element must exist.
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      for (auto [dimension, result] :
           llvm::enumerate(maps[operand.getOperandNumber()].getResults()))
        if (isa<AffineBinaryOpExpr>(result))
          requireWindow(builder, op, loops, result,
                        Extent{operand.getOperandNumber(), unsigned(dimension),
                               op.getShape(&operand)[dimension]});
    }
  }

  Value sizeOf(OpBuilder &builder, linalg::LinalgOp op, const Extent &extent) {
    return builder.createOrFold<tensor::DimOp>(
        op.getLoc(), op->getOperand(extent.operand),
        arith::ConstantIndexOp::create(builder, op.getLoc(), extent.dimension));
  }

  void require(OpBuilder &builder, Operation *op, Value condition, const Twine &message) {
    cf::AssertOp::create(builder, op->getLoc(), condition,
                         builder.getStringAttr(locationText(op->getLoc()) + message));
    ++checks;
  }

  void requireEqual(OpBuilder &builder, linalg::LinalgOp op, const Extent &a, const Extent &b) {
    Value left = sizeOf(builder, op, a), right = sizeOf(builder, op, b);
    if (left == right)
      return;
    Value same = arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::eq, left, right);
    require(builder, op, same,
            "extent " + Twine(a.dimension) + " of operand " + Twine(a.operand) + " and extent " +
                Twine(b.dimension) + " of operand " + Twine(b.operand) + " of '" +
                op->getName().getStringRef() + "' differ");
  }

  /// With all coefficients positive the largest index is reached at the last iteration of every
  /// loop. Other expressions are left to the verifier of the op.
  void requireWindow(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<std::optional<Extent>> loops,
                     AffineExpr expression, const Extent &extent) {
    bool dynamic = ShapedType::isDynamic(extent.size);
    bool known = true;
    expression.walk([&](AffineExpr part) {
      if (auto loop = dyn_cast<AffineDimExpr>(part)) {
        known &= loops[loop.getPosition()].has_value();
        if (known)
          dynamic |= ShapedType::isDynamic(loops[loop.getPosition()]->size);
      } else if (auto constant = dyn_cast<AffineConstantExpr>(part)) {
        known &= constant.getValue() >= 0;
      } else if (part.getKind() != AffineExprKind::Add && part.getKind() != AffineExprKind::Mul) {
        known = false;
      }
    });
    if (!dynamic || !known)
      return;
    Location loc = op.getLoc();
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value anyEmpty;
    std::function<Value(AffineExpr)> last = [&](AffineExpr part) -> Value {
      if (auto loop = dyn_cast<AffineDimExpr>(part)) {
        Value size = sizeOf(builder, op, *loops[loop.getPosition()]);
        Value empty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, zero);
        anyEmpty =
            anyEmpty ? arith::OrIOp::create(builder, loc, anyEmpty, empty).getResult() : empty;
        return arith::SubIOp::create(builder, loc, size, one);
      }
      if (auto constant = dyn_cast<AffineConstantExpr>(part))
        return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
      auto binary = cast<AffineBinaryOpExpr>(part);
      Value left = last(binary.getLHS()), right = last(binary.getRHS());
      if (part.getKind() == AffineExprKind::Add)
        return arith::AddIOp::create(builder, loc, left, right);
      return arith::MulIOp::create(builder, loc, left, right);
    };
    Value index = last(expression);
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index,
                                         sizeOf(builder, op, extent));
    // No iteration, no access.
    inside = arith::OrIOp::create(builder, loc, inside, anyEmpty);
    require(builder, op, inside,
            "extent " + Twine(extent.dimension) + " of operand " + Twine(extent.operand) + " of '" +
                op->getName().getStringRef() + "' is too small for the window that reads it");
  }
};

} // namespace
