#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TiledOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMREGISTERTILE
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// On what stands in the place of an op that was tiled: a full tile, or a remainder of rows, columns, or both.
constexpr llvm::StringLiteral partAttr = "plim.part";

/// Rows of the tiles that take what is left of an unknown number of rows, before they are taken one at a time.
constexpr int64_t fewRows = 4;

struct RegisterTile : plim::ir::impl::PlimRegisterTileBase<RegisterTile> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    for (linalg::LinalgOp op : tiledOps(function))
      blockTerms(op);
    const SmallVector<linalg::LinalgOp> ops = tiledOps(function);
    for (linalg::LinalgOp op : ops) {
      auto tile = op->getAttrOfType<RegistersAttr>(registersAttr);
      // Reductions stay whole, so that remainders can be peeled.
      SmallVector<int64_t> sizes(op.getNumLoops(), 0);
      for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
        if (kind == utils::IteratorType::parallel)
          sizes[loop] = 1;
      sizes[size_t(tile.getColumnLoop())] = tile.getColumns();
      if (tile.getRowLoop() >= 0)
        sizes[size_t(tile.getRowLoop())] = tile.getRows();
      if (succeeded(tileLoops(op, sizes)))
        ++tiled;
      else
        ++missed;
    }
    // Peeled loops have clones of what is in them. Simplification may replace ops, so that they are found again by attributes.
    for (bool any = !ops.empty(); any;) {
      if (failed(simplifyTiles(function)))
        return signalPassFailure();
      SmallVector<linalg::LinalgOp> parts;
      function.walk([&](linalg::LinalgOp op) {
        if (op->removeAttr(partAttr))
          parts.push_back(op);
      });
      any = false;
      for (linalg::LinalgOp part : parts)
        any |= refine(part);
    }
  }

  static SmallVector<linalg::LinalgOp> tiledOps(func::FuncOp function) {
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) {
      if (op->hasAttr(registersAttr))
        ops.push_back(op);
    });
    return ops;
  }

  /// Replaces `op` by loops over tiles of the sizes given, 0 being all of a loop.
  static FailureOr<scf::SCFTilingResult> replaceByTiles(RewriterBase &rewriter, linalg::LinalgOp op,
                                                        ArrayRef<int64_t> sizes) {
    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (succeeded(tiled))
      rewriter.replaceOp(op, tiled->replacements);
    return tiled;
  }

  /// Takes some iterations of the last loop of the reduction at a time, for all columns.
  void blockTerms(linalg::LinalgOp op) {
    auto tile = op->getAttrOfType<RegistersAttr>(registersAttr);
    if (tile.getTerms() == 0)
      return;
    SmallVector<int64_t> sizes(op.getNumLoops(), 1);
    sizes[size_t(tile.getColumnLoop())] = 0;
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    sizes[reduced.back()] = tile.getTerms();
    IRRewriter rewriter(&getContext());
    FailureOr<scf::SCFTilingResult> tiled = replaceByTiles(rewriter, op, sizes);
    if (failed(tiled))
      return;
    const int64_t outer = llvm::count_if(ArrayRef(sizes).take_front(reduced.back()),
                                         [](int64_t size) { return size > 0; });
    scf::ForOp rest;
    (void)scf::peelForLoopAndSimplifyBounds(
        rewriter, cast<scf::ForOp>(tiled->loops[size_t(outer)].getOperation()), rest);
  }

  /// The same with remainders apart.
  LogicalResult tileLoops(linalg::LinalgOp op, ArrayRef<int64_t> sizes) {
    IRRewriter rewriter(&getContext());
    FailureOr<scf::SCFTilingResult> tiled = replaceByTiles(rewriter, op, sizes);
    if (failed(tiled)) {
      op->removeAttr(registersAttr);
      return failure();
    }
    auto part = cast<linalg::LinalgOp>(tiled->tiledOps.front());
    fuseInitializer(rewriter, part, tiled->loops);
    part->setAttr(partAttr, rewriter.getUnitAttr());
    for (LoopLikeOpInterface loop : llvm::reverse(tiled->loops)) {
      scf::ForOp rest;
      (void)scf::peelForLoopAndSimplifyBounds(rewriter, cast<scf::ForOp>(loop.getOperation()),
                                              rest);
    }
    return success();
  }

  /// Takes a remainder apart that is no tile itself: a number of rows that is not known into a few at a time and then one by one, since
  /// the reduction innermost over a strided operand would gather; columns of more than a vector into vectors and the rest: LLVM's code
  /// for vectors such as 24 floats, where 16 are one, is several times slower. Unknown columns stay loops. Was it taken apart?
  bool refine(linalg::LinalgOp part) {
    auto tile = part->getAttrOfType<RegistersAttr>(registersAttr);
    const SmallVector<int64_t> ranges = part.getStaticLoopRanges();
    const int64_t columns = ranges[size_t(tile.getColumnLoop())], lanes = tile.getLanes();
    auto isUnknown = [&](int64_t loop) {
      return loop >= 0 && ShapedType::isDynamic(ranges[size_t(loop)]);
    };
    if (isUnknown(tile.getColumnLoop())) {
      part->removeAttr(registersAttr);
      return false;
    }
    SmallVector<int64_t> sizes(part.getNumLoops(), 0);
    if (columns > lanes && columns % lanes != 0) {
      sizes[size_t(tile.getColumnLoop())] = lanes;
    } else if (isUnknown(tile.getRowLoop())) {
      const int64_t rows = tile.getRows() > fewRows ? fewRows : 1;
      sizes[size_t(tile.getRowLoop())] = rows;
      part->setAttr(registersAttr,
                    RegistersAttr::get(&getContext(), rows, tile.getRowLoop(), tile.getColumns(),
                                       tile.getColumnLoop(), lanes, 0, tile.getBecause()));
    } else {
      return false;
    }
    return succeeded(tileLoops(part, sizes));
  }
};

} // namespace
