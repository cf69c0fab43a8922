#include "ir/Codegen/GroupedProducts.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/PackedPanels.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/TileProducts.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"
#include "ir/Transforms/Products.h"
#include "support/CheckedMath.h"

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
using plim::checkedMul;

namespace {

/// On products that are still to be packed, and on parts of one whose operands are still to be copied.
constexpr llvm::StringLiteral pendingAttr = "plim.pending", partAttr = "plim.part";

/// Iterations of the reduction that one panel holds: long enough that the accumulators, which are loaded and
/// stored once for each panel, cost little, and short enough that a panel stays in the caches next to the processor.
constexpr int64_t panelDepth = 512;
/// The most where panels are read where they lie, but for the last one.
constexpr int64_t depthInPlace = 4 * panelDepth;
/// The same where no panel is copied and all columns are gone along for each block.
constexpr int64_t sweepDepth = 8;
/// Rows that must use a panel for its copy to pay, where it is read in order anyway.
constexpr int64_t rowsWorthACopy = 48;
/// The same where it would be read across its rows.
constexpr int64_t rowsWorthATransposition = 4;
/// The same where it is a window that moves along contiguous columns: convolutions of images stored by channels.
constexpr int64_t rowsWorthAWindow = 16;
/// Bytes between the rows of an operand from which on its columns are better copied: a panel that is not copied takes a
/// line of the caches for each row, which for strides of powers of two are the same few.
constexpr int64_t largeStride = 512;
/// Rows of a panel that are as good where they lie, each on a page of its own, if they do not fall on the same sets.
constexpr int64_t rowsInPlace = 64;
/// Bytes after which addresses fall on the same set of the second-level cache again, at least, and lines that are kept of one.
constexpr int64_t secondLevelPeriod = int64_t(1) << 16, secondLevelLines = 32;
/// The same lines of the nearest.
constexpr int64_t firstLevelLines = 8;

/// Rows that must use lines of an image beside each other for that copy, before those of panels, to pay.
constexpr int64_t rowsWorthTwoCopies = 32;
/// Bytes that it may have, a part of the second-level cache.
constexpr int64_t mostOfLines = int64_t(3) << 16;
/// The share of columns of zeros that it must avoid.
constexpr double shareWorthACopy = 0.05;

/// Columns that must use a block of rows for its copy to pay.
constexpr int64_t columnsWorthACopy = 512;
/// Bytes between the rows of that block from which on they are better copied.
constexpr int64_t largeRowStride = 4096;
/// Elements by which rows of that copy are longer than what they hold, so that they do not fall on the same lines.
constexpr int64_t rowPadding = 16;

/// Rows that must use groups of narrow numbers for their making to pay.
constexpr int64_t rowsWorthGroups = 4;
/// The same for tiles.
constexpr int64_t rowsWorthTiles = 4;
/// The same where operands are widened.
constexpr int64_t rowsWorthWidening = 4;
/// The most rows of a workgroup that are copied to be widened, in groups, or in tiles.
constexpr int64_t mostRowsCopied = 1024;

/// Iterations of the loops together; nothing where they are not known.
std::optional<int64_t> iterations(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t product = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(sizes[loop]))
      return std::nullopt;
    product = checkedMul(product, sizes[loop]).value_or(INT64_MAX);
  }
  return product;
}

/// Tiles of the loops of a reduction that have about `iterations` together: the inner ones whole.
SmallVector<int64_t> depthTiles(linalg::LinalgOp op, const Product &product, int64_t iterations) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges(), tiles(product.depthLoops.size());
  int64_t left = iterations;
  for (int64_t i = int64_t(tiles.size()) - 1; i >= 0; --i) {
    const int64_t size = sizes[product.depthLoops[i]];
    // A little more is better than a second panel that is nearly empty.
    if (!ShapedType::isDynamic(size) && size <= left + left / 4) {
      tiles[i] = size;
      left = std::max<int64_t>(1, left / std::max<int64_t>(1, size));
      continue;
    }
    tiles[i] = left;
    // Of several loops one that divides, if there is one that is not much smaller.
    for (int64_t tile = left; tiles.size() > 1 && !ShapedType::isDynamic(size) && 2 * tile > left;
         --tile)
      if (size % tile == 0) {
        tiles[i] = tile;
        break;
      }
    left = 1;
  }
  return tiles;
}

