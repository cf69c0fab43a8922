#include "ir/Codegen/TiledOps.h"
#include "ir/Transforms/Cleanup.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace plim::ir;

LogicalResult plim::ir::simplifyTiles(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineMinOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  context->getOrLoadDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  // Casts to sizes that are known go into all ops with destinations.
  context->getOrLoadDialect<tensor::TensorDialect>()->getCanonicalizationPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  return applySoundPatterns(function, std::move(patterns));
}

linalg::LinalgOp plim::ir::takeMarked(func::FuncOp function, StringRef attribute) {
  linalg::LinalgOp found;
  function.walk([&](linalg::LinalgOp op) {
    if (!op->removeAttr(attribute))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}
