#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSEPARATEZEROPOINTS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// The sum of an operand is worth its reading where each element of it is multiplied so often.
constexpr int64_t leastProducts = 8;
/// Correcting a sum afterwards is worth it if the sum has so many terms.
constexpr int64_t leastTerms = 8;

/// One side of a product: an element of an operand, widened, less a number.
struct Factor {
  unsigned operand;
  Operation *extension;
  Value zeroPoint; // in the body of the op, or outside of it; null where there is none
};

/// The number outside of the op that is the same in all iterations; null where it is not.
Value hoisted(OpBuilder &builder, linalg::GenericOp op, Value inside) {
  Location loc = op.getLoc();
  if (inside.getParentBlock() != op.getBody())
    return inside;
  if (auto argument = dyn_cast<BlockArgument>(inside)) {
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    Value operand = op.getDpsInputs()[argument.getArgNumber()];
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return operand;
    return type.getRank() == 0 ? tensor::ExtractOp::create(builder, loc, operand).getResult()
                               : Value();
  }
  Operation *defining = inside.getDefiningOp();
  if (!isa<arith::ConstantOp, arith::ExtSIOp, arith::ExtUIOp>(defining))
    return {};
  IRMapping mapping;
  for (Value operand : defining->getOperands()) {
    Value outside = hoisted(builder, op, operand);
    if (!outside)
      return {};
    mapping.map(operand, outside);
  }
  return builder.clone(*defining, mapping)->getResult(0);
}

std::optional<Factor> factorOf(linalg::GenericOp op, Value value) {
  Factor factor{};
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    value = difference.getLhs();
    factor.zeroPoint = difference.getRhs();
  }
  factor.extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(factor.extension))
    return std::nullopt;
  auto element = dyn_cast<BlockArgument>(factor.extension->getOperand(0));
  if (!element || element.getOwner() != op.getBody() ||
      element.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  factor.operand = element.getArgNumber();
  if (!isa<RankedTensorType>(op->getOperand(factor.operand).getType()))
    return std::nullopt;
  return factor;
}

/// The factors of a sum of products of which at least one has a zero point, in the order of the
/// operands.
std::optional<std::array<Factor, 2>> factorsOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  auto sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!sum)
    return std::nullopt;
  Value accumulator = op.getRegionOutputArgs()[0];
  auto product =
      (sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs()).getDefiningOp<arith::MulIOp>();
  if (!product || (sum.getLhs() != accumulator && sum.getRhs() != accumulator))
    return std::nullopt;
  std::optional<Factor> left = factorOf(op, product.getLhs()),
                        right = factorOf(op, product.getRhs());
  if (!left || !right || left->operand == right->operand || (!left->zeroPoint && !right->zeroPoint))
    return std::nullopt;
  if (left->operand > right->operand)
    std::swap(left, right);
  return std::array<Factor, 2>{*left, *right};
}