/// What an operand, a slice mostly, is a part of.
RankedTensorType sourceOf(Value operand) {
  auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
  return cast<RankedTensorType>(slice ? slice.getSource().getType() : operand.getType());
}

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
  using PlimPackPanelsBase::PlimPackPanelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && productOf(op))
        op->setAttr(pendingAttr, UnitAttr::get(&getContext()));
    });
    while (linalg::LinalgOp op = takeMarked(function, pendingAttr)) {
      std::optional<Product> product = productOf(op);
      if (!product || !isTileable(op, *product))
        continue;
      const int64_t usesOfPanel = iterations(op, product->rowLoops).value_or(INT64_MAX);
      const bool canConvertRows = isRowCopyBounded(op, *product),
                 isAsWritten = strict && isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
      if (canConvertRows && usesOfPanel >= rowsWorthTiles && isOfTiles(op, *product) &&
          !isAsWritten) {
        if (succeeded(pack(op, *product, Form::Tiles, Form::Tiles)))
          ++inTiles;
        else
          ++missed;
        continue;
      }
      if (Type element = groupedType(op, *product);
          element && canConvertRows && usesOfPanel >= rowsWorthGroups && !isAsWritten) {
        op = groupUp(op, *product, element);
        product = productOf(op);
        if (product && succeeded(pack(op, *product, Form::Groups, Form::Groups, element)))
          ++grouped;
        else
          ++missed;
        continue;
      }
      const Form rows = canConvertRows ? widenedForm(op, product->rows) : Form::Same,
                 panel = widenedForm(op, product->panel);
      const bool widens =
          (rows == Form::Widened || panel == Form::Widened) && usesOfPanel >= rowsWorthWidening;
      const bool copies = widens || pays(op, *product);
      if (!copies && isReadAcross(op, *product)) {
        blockDepth(op, *product);
        continue;
      }
      if (!copies && usesOfPanel == 1)
        continue;
      if (copies)
        op = joinLines(op, *product);
      product = op ? productOf(op) : std::nullopt;
      if (product && succeeded(pack(op, *product, widens ? rows : Form::Same, panel, {}, copies)))
        ++(copies ? packed : inPlace);
      else
        ++missed;
    }
    unpackRest(function);
  }

  int64_t lanes(linalg::LinalgOp op) const {
    return vectorBits / getElementTypeOrSelf(op.getDpsInits()[0].getType()).getIntOrFloatBitWidth();
  }

  /// Does plim-register-tile make tiles of it? It leaves few columns to plain loops.
  bool isTileable(linalg::LinalgOp op, const Product &product) const {
    constexpr int64_t leastColumns = 4;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t width = sizes[product.column];
    return llvm::all_of(op->getOperands(),
                        [](Value operand) {
                          Type type = getElementTypeOrSelf(operand.getType());
                          return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
                        }) &&
           !llvm::is_contained(sizes, 0) && 2 * lanes(op) >= leastColumns &&
           (ShapedType::isDynamic(width) || width >= leastColumns);
  }

  /// Is the panel's copy cheaper than what it saves?
  bool pays(linalg::LinalgOp op, const Product &product) {
    const int64_t rows = iterations(op, product.rowLoops).value_or(INT64_MAX);
    OpOperand &panel = op->getOpOperand(product.panel);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    if (unpackingOf(panel.get()))
      return true;
    if (!isContiguousAlong(map, product.column))
      return rows >= rowsWorthATransposition;
    if (!map.isProjectedPermutation())
      return rows >= rowsWorthAWindow;
    if (rows < rowsWorthACopy)
      return false;
    const int64_t depth = iterations(op, product.depthLoops).value_or(INT64_MAX),
                  stride = strideOf(panel.get());
    return ShapedType::isDynamic(stride) || depth > panelDepth ||
           (stride >= largeStride &&
            (depth > rowsInPlace || !areKept(depth, stride, cacheSetPeriod, firstLevelLines)));
  }

  /// Bytes between the rows of an operand.
  static int64_t strideOf(Value operand) {
    RankedTensorType type = sourceOf(operand);
    const int64_t columns = type.getShape().back();
    return ShapedType::isDynamic(columns)
               ? columns
               : columns * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  }

  /// Are so many rows of a panel kept by a cache whose sets come again after `period` bytes and keep `lines` of it each?
  static bool areKept(int64_t rows, int64_t stride, int64_t period, int64_t lines) {
    constexpr int64_t lineBytes = 64;
    return rows <= lines * (period / std::max(lineBytes, std::gcd(stride, period)));
  }

  /// Would the columns of a register tile be read down a long way, with rows that drive each other from the caches, and too few
  /// rows for a copy?
  static bool isReadAcross(linalg::LinalgOp op, const Product &product) {
    OpOperand &panel = op->getOpOperand(product.panel);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    if (!map.isProjectedPermutation() || !isContiguousAlong(map, product.column))
      return false;
    const int64_t stride = strideOf(panel.get()),
                  depth = iterations(op, product.depthLoops).value_or(INT64_MAX);
    return depth >= 2 * sweepDepth &&
           (ShapedType::isDynamic(stride) ||
            (stride >= largeRowStride &&
             !areKept(depth, stride, secondLevelPeriod, secondLevelLines)));
  }

  /// Goes along all columns with a few iterations of the reduction at a time, so that memory is read in its order.
  void blockDepth(linalg::LinalgOp op, const Product &product) {
    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (auto [loop, tile] :
         llvm::zip_equal(product.depthLoops, depthTiles(op, product, sweepDepth)))
      steps.emplace_back(loop, tile);
    if (failed(tileInOrder(rewriter, op, steps)))
      return;
    ++swept;
  }

  /// Would the rows otherwise be read again from far away for each panel?
  static bool copyOfRowsPays(linalg::LinalgOp op, const Product &product) {
    if (product.depthLoops.size() != 1 || product.rowLoops.size() != 1)
      return false;
    const unsigned row = product.rowLoops.front(), depth = product.depthLoops.front();
    // Transposing so much would cost more than it saves.
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.rows));
    if (!map.isProjectedPermutation() || map.getNumResults() < 2 ||
        map.getResults().back() != getAffineDimExpr(depth, op.getContext()))
      return false;
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    RankedTensorType source = sourceOf(op->getOperand(product.rows));
    const int64_t stride = source.getShape().back(), bytes = source.getElementTypeBitWidth() / 8;
    // Only where the block is as large each time.
    if (ShapedType::isDynamic(sizes[row]) || ShapedType::isDynamic(sizes[depth]) ||
        sizes[depth] % panelDepth != 0)
      return false;
    auto isAtLeast = [](int64_t size, int64_t least) {
      return ShapedType::isDynamic(size) || size >= least;
    };
    return isAtLeast(sizes[product.column], columnsWorthACopy) && sizes[row] >= rowsWorthACopy &&
           isAtLeast(stride, largeRowStride / bytes);
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

  /// With `copies` false only the last panel is copied, if its columns do not fill vectors.
  LogicalResult pack(linalg::LinalgOp op, const Product &product, Form rowsForm, Form panelForm,
                     Type groupOf = {}, bool copies = true) {
    const bool areGroups = panelForm == Form::Groups, areTiles = panelForm == Form::Tiles;
    IRRewriter rewriter(&getContext());
    // Outermost a block of the depth, whose rows stay in the second-level cache for all columns, a panel at a time.
    auto unpack = unpackingOf(op->getOperand(product.panel));
    const int64_t width = op.getStaticLoopRanges()[product.column],
                  unit = areTiles ? rowsOfTile : lanes(op),
                  most = unpack ? unpack.getWidth() : 2 * unit;
    const int64_t panelColumns = ShapedType::isDynamic(width) ? most : std::min(width, most);
    const SmallVector<int64_t> depth = depthTiles(
        op, product,
        areTiles    ? groupSizeOf(op, product) * panelDepth / 2
        : areGroups ? op.getStaticLoopRanges().back() * panelDepth
        // Of a single row nothing is read again, and what is not copied takes little room.
        : most > 2 * unit ||
                (!copies && iterations(op, product.depthLoops).value_or(INT64_MAX) <= depthInPlace)
            ? INT64_MAX / 2
            : panelDepth);
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

    const bool rowsAreCopied = rowsForm == Form::Same && copyOfRowsPays(op, product);
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
    if (rowsAreCopied)
      inner = copyRows(rewriter, inner, product, columns);
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
      SmallVector<int64_t> memory = depth;
      memory.push_back(panelColumns);
      const bool haveRows = rows.value && rows.value.getParentBlock()->findAncestorOpInBlock(*part);
      if (rowsForm != Form::Same && !haveRows)
        rows = convertRows(rewriter, part, product, depth, rowsForm, groupOf);
      rewriter.setInsertionPoint(part);
      if (areTiles) {
        Value panel = panelForTiles(rewriter, part, product, depth.front());
        makeTileProducts(rewriter, part, product, rows.value, panel);
        continue;
      }
      // What does not fill vectors gets columns of zeros, if the memory for a result with them is of a known size.
      const int64_t columnsOfPart = part.getStaticLoopRanges()[product.column];
      const int64_t filled =
          ShapedType::isDynamic(columnsOfPart) ? most : int64_t(llvm::alignTo(columnsOfPart, unit));
      if (!copies && columnsOfPart == filled)
        continue;
      SmallVector<int64_t> shape;
      if (columnsOfPart != filled)
        shape = widenedShape(part.getDpsInits()[0], filled);
      if (areGroups) {
        loops.erase(loops.begin() + 1);
        memory.erase(memory.begin() + 1);
      }
      const int64_t widened = shape.empty() ? 0 : filled;
      std::optional<Copy> ready =
          panelForm == Form::Same ? panelOf(rewriter, part, product, widened) : std::nullopt;
      Copy panel = ready ? *ready
                         : copyOf(rewriter, part, product.panel, loops, memory, widened,
                                  /*padding=*/0, panelForm);
      if (areGroups) {
        withGroups(rewriter, part, product, groupOf, rows, panel, shape);
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

  static Form widenedForm(linalg::LinalgOp op, unsigned number) {
    return extensionOf(op, number) ? Form::Widened : Form::Same;
  }

  /// Can all rows of a workgroup be copied for one block of the reduction?
  static bool isRowCopyBounded(linalg::LinalgOp op, const Product &product) {
    int64_t rows = 1;
    for (unsigned loop : product.rowLoops) {
      std::optional<int64_t> most = mostIterations(op, product.rows, loop);
      rows = most ? checkedMul(rows, *most).value_or(INT64_MAX) : INT64_MAX;
    }
    return rows <= mostRowsCopied &&
           op.getMatchingIndexingMap(&op->getOpOperand(product.rows)).isProjectedPermutation();
  }

  /// All rows in another form, in front of the loop over the panels if `op` is in it.
  static Copy convertRows(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                          ArrayRef<int64_t> depth, Form form, Type groupOf) {
    SmallVector<unsigned> loops = product.rowLoops;
    SmallVector<int64_t> memory;
    for (unsigned loop : loops)
      memory.push_back(mostIterations(op, product.rows, loop).value_or(mostRowsCopied));
    const ArrayRef<unsigned> summed =
        ArrayRef(product.depthLoops).drop_back(form == Form::Groups ? 1 : 0);
    llvm::append_range(loops, summed);
    llvm::append_range(memory, depth.take_front(summed.size()));
    rewriter.setInsertionPoint(op);
    if (auto panels = dyn_cast<scf::ForOp>(op->getParentOp())) {
      moveLoopInvariantCode(panels);
      if (panels.isDefinedOutsideOfLoop(op->getOperand(product.rows)))
        rewriter.setInsertionPoint(panels);
    }
    if (form == Form::Tiles)
      return {rowsForTiles(rewriter, op, product, ArrayRef(memory).drop_back(), depth.front()), {}};
    return copyOf(rewriter, op, product.rows, loops, memory, /*width=*/0, rowPadding, form,
                  form == Form::Groups && flipsRows(op, product, groupOf));
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

  /// Is what the loops access of the operand, which has all of them or none side by side, without gaps? All dimensions but the
  /// outermost have to be there as a whole, and the distances between them known: upstream copies what it cannot prove to be
  /// dense.
  static bool isDense(linalg::LinalgOp op, OpOperand &operand, ArrayRef<int64_t> loops) {
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isFunctionOfDim(unsigned(loops.front())))
      return true;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    // In all tensors that it is a part of.
    for (Value whole = operand.get(); whole;) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
      if (shape.size() != map.getNumResults())
        return false;
      for (int64_t loop : loops) {
        const unsigned dimension =
            *map.getResultPosition(getAffineDimExpr(unsigned(loop), op.getContext()));
        if (ShapedType::isDynamicShape(shape.drop_front(dimension + 1)) ||
            (loop != loops.front() && shape[dimension] != sizes[unsigned(loop)]))
          return false;
      }
      whole = enclosing(whole);
    }
    return true;
  }

  /// Lines of an image are often no multiple of vectors. Copies the windows of several lines beside each other, which fill
  /// vectors better: a product whose columns are those of all. Returns the op that is left, `op` if nothing was done, null if
  /// it is lost sight of.
  linalg::LinalgOp joinLines(linalg::LinalgOp op, const Product &product) {
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (result.getNumResults() < 2 ||
        op.getMatchingIndexingMap(&op->getOpOperand(product.panel)).isProjectedPermutation())
      return op;
    const unsigned line =
        cast<AffineDimExpr>(result.getResult(result.getNumResults() - 2)).getPosition();
    const int64_t lines = sizes[line], width = sizes[product.column];
    if (!llvm::is_contained(product.columnLoops, line) || ShapedType::isDynamic(lines) ||
        ShapedType::isDynamic(width) ||
        iterations(op, product.rowLoops).value_or(INT64_MAX) < rowsWorthTwoCopies ||
        !isDense(op, *op.getDpsInitOperand(0), {int64_t(line), int64_t(product.column)}))
      return op;
    // As many lines as waste least, the more the better: columns of zeros, and what a panel of one vector takes longer.
    const SmallVector<int64_t> depth = depthTiles(op, product, panelDepth);
    int64_t bytes = std::max(
        1U,
        getElementTypeOrSelf(op->getOperand(product.panel).getType()).getIntOrFloatBitWidth() / 8);
    for (int64_t tile : depth)
      bytes = checkedMul(bytes, tile).value_or(INT64_MAX);
    auto waste = [&](int64_t count) {
      const int64_t columns = count * width, filled = int64_t(llvm::alignTo(columns, lanes(op)));
      const bool hasHalfPanel = filled % (2 * lanes(op)) != 0;
      return (double(filled - columns) + (hasHalfPanel ? 0.2 * double(lanes(op)) : 0.0)) /
             double(columns);
    };
    int64_t best = 1;
    for (int64_t count = 2;
         count <= lines && checkedMul(bytes, count * width).value_or(INT64_MAX) <= mostOfLines;
         ++count)
      if (lines % count == 0 && waste(count) <= waste(best))
        best = count;
    if (waste(1) < waste(best) + shareWorthACopy)
      return op;

    IRRewriter rewriter(&getContext());
    SmallVector<std::pair<unsigned, int64_t>> steps;
    for (unsigned loop : product.batchLoops)
      steps.emplace_back(loop, 1);
    for (auto [loop, tile] : llvm::zip_equal(product.depthLoops, depth))
      steps.emplace_back(loop, tile);
    for (unsigned loop : product.columnLoops)
      if (loop != product.column)
        steps.emplace_back(loop, loop == line ? best : 1);
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
    SmallVector<int64_t> memory = depth;
    memory.append({best, width});
    rewriter.setInsertionPoint(part);
    Copy windows = copyOf(rewriter, part, product.panel, loops, memory, /*width=*/0);
    part = withCopy(rewriter, part, product.panel, windows, {});
    return joinLoops(rewriter, part,
                     {ReassociationIndices(product.depthLoops.begin(), product.depthLoops.end()),
                      {line, product.column}});
  }

  /// Copies the block of rows for all columns, in front of the loop over those. Returns the op that uses it.
  static linalg::LinalgOp copyRows(IRRewriter &rewriter, linalg::LinalgOp op,
                                   const Product &product, scf::ForOp columns) {
    moveLoopInvariantCode(columns);
    Value block = op->getOperand(product.rows);
    if (!columns.isDefinedOutsideOfLoop(block))
      return op;
    const unsigned row = product.rowLoops.front(), depth = product.depthLoops.front();
    rewriter.setInsertionPoint(columns);
    Copy copy = copyOf(rewriter, op, product.rows, {row, depth},
                       {op.getStaticLoopRanges()[row], panelDepth}, /*width=*/0, rowPadding);
    return withCopy(rewriter, op, product.rows, copy, {});
  }
};

} // namespace
