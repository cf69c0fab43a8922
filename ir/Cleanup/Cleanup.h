// What "clean up" means: upstream's canonicalisation, less the patterns that are known to be wrong.
//
// Every pass and pipeline that wants canonicalisation patterns, all of them or those of some ops, takes
// them through here, the oracle included: a pattern that changes what a module computes would otherwise
// be wrong on both sides of every comparison. `tests/lint/include_graph.py` holds all of `ir/` to it. No
// state but the patterns, which are a part of the MLIRContext; any thread.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <memory>

namespace plim::ir {

/// Has `plim-check-shapes` run? Before, an op that copies one of its operands still says that the others have the same
/// extents, and stays.
enum class Extents { Unchecked, Checked };

/// Gives contexts with the plim dialect a place for the patterns, which all canonicalisations in them share.
void registerCleanup(mlir::DialectRegistry &registry);

/// Upstream's canonicalisation without the patterns that are known to be wrong. Cleanup.cpp names them;
/// tests/conformance/upstream has what they broke.
std::unique_ptr<mlir::Pass> createCanonicalizer(Extents extents = Extents::Checked);

/// Canonicalisation and elimination of common subexpressions. In a module each function by itself: upstream's driver goes through
/// all of a module again until nothing changes in any part of it.
void addCleanup(mlir::OpPassManager &manager, Extents extents = Extents::Checked);

/// Applies `patterns` without those until nothing changes, on everything inside `root`; `changed` says
/// whether something did. Fails if there is no end to it.
llvm::LogicalResult applySoundPatterns(mlir::Operation *root, mlir::RewritePatternSet patterns,
                                       bool *changed = nullptr);

/// The same in each function of the module.
llvm::LogicalResult applySoundPatternsInFunctions(mlir::ModuleOp module,
                                                  mlir::RewritePatternSet patterns);

/// The same on `ops`, and on what patterns put in their places unless `strictness` says otherwise.
llvm::LogicalResult applySoundPatterns(
    llvm::ArrayRef<mlir::Operation *> ops, mlir::RewritePatternSet patterns,
    mlir::GreedyRewriteStrictness strictness = mlir::GreedyRewriteStrictness::ExistingAndNewOps);

/// Adds patterns that fold reshapes of tensors with each other, with empty tensors and with fills.
void populateFoldReshapes(mlir::RewritePatternSet &patterns);

} // namespace plim::ir
