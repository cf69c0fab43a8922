#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/raw_ostream.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKSHAPES
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using plim::ir::locationText;

namespace {

/// An extent that a loop of the op takes its trip count from.
struct Extent {
  unsigned operand;
  unsigned dimension;
  int64_t size;
};

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
    using Bounds = ValueBoundsConstraintSet;
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
                Bounds::compare(Bounds::Variable(operand.get(), position),
                                Bounds::ComparisonOperator::LE,
                                Bounds::Variable(shaped, dimension)))
              return true;
    }
    return Bounds::compare(Bounds::Variable(index), Bounds::ComparisonOperator::GE,
                           OpFoldResult(Builder(index.getContext()).getIndexAttr(0))) &&
           Bounds::compare(Bounds::Variable(index), Bounds::ComparisonOperator::LT,
                           Bounds::Variable(shaped, dimension));
  }

private:
  DataFlowSolver solver;
  bool known;
};

struct CheckShapes : plim::ir::impl::PlimCheckShapesBase<CheckShapes> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    // Before anything is inserted: extents that the checks ask for need no check.
    SmallVector<RuntimeVerifiableOpInterface> accesses;
    getOperation().walk([&](RuntimeVerifiableOpInterface access) {
      if (isa<tensor::TensorDialect>(access->getDialect()) && !elementAccess(access))
        accesses.push_back(access);
    });
    checkElements();
    checkDivisions();
    for (linalg::LinalgOp op : ops)
      check(op);
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

  /// Single elements, wherever they are accessed. Kernels are their author's own.
  void checkElements() {
    if (getOperation()->hasAttr(plim::ir::kernelAttr))
      return;
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
    OpBuilder builder(access.op);
    Location loc = access.op->getLoc();
    Value inside;
    for (int64_t dimension : dimensions) {
      Value position = arith::ConstantIndexOp::create(builder, loc, dimension);
      Value extent = isa<TensorType>(access.shaped.getType())
                         ? builder.createOrFold<tensor::DimOp>(loc, access.shaped, position)
                         : builder.createOrFold<memref::DimOp>(loc, access.shaped, position);
      // Unsigned: a negative index is a large one.
      Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       access.indices[dimension], extent);
      std::string type;
      llvm::raw_string_ostream(type) << access.shaped.getType();
      std::string message =
          "index out of range in dimension " + std::to_string(dimension) + " of " + type;
      if (!isLate) {
        require(builder, access.op, ok, message);
        continue;
      }
      ok = plim::ir::CheckOp::create(builder, loc, ok, locationText(loc) + message);
      inside = inside ? arith::AndIOp::create(builder, loc, inside, ok).getResult() : ok;
      ++checks;
    }
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

  /// Integers divided by zero are an error of the call; the smallest number by -1 wraps, as products do.
  /// Neither traps. Kernels are their author's own.
  void checkDivisions() {
    if (getOperation()->hasAttr(plim::ir::kernelAttr))
      return;
    SmallVector<Operation *> divisions;
    getOperation().walk([&](Operation *op) {
      if (isSignedDivision(op) || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
        divisions.push_back(op);
    });
    for (Operation *op : divisions)
      checkDivision(op);
  }

  static bool isSignedDivision(Operation *op) {
    return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  }

  void checkDivision(Operation *op) {
    Value dividend = op->getOperand(0), divisor = op->getOperand(1);
    bool isSigned = isSignedDivision(op);
    APInt constant;
    bool isConstant = matchPattern(divisor, m_ConstantInt(&constant));
    if (isConstant && !constant.isZero() && !(isSigned && constant.isAllOnes()))
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type type = divisor.getType();
    unsigned width = getElementTypeOrSelf(type).isIndex()
                         ? IndexType::kInternalStorageBitWidth
                         : getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    auto number = [&](const APInt &value) -> Value {
      TypedAttr attribute = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto vectorType = dyn_cast<VectorType>(type))
        attribute = DenseElementsAttr::get(vectorType, Attribute(attribute));
      return arith::ConstantOp::create(builder, loc, attribute);
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value value, const APInt &other) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate, value, number(other));
    };
    using P = arith::CmpIPredicate;
    Value safe = divisor;
    if (!isConstant || constant.isZero()) {
      Value all = compare(P::ne, divisor, APInt::getZero(width));
      if (auto vectorType = dyn_cast<VectorType>(type)) {
        auto flat = VectorType::get({vectorType.getNumElements()}, builder.getI1Type());
        all = vector::ShapeCastOp::create(builder, loc, flat, all);
        all = vector::ReductionOp::create(builder, loc, vector::CombiningKind::AND, all);
      }
      const char *message = "integer division by zero";
      if (isInLateBody(op)) {
        all = plim::ir::CheckOp::create(builder, loc, all, locationText(loc) + message);
        ++checks;
        safe = arith::SelectOp::create(builder, loc, all, safe, number(APInt(width, 1)));
      } else {
        require(builder, op, all, message);
      }
    }
    if (isSigned && width > 1) {
      Value wraps =
          arith::AndIOp::create(builder, loc, compare(P::eq, divisor, APInt::getAllOnes(width)),
                                compare(P::eq, dividend, APInt::getSignedMinValue(width)));
      // The same result, for a remainder as well.
      safe = arith::SelectOp::create(builder, loc, wraps, number(APInt(width, 1)), safe);
    }
    op->setOperand(1, safe);
  }

  /// In the body of an op on tensors, unless what is read may decide that a loop goes on for ever.
  static bool canFailLate(Operation *op) { return isa<tensor::ExtractOp>(op) && isInLateBody(op); }

  static bool isInLateBody(Operation *op) {
    for (; op; op = op->getParentOp()) {
      if (isa<scf::WhileOp>(op))
        return false;
      if (auto body = dyn_cast<linalg::LinalgOp>(op))
        return body.hasPureTensorSemantics();
    }
    return false;
  }

  static Value zero(OpBuilder &builder, Location loc, Type type) {
    auto complexType = dyn_cast<ComplexType>(type);
    if (!complexType)
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Attribute part = builder.getZeroAttr(complexType.getElementType());
    return complex::ConstantOp::create(builder, loc, type, builder.getArrayAttr({part, part}));
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