struct SeparateZeroPoints : plim::ir::impl::PlimSeparateZeroPointsBase<SeparateZeroPoints> {
  void runOnOperation() override {
    FixedValues fixed(getOperation());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op->hasAttr(deviceAttr) && llvm::none_of(op.getDpsInits(), constrainedAllocation))
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops)
      if (std::optional<std::array<Factor, 2>> factors = factorsOf(op))
        separate(op, *factors, fixed);
  }

  void separate(linalg::GenericOp op, std::array<Factor, 2> factors, FixedValues &fixed) {
    IRRewriter rewriter(op);
    Value zeroPoints[2];
    for (unsigned side : {0U, 1U}) {
      Value inside = factors[side].zeroPoint;
      if (!inside)
        continue;
      zeroPoints[side] = hoisted(rewriter, op, inside);
      if (!zeroPoints[side])
        return;
      if (matchPattern(zeroPoints[side], m_Zero()))
        zeroPoints[side] = {};
    }
    for (unsigned side : {0U, 1U})
      if (zeroPoints[1 - side] && !maySum(op, factors[side].operand, fixed))
        return;
    // Loops that have places in the result are parallel, and no others.
    const AffineMap written = op.getIndexingMapsArray().back();
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (written.isFunctionOfDim(loop) != (kind == utils::IteratorType::parallel))
        return;
    linalg::GenericOp product = withoutZeroPoints(rewriter, op, factors);
    if (!productOf(product)) {
      rewriter.eraseOp(product);
      return;
    }
    ++separated;
    Value result = product.getResult(0), init = op.getDpsInits()[0];
    if (init.getDefiningOp<linalg::FillOp>()) {
      result = correct(rewriter, op, result, factors, zeroPoints);
    } else { // a bias is in memory before
      rewriter.setInsertionPoint(product);
      product.getDpsInitsMutable()[0].assign(correct(rewriter, op, init, factors, zeroPoints));
    }
    rewriter.replaceOp(op, result);
  }

  /// Does each sum have enough terms, in each of which another element of the operand that is
  /// summed occurs, and does each of these occur in enough products?
  static bool maySum(linalg::GenericOp op, unsigned operand, FixedValues &fixed) {
    const AffineMap map = op.getIndexingMapsArray()[operand];
    if (!map.isProjectedPermutation())
      return false;
    SmallVector<unsigned> others, depth;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      const bool isSummed = kind == utils::IteratorType::reduction;
      if (isSummed)
        depth.push_back(loop);
      if (map.isFunctionOfDim(loop))
        continue;
      if (isSummed)
        return false;
      others.push_back(loop);
    }
    if (iterations(op, depth).value_or(INT64_MAX) < leastTerms)
      return false;
    return fixed.isFixed(op->getOperand(operand)) ||
           iterations(op, others).value_or(INT64_MAX) >= leastProducts;
  }

  static linalg::GenericOp withoutZeroPoints(IRRewriter &rewriter, linalg::GenericOp op,
                                             ArrayRef<Factor> factors) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    return linalg::GenericOp::create(
        rewriter, op.getLoc(), op->getResultTypes(),
        ValueRange{op->getOperand(factors[0].operand), op->getOperand(factors[1].operand)},
        op.getDpsInits(), {maps[factors[0].operand], maps[factors[1].operand], maps.back()},
        op.getIteratorTypesArray(), [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          SmallVector<Value> wide;
          for (auto [factor, element] : llvm::zip(factors, arguments)) {
            IRMapping mapping;
            mapping.map(factor.extension->getOperand(0), element);
            wide.push_back(builder.clone(*factor.extension, mapping)->getResult(0));
          }
          Value term = arith::MulIOp::create(builder, loc, wide[0], wide[1]);
          Value sum = arith::AddIOp::create(builder, loc, arguments[2], term);
          linalg::YieldOp::create(builder, loc, sum);
        });
  }

  /// The operand summed over the reduction, and the loops of the op that index it.
  static std::pair<Value, AffineMap> sumOf(IRRewriter &rewriter, linalg::GenericOp op,
                                           const Factor &factor) {
    Location loc = op.getLoc();
    Value operand = op->getOperand(factor.operand);
    const AffineMap map = op.getIndexingMapsArray()[factor.operand];
    const SmallVector<utils::IteratorType> ofOp = op.getIteratorTypesArray();
    const SmallVector<OpFoldResult> all = tensor::getMixedSizes(rewriter, loc, operand);
    SmallVector<utils::IteratorType> kinds;
    SmallVector<OpFoldResult> sizes;
    SmallVector<AffineExpr> kept, loops;
    for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
      kinds.push_back(ofOp[cast<AffineDimExpr>(index).getPosition()]);
      if (kinds.back() == utils::IteratorType::reduction)
        continue;
      kept.push_back(rewriter.getAffineDimExpr(unsigned(dimension)));
      loops.push_back(index);
      sizes.push_back(all[dimension]);
    }
    const unsigned rank = map.getNumResults();
    Type type = factor.extension->getResult(0).getType();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)),
          empty = tensor::EmptyOp::create(rewriter, loc, sizes, type),
          fill = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    auto sum = linalg::GenericOp::create(
        rewriter, loc, fill.getType(), operand, fill,
        {rewriter.getMultiDimIdentityMap(rank),
         AffineMap::get(rank, 0, kept, rewriter.getContext())},
        kinds, [&](OpBuilder &builder, Location at, ValueRange arguments) {
          IRMapping mapping;
          mapping.map(factor.extension->getOperand(0), arguments[0]);
          Value wide = builder.clone(*factor.extension, mapping)->getResult(0);
          Value next = arith::AddIOp::create(builder, at, arguments[1], wide);
          linalg::YieldOp::create(builder, at, next);
        });
    // A product along with it would have workgroups of whole rows, or whole columns.
    sum->setAttr(splitAttr, rewriter.getUnitAttr());
    return {sum.getResult(0), AffineMap::get(map.getNumDims(), 0, loops, rewriter.getContext())};
  }

  /// The number of terms of each sum, in the type of the sum, wrapped.
  static Value termsOf(IRRewriter &rewriter, linalg::GenericOp op, Type type) {
    Location loc = op.getLoc();
    Value terms;
    const SmallVector<Range> ranges =
        cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(rewriter, loc);
    for (auto [range, kind] : llvm::zip(ranges, op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction)
        continue;
      Value extent = getValueOrCreateConstantIndexOp(rewriter, loc, range.size);
      terms = terms ? arith::MulIOp::create(rewriter, loc, terms, extent) : extent;
    }
    return arith::IndexCastOp::create(rewriter, loc, type, terms);
  }

  /// What the op starts from, or ends with, less what the zero points take away from it.
  static Value correct(IRRewriter &rewriter, linalg::GenericOp op, Value whole,
                       ArrayRef<Factor> factors, ArrayRef<Value> zeroPoints) {
    if (!zeroPoints[0] && !zeroPoints[1])
      return whole;
    Location loc = op.getLoc();
    Type type = getElementTypeOrSelf(whole.getType());
    const AffineMap written = op.getIndexingMapsArray().back();
    const unsigned rank = written.getNumResults();
    SmallVector<Value> inputs{whole};
    SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(rank)};
    SmallVector<Value> multipliers;
    for (unsigned side : {0U, 1U}) {
      if (!zeroPoints[1 - side])
        continue;
      auto [sum, loops] = sumOf(rewriter, op, factors[side]);
      SmallVector<AffineExpr> dimensions;
      for (AffineExpr loop : loops.getResults())
        dimensions.push_back(rewriter.getAffineDimExpr(*written.getResultPosition(loop)));
      inputs.push_back(sum);
      maps.push_back(AffineMap::get(rank, 0, dimensions, rewriter.getContext()));
      multipliers.push_back(zeroPoints[1 - side]);
    }
    maps.push_back(maps.front());
    Value constant;
    if (zeroPoints[0] && zeroPoints[1]) {
      constant = arith::MulIOp::create(rewriter, loc, zeroPoints[0], zeroPoints[1]);
      constant = arith::MulIOp::create(rewriter, loc, constant, termsOf(rewriter, op, type));
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, whole), type);
    return linalg::GenericOp::create(
               rewriter, loc, whole.getType(), inputs, empty, maps,
               SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
               [&](OpBuilder &builder, Location at, ValueRange arguments) {
                 Value left = arguments[0];
                 for (auto [multiplier, sum] : llvm::zip(multipliers, arguments.drop_front())) {
                   Value less = arith::MulIOp::create(builder, at, multiplier, sum);
                   left = arith::SubIOp::create(builder, at, left, less);
                 }
                 if (constant)
                   left = arith::AddIOp::create(builder, at, left, constant);
                 linalg::YieldOp::create(builder, at, left);
               })
        .getResult(0);
  }
};

} // namespace
