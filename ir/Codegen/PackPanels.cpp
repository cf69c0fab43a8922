#include "ir/Analysis/Products.h"
#include "ir/Codegen/GroupedProducts.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/PackedPanels.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TileProducts.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <numeric>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPACKPANELS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// On parts of a product whose operands are still to be copied.
constexpr llvm::StringLiteral partAttr = "plim.part";

/// Elements by which rows of a copy are longer than what they hold, so that they do not fall on the same lines.
constexpr int64_t rowPadding = 16;

/// Replaces `op` by loops of the given steps, outermost first, and the op inside of them, to which all other loops are left.
FailureOr<scf::SCFTilingResult> tileInOrder(IRRewriter &rewriter, linalg::LinalgOp op,
                                            ArrayRef<std::pair<unsigned, int64_t>> loops) {
  SmallVector<int64_t> sizes(op.getNumLoops(), 0), order;
  for (auto [loop, step] : loops) {
    sizes[loop] = step;
    order.push_back(loop);
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, int64_t(loop)))
      order.push_back(loop);
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  options.setTileSizes(getAsIndexOpFoldResult(rewriter.getContext(), sizes));
  options.setInterchange(order);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (succeeded(tiled))
    rewriter.replaceOp(op, tiled->replacements);
  return tiled;
}

