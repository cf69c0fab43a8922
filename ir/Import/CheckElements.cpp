#include "ir/Import/Requirements.h"
#include "ir/Import/ShapeChecks.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ValueBounds.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace plim::ir {

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

/// Accesses at affine indices become those at the values of the indices.
void expandAffine(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
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

/// In the body of an op on tensors, unless what is read may decide that a loop goes on for ever.
bool canFailLate(Operation *op) { return isa<tensor::ExtractOp>(op) && isInLateBody(op); }

Value zero(OpBuilder &builder, Location loc, Type type) {
  auto complexType = dyn_cast<ComplexType>(type);
  if (!complexType)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Attribute part = builder.getZeroAttr(complexType.getElementType());
  return complex::ConstantOp::create(builder, loc, type, builder.getArrayAttr({part, part}));
}

/// Of the dimensions whose index may lie outside.
unsigned checkElement(const ElementAccess &access, ArrayRef<int64_t> dimensions) {
  bool isLate = canFailLate(access.op);
  Requirements requirements(access.op);
  OpBuilder &builder = requirements.builder;
  Location loc = access.op->getLoc();
  Value inside;
  unsigned count = 0;
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
    ++count;
  }
  count += requirements.count;
  if (!inside)
    return count;
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
  return count;
}

} // namespace

unsigned checkElements(func::FuncOp function) {
  expandAffine(function);
  SmallVector<ElementAccess> accesses;
  function.walk([&](Operation *op) {
    if (std::optional<ElementAccess> access = elementAccess(op))
      accesses.push_back(*access);
  });
  if (accesses.empty())
    return 0;
  IndexRanges ranges(function);
  SmallVector<SmallVector<int64_t>> unknown;
  for (const ElementAccess &access : accesses) {
    SmallVector<int64_t> &dimensions = unknown.emplace_back();
    for (auto [dimension, index] : llvm::enumerate(access.indices))
      if (!ranges.isInside(index, access.shaped, dimension))
        dimensions.push_back(dimension);
  }
  unsigned count = 0;
  for (auto [access, dimensions] : llvm::zip(accesses, unknown))
    count += checkElement(access, dimensions);
  return count;
}

} // namespace plim::ir
