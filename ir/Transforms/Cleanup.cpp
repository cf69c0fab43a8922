#include "ir/Transforms/Cleanup.h"

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace plim::ir;

namespace {

constexpr UnsoundPattern unsound[] = {
    {"(anonymous namespace)::ForOpTensorCastFolder", "not reported",
     "gives a tensor that a loop carries the static type that it has at first, whatever extents "
     "the "
     "body gives it"},
    {"(anonymous namespace)::FoldTargetTensorCast", "not reported",
     "takes the extents of a padded tensor from a cast, which is then no longer checked"},
    {"(anonymous namespace)::FoldTensorCastOfOutputIntoForallOp", "172981",
     "ties the insertions of a loop to its outputs by their order, so that results are swapped"},
    {"(anonymous namespace)::ForallOpSingleOrZeroIterationDimsFolder", "222143",
     "puts the body of a loop of one iteration in its place with its insertions in the order of "
     "the "
     "outputs, and with one insertion for each"},
    {"(anonymous "
     "namespace)::InsertSliceOpConstantArgumentFolder<mlir::tensor::ParallelInsertSliceOp>",
     "217361", "guesses anew which dimension of a slice is dropped"},
    {"(anonymous namespace)::IndexCastOfIndexCast", "189042",
     "drops two casts through a type that is too narrow"},
    {"(anonymous namespace)::IndexCastUIOfIndexCastUI", "189042",
     "drops two casts through a type that is too narrow"},
    {"(anonymous namespace)::RemoveOutsDependency", "not reported",
     "forgets what a destination held that a body does not use, also where a reduction has no "
     "iterations and leaves it as it was"},
    {"(anonymous namespace)::WhileMoveIfDown", "219456",
     "moves an scf.if behind the condition of a loop; where the condition passes its value on "
     "twice, "
     "one of them becomes that of the other branch"},
};

SmallVector<std::string> unsoundNames() {
  return llvm::map_to_vector(unsound, [](const UnsoundPattern &p) { return p.name.str(); });
}

} // namespace

ArrayRef<UnsoundPattern> plim::ir::unsoundPatterns() { return unsound; }

std::unique_ptr<Pass> plim::ir::createCanonicalizer() {
  return createCanonicalizerPass(GreedyRewriteConfig(), unsoundNames());
}

void plim::ir::addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
}

LogicalResult plim::ir::applySoundPatterns(Operation *root, RewritePatternSet patterns) {
  return applyPatternsGreedily(root, FrozenRewritePatternSet(std::move(patterns), unsoundNames()));
}

LogicalResult plim::ir::applySoundPatterns(ArrayRef<Operation *> ops, RewritePatternSet patterns) {
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(ops, FrozenRewritePatternSet(std::move(patterns), unsoundNames()),
                                 config);
}
