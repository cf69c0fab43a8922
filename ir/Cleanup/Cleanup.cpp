#include "ir/Cleanup/Cleanup.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/Passes.h"

#include <mutex>

using namespace mlir;
using namespace plim::ir;

namespace {

/// Upstream's debug names, each with what it makes wrong and the number of llvm-project that tells of it.
constexpr llvm::StringLiteral unsound[] = {
    // Gives a tensor that a loop carries the static type that it has at first, whatever extents
    // the body gives it (not reported).
    "(anonymous namespace)::ForOpTensorCastFolder",
    // Takes the extents of a padded tensor from a cast, which is then no longer checked (not
    // reported).
    "(anonymous namespace)::FoldTargetTensorCast",
    // Ties the insertions of a loop to its outputs by their order, so that results are swapped
    // (#172981).
    "(anonymous namespace)::FoldTensorCastOfOutputIntoForallOp",
    // Puts the body of a loop of one iteration in its place with its insertions in the order of
    // the outputs, and with one insertion for each (#222143).
    "(anonymous namespace)::ForallOpSingleOrZeroIterationDimsFolder",
    // Drop two casts through a type that is too narrow (#189042).
    "(anonymous namespace)::IndexCastOfIndexCast",
    "(anonymous namespace)::IndexCastUIOfIndexCastUI",
    // Guesses anew which dimension of a slice is dropped (#217361).
    // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
    "(anonymous "
    "namespace)::InsertSliceOpConstantArgumentFolder<mlir::tensor::ParallelInsertSliceOp>",
    // Forgets what a destination held that a body does not use, also where a reduction has no
    // iterations and leaves it as it was (not reported).
    "(anonymous namespace)::RemoveOutsDependency",
    // Moves an scf.if behind the condition of a loop; where the condition passes its value on
    // twice, one of them becomes that of the other branch (#219456).
    "(anonymous namespace)::WhileMoveIfDown",
};

/// Put one operand in the place of a copy of it.
constexpr llvm::StringLiteral unsoundUnchecked[] = {
    "(anonymous namespace)::EraseIdentityLinalgOp<mlir::linalg::BroadcastOp>",
    "(anonymous namespace)::EraseIdentityLinalgOp<mlir::linalg::GenericOp>",
};

SmallVector<std::string> unsoundNames(Extents extents = Extents::Checked) {
  SmallVector<std::string> names(std::begin(unsound), std::end(unsound));
  if (extents == Extents::Unchecked)
    names.append(std::begin(unsoundUnchecked), std::end(unsoundUnchecked));
  return names;
}

/// Gives an expansion the extents that its type knows. Upstream asks the loops that it was made of, of which some are known to another
/// operand alone; bufferization refuses an extent that is given and known.
struct UseKnownExtents : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
    bool changes = false;
    for (auto [extent, size] : llvm::zip_equal(op.getResultType().getShape(), shape))
      if (!ShapedType::isDynamic(extent) && !getConstantIntValue(size)) {
        size = rewriter.getIndexAttr(extent);
        changes = true;
      }
    if (!changes)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, op.getResultType(), op.getSrc(),
                                                       op.getReassociationIndices(), shape);
    return success();
  }
};

/// The sets of canonicalisation patterns of a context.
struct CanonicalizationPatterns : DialectInterface::Base<CanonicalizationPatterns> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CanonicalizationPatterns)

  explicit CanonicalizationPatterns(Dialect *dialect) : Base(dialect) {}

  FrozenRewritePatternSet get(Extents extents) {
    std::lock_guard lock(mutex);
    // More dialects may have come.
    const size_t count = getContext()->getLoadedDialects().size();
    auto &[dialects, patterns] = sets[extents == Extents::Checked];
    if (dialects != count) {
      patterns = collect(getContext(), extents);
      dialects = count;
    }
    return patterns;
  }

  static FrozenRewritePatternSet collect(MLIRContext *context, Extents extents) {
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(patterns, context);
    patterns.add<UseKnownExtents>(context);
    return {std::move(patterns), unsoundNames(extents)};
  }

private:
  std::mutex mutex;
  std::pair<size_t, FrozenRewritePatternSet> sets[2]; // dialects that are in it
};

/// Blocks are only merged and searched for what is unreachable where there are several: in structured code that takes a third of the
/// time and finds nothing.
GreedyRewriteConfig configOf(Operation *root) {
  auto hasBlocks = [](Operation *op) {
    return llvm::any_of(op->getRegions(),
                        [](Region &region) { return !region.empty() && !region.hasOneBlock(); });
  };
  const bool isStructured =
      !root->walk([&](Operation *op) {
             return hasBlocks(op) ? WalkResult::interrupt() : WalkResult::advance();
           })
           .wasInterrupted();
  GreedyRewriteConfig config;
  if (isStructured)
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return config;
}

/// Upstream's pass collects the patterns for each of its instances: a tenth of the load of a small module.
struct Canonicalizer : PassWrapper<Canonicalizer, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonicalizer)

  explicit Canonicalizer(Extents extents) : extents(extents) {}

  StringRef getArgument() const override { return "canonicalize"; }
  StringRef getName() const override { return "Canonicalizer"; }

  LogicalResult initialize(MLIRContext *context) override {
    auto *plim = context->getLoadedDialect<PlimDialect>();
    auto *shared = plim ? plim->getRegisteredInterface<CanonicalizationPatterns>() : nullptr;
    patterns = shared ? shared->get(extents) : CanonicalizationPatterns::collect(context, extents);
    return success();
  }
  /// Where there is no end to it, upstream's pass goes on too.
  void runOnOperation() override {
    (void)applyPatternsGreedily(getOperation(), patterns, configOf(getOperation()));
  }

private:
  Extents extents;
  FrozenRewritePatternSet patterns;
};

} // namespace

void plim::ir::registerCleanup(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, PlimDialect *dialect) {
    dialect->addInterfaces<CanonicalizationPatterns>();
  });
}

std::unique_ptr<Pass> plim::ir::createCanonicalizer(Extents extents) {
  return std::make_unique<Canonicalizer>(extents);
}

void plim::ir::addCleanup(OpPassManager &manager, Extents extents) {
  if (manager.getOpAnchorName() == ModuleOp::getOperationName())
    return addCleanup(manager.nestAny(), extents);
  manager.addPass(createCanonicalizer(extents));
  manager.addPass(createCSEPass());
}

LogicalResult plim::ir::applySoundPatternsInFunctions(ModuleOp module, RewritePatternSet patterns) {
  const FrozenRewritePatternSet frozen(std::move(patterns), unsoundNames());
  for (auto function : module.getOps<FunctionOpInterface>())
    if (failed(applyPatternsGreedily(function, frozen, configOf(function))))
      return failure();
  return success();
}

LogicalResult plim::ir::applySoundPatterns(Operation *root, RewritePatternSet patterns,
                                           bool *changed) {
  return applyPatternsGreedily(root, FrozenRewritePatternSet(std::move(patterns), unsoundNames()),
                               configOf(root), changed);
}

LogicalResult plim::ir::applySoundPatterns(ArrayRef<Operation *> ops, RewritePatternSet patterns,
                                           GreedyRewriteStrictness strictness) {
  GreedyRewriteConfig config;
  config.setStrictness(strictness);
  return applyOpPatternsGreedily(ops, FrozenRewritePatternSet(std::move(patterns), unsoundNames()),
                                 config);
}

void plim::ir::populateFoldReshapes(RewritePatternSet &patterns) {
  tensor::populateFoldTensorEmptyPatterns(patterns);
  linalg::FillOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
