#include "ir/Analysis/Reductions.h"
#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/Products.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace plim::ir;

bool plim::ir::hasElementOfEach(linalg::LinalgOp op, OpOperand &init) {
  return op.getMatchingIndexingMap(&init).isPermutation();
}

linalg::GenericOp plim::ir::fuseProducers(RewriterBase &rewriter, linalg::LinalgOp named,
                                          llvm::function_ref<bool(linalg::GenericOp)> accepts) {
  auto op = dyn_cast<linalg::GenericOp>(named.getOperation());
  if (!op) {
    rewriter.setInsertionPoint(named);
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, named);
    if (failed(generic))
      return {};
    op = *generic;
  }
  for (unsigned i = 0; i < op.getNumDpsInputs(); ++i) {
    OpOperand &input = op->getOpOperand(i);
    auto producer = input.get().getDefiningOp<linalg::GenericOp>();
    if (!producer || !producer->hasOneUse() || producer->hasAttr(deviceAttr) ||
        hasPinnedResult(producer) || !linalg::areElementwiseOpsFusable(&input))
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, &input);
    if (failed(result))
      continue;
    auto fused = cast<linalg::GenericOp>(result->fusedOp);
    if (!accepts(fused)) {
      rewriter.eraseOp(fused);
      continue;
    }
    for (OpResult old : op->getResults())
      rewriter.replaceAllUsesWith(old, result->replacements[old]);
    rewriter.eraseOp(op);
    rewriter.eraseOp(producer);
    return fuseProducers(rewriter, fused, accepts);
  }
  return op;
}

bool plim::ir::dependsOnOrder(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
    return !hasElementOfEach(op, init) &&
           !(combiner &&
             (isa<IntegerType>(combiner->getResult(0).getType()) ||
              isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
                  combiner)));
  });
}

bool plim::ir::sumsColumns(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || productOf(op) || !dependsOnOrder(op) ||
      !mayReorderReduction(op) || !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return map.isProjectedPermutation();
      }))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (hasElementOfEach(op, init) ||
        !neutralElement(op.getMatchingYieldValue(&init)->get().getDefiningOp()))
      return false;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    auto isAlong = [&](unsigned loop) { return map.isFunctionOfDim(loop); };
    if (llvm::none_of(reduced, isAlong))
      return false;
    const unsigned column = map.getDimPosition(map.getNumResults() - 1);
    return !llvm::is_contained(reduced, column) && sizes[column] != 1;
  });
}

bool plim::ir::mayReorderReduction(linalg::LinalgOp op) {
  if (op->hasAttr(inOrderAttr))
    return false;
  Operation *yield = op.getBlock()->getTerminator();
  return llvm::all_of(
      llvm::zip(yield->getOperands(), op.getRegionOutputArgs()), [&](auto yieldedAndAccumulator) {
        auto [yielded, accumulator] = yieldedAndAccumulator;
        Operation *combiner = yielded.getDefiningOp();
        return hasElementOfEach(op, *op.getMatchingOpOperand(accumulator)) ||
               (accumulator.hasOneUse() && *accumulator.user_begin() == combiner &&
                // Another accumulator is no element, and neither is what another one has become.
                combiner->hasOneUse() &&
                llvm::none_of(combiner->getOperands(),
                              [&, accumulator = accumulator](Value operand) {
                                return operand != accumulator &&
                                       llvm::is_contained(op.getRegionOutputArgs(), operand);
                              }) &&
                isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                    arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::AddFOp,
                    arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                    arith::MinNumFOp, complex::AddOp, complex::MulOp>(combiner));
      });
}

std::optional<Combination> plim::ir::combinationOf(Value value, BlockArgument accumulator) {
  Operation *combiner = value.getDefiningOp();
  if (!combiner || combiner->getNumOperands() != 2 || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner)
    return std::nullopt;
  return Combination{combiner,
                     combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0)};
}

TypedAttr plim::ir::neutralElement(Operation *combiner) {
  const Type type = combiner->getResult(0).getType();
  // 0.0 would make of sums of -0.0 something else.
  if (isa<arith::AddFOp>(combiner))
    return FloatAttr::get(
        type, APFloat::getZero(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true));
  if (!type.isIntOrFloat())
    return {};
  return arith::getNeutralElement(combiner).value_or(TypedAttr());
}

