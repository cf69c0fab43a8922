#include "ir/Analysis/Reductions.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/MathPolynomials.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPREPARELOOPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// The loop along which the fewest operands are read or written across, of those that may run innermost, and of several such loops the
/// one along which the most traffic is contiguous; an operand weighs as much as it has dimensions, since that is how often it
/// is walked.
std::optional<unsigned> bestInnermost(linalg::GenericOp op, bool mayReorder) {
  SmallVector<std::pair<int, unsigned>> weight(
      op.getNumLoops()); // less is across, more is contiguous
  for (AffineMap map : op.getIndexingMapsArray()) {
    if (map.getNumResults() == 0)
      continue;
    if (auto last = dyn_cast<AffineDimExpr>(map.getResults().back()))
      weight[last.getPosition()].second += map.getNumResults();
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (llvm::any_of(map.getResults().drop_back(),
                       [&](AffineExpr index) { return index.isFunctionOfDim(loop); }))
        --weight[loop].first;
  }
  if (weight.empty())
    return std::nullopt;
  // Each accumulator sees its elements in the order of the reduction loops among themselves.
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto isReduction = [](utils::IteratorType kind) {
    return kind == utils::IteratorType::reduction;
  };
  auto keepsOrder = [&](unsigned loop) {
    return mayReorder || !isReduction(kinds[loop]) ||
           llvm::none_of(ArrayRef(kinds).drop_front(loop + 1), isReduction);
  };
  // On a tie the later loop wins: that is the order as written.
  unsigned best = weight.size() - 1;
  for (unsigned loop = weight.size(); loop-- > 0;)
    if (weight[loop] > weight[best] && keepsOrder(loop))
      best = loop;
  return best;
}

struct PrepareLoops : plim::ir::impl::PlimPrepareLoopsBase<PrepareLoops> {
  using PlimPrepareLoopsBase::PlimPrepareLoopsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr) && !function->hasAttr(kernelAttr))
      return;
    // On buffers, of which one may be part of another, the order is the author's.
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    const bool hasVectors = hostOf(function).vectorBits > 0;
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      bool mayReorder = !strict && mayReorderReduction(op);
      if (mayReorder && op.getNumReductionLoops() > 0)
        allowReassociation(op);
      // A scalar sum stays in a register only in the loop that adds to it.
      if (hasVectors || op.getNumReductionLoops() == 0)
        interchange(rewriter, op, mayReorder);
    }
    if (strict)
      return;
    allowContraction(function);
    allowEitherZero(function);
    approximate(function);
  }

  void interchange(IRRewriter &rewriter, linalg::GenericOp op, bool mayReorder) {
    std::optional<unsigned> innermost = bestInnermost(op, mayReorder);
    if (!innermost || *innermost + 1 == op.getNumLoops())
      return;
    SmallVector<unsigned> order;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (loop != *innermost)
        order.push_back(loop);
    order.push_back(*innermost);
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::interchangeGenericOp(rewriter, op, order)))
      ++interchanged;
  }

  /// The op that folds a new element into an accumulator may do so in any order.
  static void allowReassociation(linalg::GenericOp generic) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    for (OpOperand &init : op.getDpsInitsMutable())
      if (!hasElementOfEach(op, init))
        addFlags(op.getMatchingYieldValue(&init)->get().getDefiningOp(),
                 arith::FastMathFlags::reassoc);
  }

  /// Products with sums, not with differences: what is zero because both sides were rounded alike, a
  /// variance of equal elements or a * b - b * a, would become the rounding error of one side.
  static void allowContraction(func::FuncOp function) {
    function.walk([](Operation *op) {
      if (isa<arith::MulFOp>(op) || (isa<arith::AddFOp>(op) && !isDifference(op)))
        addFlags(op, arith::FastMathFlags::contract);
      // Of two products LLVM takes in the first. Where a loop is unrolled the sum before may be one: it stays rounded, as in the loop.
      if (isa<arith::AddFOp>(op) && op->getOperand(1).getDefiningOp<arith::MulFOp>() &&
          !op->getOperand(0).getDefiningOp<arith::MulFOp>())
        op->setOperands({op->getOperand(1), op->getOperand(0)});
    });
  }

  /// Is the sum one with a negated term, which LLVM makes a difference?
  static bool isDifference(Operation *sum) {
    return llvm::any_of(sum->getOperands(), [](Value term) {
      if (auto product = term.getDefiningOp<arith::MulFOp>())
        return llvm::any_of(product->getOperands(), [](Value factor) {
          APFloat constant(0.0);
          return factor.getDefiningOp<arith::NegFOp>() ||
                 (matchPattern(factor, m_ConstantFloat(&constant)) && constant.isNegative());
        });
      return term.getDefiningOp<arith::NegFOp>() != nullptr;
    });
  }

  static void addFlags(Operation *op, arith::FastMathFlags flags) {
    auto math = dyn_cast_or_null<arith::ArithFastMathInterface>(op);
    if (!math)
      return;
    arith::FastMathFlags old = math.getFastMathFlagsAttr().getValue();
    op->setAttr(math.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), old | flags));
  }

  /// A maximum of zeros of both signs may be either: that the positive one is larger takes three more instructions of x86, in
  /// a chain that waits for each.
  static void allowEitherZero(func::FuncOp function) {
    function.walk([](Operation *op) {
      auto reduction = dyn_cast<vector::ReductionOp>(op);
      if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) ||
          (reduction && (reduction.getKind() == vector::CombiningKind::MAXIMUMF ||
                         reduction.getKind() == vector::CombiningKind::MINIMUMF)))
        addFlags(op, arith::FastMathFlags::nsz);
    });
  }

  /// Polynomials for f32 and narrower; f64 and the other functions stay calls of the vector library, or get instructions when they
  /// are vectors.
  /// Upstream has more, but its sin and cos lose all digits at large arguments, its atan, asin, acos
  /// and cbrt are off by up to 40 units in the last place, its logarithms flush denormals.
  void approximate(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    populateMathPolynomialPatterns(patterns);
    populateLog1pPattern(patterns);
    const Host host = hostOf(function);
    if (!host.hasVectorFunctions) {
      populateExponentialPatterns(patterns);
      populateLogarithmPatterns(patterns);
      if (host.multipliesAndAdds)
        populatePowerPatterns(patterns);
    }
    if (failed(applySoundPatterns(function, std::move(patterns))))
      signalPassFailure();
    if (host.hasVectorFunctions)
      function.walk([&](Operation *op) {
        if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::Log10Op, math::PowFOp>(
                op) &&
            getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() >= 32)
          op->setAttr(vectorFunctionAttr, UnitAttr::get(&getContext()));
      });
  }
};

} // namespace