struct PackPanels : plim::ir::impl::PlimPackPanelsBase<PackPanels> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    std::optional<Host> host;
    // Simplification may replace ops that are still to come.
    for (PanelsAttr panels; linalg::LinalgOp op = takeNext(function, panels);) {
      if (!host)
        host = hostOf(function);
      if (!carryOut(op, panels, *host))
        ++missed;
    }
    unpackRest(function);
  }

  /// The first product with a strategy, which it loses; null if there is none.
  static linalg::LinalgOp takeNext(func::FuncOp function, PanelsAttr &panels) {
    linalg::LinalgOp next;
    function.walk([&](linalg::LinalgOp op) {
      panels = op->getAttrOfType<PanelsAttr>(panelsAttr);
      if (!panels)
        return WalkResult::advance();
      op->removeAttr(panelsAttr);
      next = op;
      return WalkResult::interrupt();
    });
    return next;
  }

  bool carryOut(linalg::LinalgOp op, PanelsAttr panels, const Host &host) {
    std::optional<Product> product = productOf(op);
    if (!product)
      return false;
    SmallVector<int64_t> depth(panels.getDepth());
    if (panels.getPanel() == OperandForm::InPlace && panels.getColumns() == 0)
      return sweep(op, *product, depth);
    if (panels.getLines() > 1) {
      op = joinLines(op, *product, depth, panels.getLines());
      product = op ? productOf(op) : std::nullopt;
      if (!product)
        return false;
      // One block of the reduction is left, of one loop if all could be joined.
      if (product->depthLoops.size() == 1)
        depth = {std::accumulate(depth.begin(), depth.end(), int64_t(1), std::multiplies())};
    }
    product = productOf(op);
    if (!product || product->depthLoops.size() != depth.size() ||
        failed(pack(op, *product, panels, depth, host)))
      return false;
    ++(panels.getPanel() == OperandForm::InPlace  ? inPlace
       : panels.getPanel() == OperandForm::Tiles  ? inTiles
       : panels.getPanel() == OperandForm::Groups ? grouped
                                                  : packed);
    return true;
  }

  /// Goes along all columns with a few iterations of the reduction at a time, so that memory is read in its order.
  bool sweep(linalg::LinalgOp op, const Product &product, ArrayRef<int64_t> depth) {
    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (auto [loop, tile] : llvm::zip_equal(product.depthLoops, depth))
      steps.emplace_back(loop, tile);
    if (failed(tileInOrder(rewriter, op, steps)))
      return false;
    ++swept;
    return true;
  }

  /// What alone reads the product, element by element.
  static linalg::LinalgOp consumerOf(linalg::LinalgOp op) {
    if (!op->getResult(0).hasOneUse())
      return {};
    OpOperand &use = *op->getResult(0).use_begin();
    auto consumer = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!consumer || !consumer.hasPureTensorSemantics() || consumer.isDpsInit(&use) ||
        consumer->getNumResults() != 1 || consumer.getNumReductionLoops() > 0 ||
        !consumer.getMatchingIndexingMap(&use).isPermutation() ||
        !llvm::all_of(consumer.getIndexingMapsArray(), hasTileableIndices) ||
        llvm::is_contained(consumer.getStaticLoopRanges(), 0))
      return {};
    return consumer;
  }

  /// As tileInOrder, for a product with one block of the reduction and its consumer, which then takes the part of the result
  /// that was just computed.
  static LogicalResult tileWithConsumer(IRRewriter &rewriter, linalg::LinalgOp op,
                                        linalg::LinalgOp consumer,
                                        ArrayRef<std::pair<unsigned, int64_t>> loops,
                                        linalg::LinalgOp &inner, scf::ForOp &innermost) {
    const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                    read = consumer.getMatchingIndexingMap(&*op->getResult(0).use_begin());
    SmallVector<int64_t> sizes(consumer.getNumLoops(), 0), order;
    for (auto [loop, step] : loops)
      if (std::optional<unsigned> dimension =
              written.getResultPosition(getAffineDimExpr(loop, op.getContext()))) {
        order.push_back(read.getDimPosition(*dimension));
        sizes[size_t(order.back())] = step;
      }
    for (unsigned loop = 0; loop < consumer.getNumLoops(); ++loop)
      if (!llvm::is_contained(order, int64_t(loop)))
        order.push_back(loop);
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(getAsIndexOpFoldResult(rewriter.getContext(), sizes));
    options.tilingOptions.setInterchange(order);
    options.setFusionControlFn(
        [&](tensor::ExtractSliceOp, OpResult producer,
            bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          if (producer.getOwner() != op && !isa<linalg::FillOp>(producer.getOwner()))
            return std::nullopt;
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        });
    rewriter.setInsertionPoint(consumer);
    FailureOr<scf::SCFTileAndFuseResult> tiled = scf::tileConsumerAndFuseProducersUsingSCF(
        rewriter, cast<TilingInterface>(consumer.getOperation()), options);
    if (failed(tiled))
      return failure();
    for (Operation *part : tiled->tiledAndFusedOps) {
      auto product = dyn_cast<linalg::LinalgOp>(part);
      if (product && product.getNumReductionLoops() > 0)
        inner = product;
      // What only the consumer reads has memory for one part.
      auto slice = product ? product.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>()
                           : tensor::ExtractSliceOp();
      if (!slice || !slice.getSource().getDefiningOp<tensor::EmptyOp>())
        continue;
      rewriter.setInsertionPoint(slice);
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(slice, slice.getMixedSizes(),
                                                   slice.getType().getElementType());
    }
    innermost = cast<scf::ForOp>(tiled->loops.back().getOperation());
    rewriter.replaceAllUsesWith(consumer->getResult(0),
                                tiled->replacements[consumer->getResult(0)]);
    // The op itself, whose extents others may ask for, goes when nobody does.
    rewriter.eraseOp(consumer);
    return success(inner != nullptr);
  }

  LogicalResult pack(linalg::LinalgOp op, const Product &product, PanelsAttr panels,
                     ArrayRef<int64_t> depth, const Host &host) {
    const OperandForm form = panels.getPanel(), rowsForm = panels.getRows();
    const bool areTiles = form == OperandForm::Tiles,
               convertsRows = rowsForm != OperandForm::InPlace && rowsForm != OperandForm::Copied;
    std::optional<Grouping> grouping;
    if (form == OperandForm::Groups && !(grouping = groupingOf(op, product)))
      return failure();
    // All of what windows touch.
    SmallVector<int64_t> mostOfRows;
    if (convertsRows && readsWindows(op, product.rows) &&
        (mostOfRows = mostExtents(op->getOperand(product.rows))).empty())
      return failure();
    IRRewriter rewriter(&getContext());
    // Outermost a block of the depth, whose rows stay in the second-level cache for all columns, a panel at a time.
    const int64_t panelColumns = panels.getColumns(),
                  unit = areTiles ? rowsOfTile : host.lanes(op.getDpsInits()[0].getType());
    bool isWholeDepth = true; // is there one block of it?
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (unsigned loop : product.batchLoops)
      steps.emplace_back(loop, 1);
    for (auto [loop, tile] : llvm::zip_equal(product.depthLoops, depth)) {
      steps.emplace_back(loop, tile);
      isWholeDepth &= op.getStaticLoopRanges()[loop] == tile;
    }
    for (unsigned loop : product.columnLoops)
      if (loop != product.column)
        steps.emplace_back(loop, 1);
    steps.emplace_back(product.column, panelColumns);

    linalg::LinalgOp inner;
    scf::ForOp columns;
    linalg::LinalgOp consumer = isWholeDepth ? consumerOf(op) : linalg::LinalgOp();
    if (!consumer || failed(tileWithConsumer(rewriter, op, consumer, steps, inner, columns))) {
      FailureOr<scf::SCFTilingResult> tiled = tileInOrder(rewriter, op, steps);
      if (failed(tiled))
        return failure();
      inner = cast<linalg::LinalgOp>(tiled->tiledOps.front());
      columns = cast<scf::ForOp>(tiled->loops.back().getOperation());
      if (isWholeDepth)
        fuseInitializer(rewriter, inner, tiled->loops);
    }
    if (rowsForm == OperandForm::Copied)
      inner = copyRows(rewriter, inner, product, depth.front(), columns);
    // The last panel apart, so that all others have as many columns as a register tile.
    inner->setAttr(partAttr, rewriter.getUnitAttr());
    scf::ForOp rest;
    (void)scf::peelForLoopAndSimplifyBounds(rewriter, columns, rest);
    func::FuncOp function = getOperation();
    if (failed(simplifyTiles(function)))
      return failure();
    Copy rows; // of another form, for all panels
    while (linalg::LinalgOp part = takeMarked(function, partAttr)) {
      SmallVector<unsigned> loops = product.depthLoops;
      loops.push_back(product.column);
      SmallVector<int64_t> memory(depth);
      memory.push_back(panelColumns);
      const bool haveRows = rows.value && rows.value.getParentBlock()->findAncestorOpInBlock(*part);
      if (convertsRows && !haveRows)
        rows = convertRows(rewriter, part, product, depth, mostOfRows, rowsForm, grouping);
      rewriter.setInsertionPoint(part);
      if (areTiles) {
        Value panel = panelForTiles(rewriter, part, product, depth.front());
        makeTileProducts(rewriter, part, product, rows.value, panel);
        continue;
      }
      // What does not fill vectors gets columns of zeros, if the memory for a result with them is of a known size.
      const int64_t columnsOfPart = part.getStaticLoopRanges()[product.column];
      const int64_t filled = ShapedType::isDynamic(columnsOfPart)
                                 ? panelColumns
                                 : int64_t(llvm::alignTo(columnsOfPart, unit));
      if (form == OperandForm::InPlace && columnsOfPart == filled)
        continue;
      SmallVector<int64_t> shape;
      if (columnsOfPart != filled)
        shape = widenedShape(part.getDpsInits()[0], filled);
      const int64_t widened = shape.empty() ? 0 : filled;
      std::optional<Copy> ready = form == OperandForm::Prepared || grouping
                                      ? panelOf(rewriter, part, product, widened)
                                      : std::nullopt;
      // Of panels that are read in place the last one is copied.
      const bool isConverted = grouping || form == OperandForm::Widened;
      const Grouping ofPanel = grouping ? grouping->unflipped() : Grouping();
      Copy panel = ready ? *ready
                         : copyOf(rewriter, part, product.panel, loops, memory, widened,
                                  /*padding=*/0, isConverted ? form : OperandForm::Copied,
                                  grouping ? &ofPanel : nullptr);
      if (grouping) {
        withGroups(rewriter, part, product, *grouping, rows, panel, shape);
        continue;
      }
      part = withCopy(rewriter, part, product.panel, panel, shape);
      if (rows.value)
        part = withCopy(rewriter, part, product.rows, rows, {});
      (void)joinLoops(rewriter, part,
                      {ReassociationIndices(product.depthLoops.begin(), product.depthLoops.end())});
    }
    return success();
  }

  /// Are the indices of an operand loops?
  static bool readsDimensions(linalg::LinalgOp op, unsigned number) {
    return op.getMatchingIndexingMap(&op->getOpOperand(number)).isProjectedPermutation();
  }

  /// All rows in another form, in front of the loop over the panels if `op` is in it.
  static Copy convertRows(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                          ArrayRef<int64_t> depth, ArrayRef<int64_t> mostOfRows, OperandForm form,
                          const std::optional<Grouping> &grouping) {
    SmallVector<unsigned> loops = product.rowLoops;
    SmallVector<int64_t> memory;
    for (unsigned loop : loops)
      memory.push_back(mostIterations(op, op.getDpsInitOperand(0)->getOperandNumber(), loop)
                           .value_or(mostRowsCopied));
    llvm::append_range(loops, product.depthLoops);
    llvm::append_range(memory, depth);
    rewriter.setInsertionPoint(op);
    if (auto panels = dyn_cast<scf::ForOp>(op->getParentOp())) {
      moveLoopInvariantCode(panels);
      // How far a loop goes that reads at strides only the result says, which is a part of what the loop over the panels carries.
      const bool isKnownOutside = readsWindows(op, product.rows) ||
                                  readsDimensions(op, product.rows) ||
                                  llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
      if (isKnownOutside && panels.isDefinedOutsideOfLoop(op->getOperand(product.rows)))
        rewriter.setInsertionPoint(panels);
    }
    if (form == OperandForm::Tiles)
      return {rowsForTiles(rewriter, op, product, ArrayRef(memory).drop_back(), depth.front()), {}};
    const Grouping *groups = grouping ? &*grouping : nullptr;
    if (readsWindows(op, product.rows))
      return copyAsItLies(rewriter, op, product.rows, mostOfRows, form, groups);
    return copyOf(rewriter, op, product.rows, loops, memory, /*width=*/0, rowPadding, form, groups);
  }

  /// Makes one loop of each of the groups whose loops all operands have side by side in memory. Returns the op in the place of
  /// `op`.
  static linalg::LinalgOp joinLoops(IRRewriter &rewriter, linalg::LinalgOp op,
                                    ArrayRef<ReassociationIndices> groups) {
    const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
      return op;
    SmallVector<ReassociationIndices> joined;
    for (const ReassociationIndices &group : groups)
      if (group.size() > 1 && linalg::areDimSequencesPreserved(maps, {group}) &&
          llvm::all_of(op->getOpOperands(),
                       [&](OpOperand &operand) { return isDense(op, operand, group); }))
        joined.push_back(group);
    if (joined.empty())
      return op;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> result =
        linalg::collapseOpIterationDims(op, joined, rewriter);
    if (failed(result))
      return op;
    rewriter.replaceOp(op, result->results);
    return result->collapsedOp;
  }

  /// Copies the windows of several lines of an image beside each other, which fill vectors better: a product whose columns are those
  /// of all. Returns the op that is left, `op` if nothing was done, null if it is lost sight of.
  linalg::LinalgOp joinLines(linalg::LinalgOp op, const Product &product, ArrayRef<int64_t> depth,
                             int64_t lines) {
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    const unsigned line =
        cast<AffineDimExpr>(result.getResult(result.getNumResults() - 2)).getPosition();
    const int64_t width = op.getStaticLoopRanges()[product.column];
    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (unsigned loop : product.batchLoops)
      steps.emplace_back(loop, 1);
    for (auto [loop, tile] : llvm::zip_equal(product.depthLoops, depth))
      steps.emplace_back(loop, tile);
    for (unsigned loop : product.columnLoops)
      if (loop != product.column)
        steps.emplace_back(loop, loop == line ? lines : 1);
    FailureOr<scf::SCFTilingResult> tiled = tileInOrder(rewriter, op, steps);
    if (failed(tiled))
      return op;
    tiled->tiledOps.front()->setAttr(partAttr, rewriter.getUnitAttr());
    func::FuncOp function = getOperation();
    if (failed(simplifyTiles(function)))
      return {};
    linalg::LinalgOp part = takeMarked(function, partAttr);
    if (!part)
      return part;
    SmallVector<unsigned> loops = product.depthLoops;
    loops.append({line, product.column});
    SmallVector<int64_t> memory(depth);
    memory.append({lines, width});
    rewriter.setInsertionPoint(part);
    Copy windows = copyOf(rewriter, part, product.panel, loops, memory, /*width=*/0);
    part = withCopy(rewriter, part, product.panel, windows, {});
    return joinLoops(rewriter, part,
                     {ReassociationIndices(product.depthLoops.begin(), product.depthLoops.end()),
                      {line, product.column}});
  }

  /// Copies the block of rows for all columns, in front of the loop over those. Returns the op that uses it.
  static linalg::LinalgOp copyRows(IRRewriter &rewriter, linalg::LinalgOp op,
                                   const Product &product, int64_t depthOfPanel,
                                   scf::ForOp columns) {
    moveLoopInvariantCode(columns);
    Value block = op->getOperand(product.rows);
    if (!columns.isDefinedOutsideOfLoop(block))
      return op;
    const unsigned row = product.rowLoops.front(), depth = product.depthLoops.front();
    rewriter.setInsertionPoint(columns);
    const std::optional<int64_t> rows =
        mostIterations(op, op.getDpsInitOperand(0)->getOperandNumber(), row);
    Copy copy = copyOf(rewriter, op, product.rows, {row, depth},
                       {rows.value_or(mostRowsCopied), depthOfPanel},
                       /*width=*/0, rowPadding);
    return withCopy(rewriter, op, product.rows, copy, {});
  }
};

} // namespace