namespace {

/// The sum or product that folds an element into an accumulator of 16 bits, if nothing else sees it.
Operation *narrowCombiner(linalg::LinalgOp op, OpOperand &init) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(init.get()));
  if (!type || type.getWidth() != 16)
    return nullptr;
  BlockArgument accumulator = op.getMatchingBlockArgument(&init);
  Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
  bool isOne = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combiner) && combiner->hasOneUse() &&
               accumulator.hasOneUse() && *accumulator.user_begin() == combiner;
  return isOne ? combiner : nullptr;
}

/// `value` in f32. The factors of a product are widened instead of it, so that it is exact.
Value widen(OpBuilder &b, Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse())
    return arith::ExtFOp::create(b, value.getLoc(), b.getF32Type(), value);
  Value left = arith::ExtFOp::create(b, value.getLoc(), b.getF32Type(), product.getLhs());
  Value right = arith::ExtFOp::create(b, value.getLoc(), b.getF32Type(), product.getRhs());
  return arith::MulFOp::create(b, value.getLoc(), left, right, product.getFastmathAttr());
}

void widenCombiner(Operation *combiner, BlockArgument accumulator) {
  OpBuilder b(combiner);
  accumulator.setType(b.getF32Type());
  IRMapping wide;
  for (Value operand : combiner->getOperands())
    wide.map(operand, operand == accumulator ? operand : widen(b, operand));
  Operation *sum = b.clone(*combiner, wide);
  sum->getResult(0).setType(b.getF32Type());
  combiner->replaceAllUsesWith(sum);
  SmallVector<Value> terms(combiner->getOperands());
  combiner->erase();
  for (Value term : terms)
    if (Operation *narrow = term.getDefiningOp(); narrow && isOpTriviallyDead(narrow))
      narrow->erase();
}

/// Converts each element of `from` into the type of `into`, whose memory it may take.
Value convert(OpBuilder &b, Location loc, Value from, Value into) {
  auto type = cast<RankedTensorType>(into.getType());
  AffineMap map = b.getMultiDimIdentityMap(unsigned(type.getRank()));
  SmallVector kinds(size_t(type.getRank()), utils::IteratorType::parallel);
  bool narrows = type.getElementType().getIntOrFloatBitWidth() == 16;
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange(from), ValueRange(into), {map, map}, kinds,
             [&](OpBuilder &body, Location at, ValueRange arguments) {
               Type element = type.getElementType();
               Value result =
                   narrows ? arith::TruncFOp::create(body, at, element, arguments[0]).getResult()
                           : arith::ExtFOp::create(body, at, element, arguments[0]).getResult();
               linalg::YieldOp::create(body, at, result);
             })
      .getResult(0);
}

} // namespace

linalg::LinalgOp plim::ir::widenAccumulators(linalg::LinalgOp op, unsigned &widened) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands(op->getOperands());
  SmallVector<Type> types(op->getResultTypes());
  SmallVector<Value> destinations(
      types.size()); // of the narrow results; null where nothing changes
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!narrowCombiner(op, init))
      continue;
    Value narrow = init.get();
    Value empty =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, narrow), b.getF32Type());
    destinations[i] = narrow;
    Value &wide = operands[init.getOperandNumber()];
    if (auto fill = narrow.getDefiningOp<linalg::FillOp>()) {
      Value value = arith::ExtFOp::create(b, loc, b.getF32Type(), fill.getInputs()[0]);
      wide = linalg::FillOp::create(b, loc, value, empty).getResult(0);
      destinations[i] = fill.getOutputs()[0];
    } else {
      wide = convert(b, loc, narrow, empty);
    }
    types[i] = wide.getType();
    ++widened;
  }
  if (llvm::none_of(destinations, [](Value each) { return each != nullptr; }))
    return {};
  auto wideOp = cast<linalg::LinalgOp>(mlir::clone(b, op, types, operands));
  SmallVector<Value> results(wideOp->getResults());
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    if (!destination)
      continue;
    OpOperand &init = wideOp.getDpsInitsMutable()[i];
    widenCombiner(wideOp.getMatchingYieldValue(&init)->get().getDefiningOp(),
                  wideOp.getMatchingBlockArgument(&init));
    results[i] = convert(b, loc, results[i], destination);
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return wideOp;
}
