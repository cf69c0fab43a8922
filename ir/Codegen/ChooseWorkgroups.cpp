#include "ir/Analysis/LoopWork.h"
#include "ir/Analysis/MaskBounds.h"
#include "ir/Analysis/Products.h"
#include "ir/Codegen/ColumnParts.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/PackedPanels.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TileProducts.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>
#include <numeric>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHOOSEWORKGROUPS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedAdd;
using plim::checkedMul;

namespace {

/// The same as pointCost where all that a dispatch touches fits into the second-level cache of a
/// core: sums of 64x1024 elements take 5 microseconds on one core of a Zen 5, 15 on two.
constexpr int64_t nearPointCost = 16;
/// What touching the memory of an element that a reduction reads once costs, as pointCost.
constexpr int64_t reducedElementCost = 8;
/// Assumed trip count of a loop along rows that have to fit into a cache, which is not known at
/// load.
constexpr int64_t unknownRowLength = 1024;
/// Points of a dispatch with such loops that workgroups are planned for, at most.
constexpr int64_t mostUnknownPoints = int64_t(1) << 22;
/// Of a dispatch with a contraction: as many workgroups for each core, if they are worth a task, so
/// that the cores end together; the fewer there are, the more of what is loaded is used again.
constexpr int64_t workgroupsPerCore = 4;
/// ... and the fewest columns of one that has not all of them.
constexpr int64_t contractionColumns = 64;
/// ... and the fewest rows for each core that are split in the place of columns.
constexpr int64_t rowsWorthASplit = 24;
/// ... and the fewest rows, if there are as many for each core, that panels are copied for once
/// more.
constexpr int64_t rowsWorthPanels = 64;
/// The same where panels are copied twice, from the windows of an image.
constexpr int64_t rowsWorthWindows = 128;
/// The fewest rows of one whose consumer needs whole rows, if there are as many for each core.
constexpr int64_t leastWholeRows = 48;
/// Of a workgroup that leaves out the columns that none of its rows sees: the fewer, the more of them there are.
constexpr int64_t mostMaskedRows = 64;
/// Iterations of a reduction whose operand with rows should stay in the second-level cache
/// (plim-choose-panels).
constexpr int64_t cachedDepth = 512;

/// The same where tile registers compute it, and how much faster they are.
constexpr int64_t tileWorkgroupsPerCore = 2, tileSpeed = 8;

/// Images with borders that a workgroup makes and goes over with a window.
constexpr int64_t nearestCacheBytes = 32 << 10;

/// Columns of a workgroup that reduces them, and where their number is not known: rows are read in
/// parts as long as that.
constexpr int64_t reducedColumns = 256, unknownReducedColumns = 1024;

/// Columns of a workgroup that transposes, and its rows, at least: tiles in registers
/// (plim-transpose-copies), and whole lines.
constexpr int64_t transposedColumns = 256, transposedRows = 16;

int64_t tripCount(int64_t size) { return ShapedType::isDynamic(size) ? unknownTripCount : size; }

/// a * b, or the most work that makes a difference.
int64_t cappedProduct(int64_t a, int64_t b) { return checkedMul(a, b).value_or(INT64_MAX); }

/// A few iterations more than planned are better than a second, nearly empty workgroup.
bool isWhole(int64_t size, int64_t tile) {
  return !ShapedType::isDynamic(size) && size <= tile + tile / 2;
}

/// Rows of a workgroup with a contraction: near `planned`, and such that register tiles leave no
/// remainder, if there is such a number.
int64_t rowTile(int64_t size, int64_t planned, const Host &host) {
  const int64_t ofTile = tileRowsOf(host).first,
                registerRows = std::max<int64_t>(1, 12 / ofTile) * ofTile;
  int64_t rounded = std::max(registerRows, planned / registerRows * registerRows);
  if (ShapedType::isDynamic(size) || size % rounded == 0)
    return rounded;
  for (int64_t unit : {registerRows, int64_t(14), int64_t(8), int64_t(4)})
    for (int64_t tile = planned + planned / 2; tile >= std::max(unit, planned / 2); --tile)
      if (size % tile == 0 && tile % unit == 0)
        return tile;
  // About equal numbers otherwise, of which the last alone leaves a remainder.
  return int64_t(
      llvm::alignTo(llvm::divideCeil(size, llvm::divideCeil(size, planned)), registerRows));
}

/// How many lines of rows, or of columns, a workgroup has: near `planned`, and the same number for
/// all workgroups if that is possible.
int64_t lineTile(int64_t size, int64_t planned) {
  if (ShapedType::isDynamic(size))
    return planned;
  // All of them, however many more were planned.
  if (planned >= size)
    return std::max<int64_t>(1, size);
  for (int64_t distance = 0; 2 * distance <= planned; ++distance)
    for (int64_t tile : {planned - distance, planned + distance})
      if (tile > 0 && size % tile == 0)
        return tile;
  return planned;
}

/// As many columns as panels of `unit` have: the next number for many, the nearest where a panel is
/// much of it.
int64_t wholePanels(int64_t columns, int64_t unit) {
  return std::max(unit, unit <= contractionColumns ? int64_t(llvm::alignTo(columns, unit))
                                                   : (columns + unit / 2) / unit * unit);
}

/// Columns of a workgroup with a contraction: near `planned`, and such that all workgroups have the
/// same number, which fills vectors; rather all of them than some with a number that is not known
/// at load, if `canTakeAll`. Panels that there are, of `ofPanel` columns, are not cut.
int64_t columnTile(int64_t size, int64_t planned, bool canTakeAll, int64_t ofPanel) {
  constexpr int64_t furthest = 1 << 14;
  if (ShapedType::isDynamic(size))
    return planned;
  if (isWhole(size, planned))
    return std::max<int64_t>(1, size);
  for (int64_t some : {contractionColumns, contractionColumns / 2, contractionColumns / 4})
    for (int64_t unit = std::max(some, ofPanel), distance = 0;
         distance <= std::min(planned / 2, furthest); distance += unit)
      for (int64_t tile : {planned + distance, planned - distance})
        if (tile > 0 && tile % unit == 0 && size % tile == 0)
          return tile;
  return canTakeAll && size <= 8 * planned ? size : planned;
}

/// The fewest columns that a workgroup should have where they are reduced.
int64_t columnsToReduce(int64_t size, int64_t cores) {
  if (ShapedType::isDynamic(size))
    return unknownReducedColumns;
  return std::max(reducedColumns,
                  int64_t(llvm::alignTo(llvm::divideCeil(size, cores), contractionColumns)));
}

/// Iterations of the parallel loops together, `unknown` for those of one that is not known.
int64_t parallelPoints(linalg::LinalgOp op, int64_t unknown = unknownTripCount) {
  int64_t points = 1;
  for (auto [size, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel)
      points =
          cappedProduct(points, ShapedType::isDynamic(size) ? unknown : std::max<int64_t>(1, size));
  return points;
}

/// Is it a product, or another reduction of several operands whose columns lie side by side in one
/// of them, so that a workgroup should have many?
bool contractsColumns(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 || reducesColumns(op))
    return false;
  const std::optional<unsigned> column = columnOf(op);
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  return productOf(op) ||
         (column && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
            const AffineMap map = op.getMatchingIndexingMap(input);
            return map.getNumResults() > 1 && map.getResults().back().isFunctionOfDim(*column) &&
                   llvm::any_of(reduced, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
          }));
}

/// Elements of inputs that a reduction loads for each of its results, of `terms` terms: windows share
/// theirs, and so do rows and columns of a product.
int64_t elementsRead(linalg::LinalgOp op, int64_t terms) {
  int64_t elements = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || op.getMatchingBlockArgument(input).use_empty())
      continue;
    if (!type.hasStaticShape()) {
      const std::optional<Product> product = productOf(op);
      int64_t rows = 1;
      if (product)
        for (unsigned loop : product->rowLoops)
          rows =
              cappedProduct(rows, std::max<int64_t>(1, tripCount(op.getStaticLoopRanges()[loop])));
      return terms / rows;
    }
    elements = checkedAdd(elements, type.getNumElements()).value_or(INT64_MAX);
  }
  return std::min(terms, elements / parallelPoints(op));
}

/// Scalar operations per point of the parallel loops.
int64_t workPerPoint(linalg::LinalgOp op) {
  int64_t operations = 0;
  for (Operation &each : op.getBlock()->without_terminator()) {
    auto dot = dyn_cast<DotGroupsOp>(each);
    operations += dot ? dot.getNumProducts() : 1;
  }
  int64_t terms = 1;
  for (auto [size, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      terms = std::min(cappedProduct(terms, std::max<int64_t>(1, tripCount(size))), workgroupCost);
  int64_t work = cappedProduct(std::max<int64_t>(1, operations), terms);
  if (op.getNumReductionLoops() > 0)
    work = checkedAdd(work, cappedProduct(reducedElementCost, elementsRead(op, terms)))
               .value_or(INT64_MAX);
  return std::min(work, workgroupCost);
}

/// What touching the memory of a point costs.
int64_t touchCost(func::FuncOp function) {
  int64_t bytes = 0;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (isa<BaseMemRefType>(function.getArgumentTypes()[argument])) {
      auto its = function.getArgAttrOfType<IntegerAttr>(argument, bytesAttr);
      if (!its)
        return pointCost; // only the call knows
      bytes = checkedAdd(bytes, its.getInt()).value_or(INT64_MAX);
    }
  return bytes > hostOf(function).secondLevelBytes ? pointCost : nearPointCost;
}

struct ChooseWorkgroups : plim::ir::impl::PlimChooseWorkgroupsBase<ChooseWorkgroups> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr) || function->hasAttr(workgroupsAttr))
      return;
    if (scf::ParallelOp loop = outerLoop(function))
      return chooseFor(function, loop);
    if (auto loops = function.getOps<scf::ForallOp>(); llvm::hasSingleElement(loops))
      return chooseFor(function, *loops.begin());
    auto loops = function->getAttrOfType<DenseI64ArrayAttr>(parallelLoopsAttr);
    linalg::LinalgOp root = writtenBy(function);
    if (!loops || !root)
      return;
    int64_t work = touchCost(function);
    bool contracts = false, reduces = false;
    function.walk([&](linalg::LinalgOp op) {
      // A producer of whole rows has more points than the root.
      const int64_t more = std::max<int64_t>(1, parallelPoints(op) / parallelPoints(root));
      int64_t perPoint = workPerPoint(op);
      if (std::optional<Product> product = productOf(op); product && isOfTiles(op, *product))
        perPoint = std::max<int64_t>(1, perPoint / tileSpeed);
      work = std::min(work + cappedProduct(perPoint, more), workgroupCost);
      contracts |= contractsColumns(op);
      reduces |= reducesColumns(op);
    });

    SmallVector<int64_t> sizes = root.getStaticLoopRanges();
    assert(llvm::all_of(loops.asArrayRef(),
                        [&](int64_t loop) { return loop < int64_t(sizes.size()); }) &&
           "the loops are those of another op");
    int64_t points = std::max<int64_t>(1, workgroupCost / work);
    SmallVector<int64_t> tiles(sizes.size(), 0);
    int64_t tilePoints = 1, untiledPoints = 1;
    for (auto [loop, size] : llvm::enumerate(sizes))
      if (!llvm::is_contained(loops.asArrayRef(), int64_t(loop)) &&
          root.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
        untiledPoints = cappedProduct(untiledPoints, std::max<int64_t>(1, tripCount(size)));
    int64_t left = std::max<int64_t>(1, points / untiledPoints);
    std::string because = "each is worth a task";
    auto take = [&](int64_t loop, int64_t tile) {
      tiles[loop] = tile;
      left = std::max<int64_t>(
          1, left / std::max<int64_t>(1, isWhole(sizes[loop], tile) ? sizes[loop] : tile));
    };
    if (contracts)
      because = contractionTiles(root, loops.asArrayRef(), left, tiles);
    else if (std::optional<Transposition> across = transpositionOf(root, loops.asArrayRef())) {
      because = "lines of what is read across are used whole";
      take(across->column, transposedColumns);
      take(across->row, std::max(across->leastRows, left / across->leastRows * across->leastRows));
      for (int64_t loop : llvm::reverse(loops.asArrayRef()))
        if (loop != across->column && loop != across->row)
          take(loop, left);
    } else {
      if (const std::optional<unsigned> column = columnOf(root);
          reduces && column && llvm::is_contained(loops.asArrayRef(), int64_t(*column)))
        if (const int64_t wide = columnsToReduce(sizes[*column], hostOf(root).cores); left < wide) {
          because = "parts of rows are long";
          left = wide;
        }
      for (int64_t loop : llvm::reverse(loops.asArrayRef()))
        take(loop, left);
    }
    if (keepBordersNear(function, root, loops.asArrayRef(), tiles))
      because += ", as many images with their borders as the nearest cache has room for";
    bool split = false;
    for (int64_t loop : loops.asArrayRef()) {
      int64_t &tile = tiles[loop];
      const bool whole = isWhole(sizes[loop], tile);
      tilePoints = cappedProduct(tilePoints, std::max<int64_t>(1, whole ? sizes[loop] : tile));
      if (whole)
        tile = 0;
      split |= tile != 0;
    }
    decide(function, tiles, cappedProduct(cappedProduct(work, tilePoints), untiledPoints),
           split ? because : "all of it is one task");
    ++(split ? chosen : missed);
  }

  /// The loops of a kernel that others run for it.
  void chooseFor(func::FuncOp function, scf::ParallelOp loop) {
    const SmallVector<int64_t> sizes = tripCountsOf(loop);
    if (loop->hasAttr(tasksAttr)) {
      decide(function, SmallVector<int64_t>(sizes.size(), 1), workgroupCost,
             "each is a part of a reduction");
      ++chosen;
      return;
    }
    const int64_t work = pointCost + operationsOf(loop);
    int64_t left = std::max<int64_t>(1, workgroupCost / work), points = 1;
    SmallVector<int64_t> tiles(sizes.size(), 0);
    for (auto [size, tile] : llvm::reverse(llvm::zip(sizes, tiles))) {
      tile = isWhole(size, left) ? 0 : left;
      const int64_t taken = std::max<int64_t>(1, tile == 0 ? size : tile);
      points = cappedProduct(points, taken);
      left = std::max<int64_t>(1, left / taken);
    }
    decide(function, tiles, cappedProduct(work, points), "each is worth a task");
    ++chosen;
  }

  /// What the author has cut stays as it is.
  void chooseFor(func::FuncOp function, scf::ForallOp loop) {
    decide(function, SmallVector<int64_t>(size_t(loop.getRank()), 1),
           pointCost + operationsOf(loop), "each is an iteration of the source");
    ++chosen;
  }

  void decide(func::FuncOp function, ArrayRef<int64_t> tiles, int64_t cost, StringRef because) {
    function->setAttr(costAttr, Builder(&getContext()).getI64IntegerAttr(cost));
    auto decision = WorkgroupsAttr::get(&getContext(), tiles, because);
    function->setAttr(workgroupsAttr, decision);
    recordStrategy(function, decision);
  }

  /// The loops of a result and of an operand that it reads across, and the rows of it that fill
  /// lines, or tiles of registers.
  struct Transposition {
    int64_t column, row, leastRows;
  };

  /// Nothing if none is read so along loops that may be tiled.
  static std::optional<Transposition> transpositionOf(linalg::LinalgOp root,
                                                      ArrayRef<int64_t> loops) {
    if (root.getNumReductionLoops() > 0)
      return std::nullopt;
    for (OpOperand *input : root.getDpsInputOperands())
      if (std::optional<unsigned> row = loopReadAcross(root, input->getOperandNumber());
          row && llvm::is_contained(loops, int64_t(*row)) &&
          llvm::is_contained(loops, int64_t(*columnOf(root))))
        return Transposition{
            *columnOf(root), *row,
            std::max(transposedRows,
                     8 * cacheLineBytes /
                         getElementTypeOrSelf(input->get()).getIntOrFloatBitWidth())};
    return std::nullopt;
  }

  /// Fewer images at a time, where each workgroup makes them with a border and goes over them with a window: they stay in the nearest
  /// cache in between. Products of several rows have other operands to load for each part.
  static bool keepBordersNear(func::FuncOp function, linalg::LinalgOp root, ArrayRef<int64_t> loops,
                              MutableArrayRef<int64_t> tiles) {
    bool changes = false;
    function.walk([&](linalg::LinalgOp op) {
      const std::optional<Product> product = productOf(op);
      if (op.getNumReductionLoops() == 0 || (product && !product->rowLoops.empty()))
        return;
      const SmallVector<int64_t> inRoot = loopsInRoot(op, root);
      const std::optional<unsigned> innermost = columnOf(root);
      const int64_t columns = innermost ? int64_t(*innermost) : -1;
      for (OpOperand *input : op.getDpsInputOperands()) {
        auto insert = input->get().getDefiningOp<tensor::InsertSliceOp>();
        if (!insert || !insert.getDest().getDefiningOp<linalg::FillOp>() ||
            !insert.getDestType().hasStaticShape())
          continue;
        const ArrayRef<AffineExpr> indices = op.getMatchingIndexingMap(input).getResults();
        if (llvm::none_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
              return inRoot[loop] == columns && indices.back().isFunctionOfDim(loop);
            }))
          continue; // its rows are not the result's
        int64_t bytes = elementBytes(insert.getDestType().getElementType());
        SmallVector<int64_t> images; // the root's loops over them, which do not lie side by side
        for (auto [index, size] : llvm::zip(indices, insert.getDestType().getShape())) {
          auto loop = dyn_cast<AffineDimExpr>(index);
          const int64_t its = loop && index != indices.back() ? inRoot[loop.getPosition()] : -1;
          if (its >= 0 && llvm::is_contained(loops, its))
            images.push_back(its);
          else
            bytes = cappedProduct(bytes, size);
        }
        int64_t left = std::max<int64_t>(1, nearestCacheBytes / std::max<int64_t>(1, bytes));
        for (int64_t loop : llvm::reverse(images)) {
          const int64_t size = std::max<int64_t>(1, tripCount(root.getStaticLoopRanges()[loop])),
                        tile = tiles[loop] == 0 ? size : std::min(tiles[loop], size);
          if (tile > left) {
            tiles[loop] = left;
            changes = true;
          }
          left = std::max<int64_t>(1, left / std::min(tile, left));
        }
      }
    });
    return changes;
  }

  /// Tiles of a dispatch with a contraction, `planned` points being worth a task, and why.
  static std::string contractionTiles(linalg::LinalgOp root, ArrayRef<int64_t> loops,
                                      int64_t planned, MutableArrayRef<int64_t> tiles) {
    const Host host = hostOf(root);
    // Rows of f32 of which cachedDepth elements fill half the second-level cache, and a quarter of
    // it in f32.
    const int64_t sharedRows = std::max<int64_t>(48, host.secondLevelBytes / 2 /
                                                         (cachedDepth * int64_t(sizeof(float)))),
                  resultElements = host.secondLevelBytes / 4 / int64_t(sizeof(float));
    const SmallVector<int64_t> sizes = root.getStaticLoopRanges();
    auto pointsOf = [&](ArrayRef<int64_t> some) {
      int64_t points = 1;
      for (int64_t loop : some)
        points = cappedProduct(points, std::max<int64_t>(1, tripCount(sizes[loop])));
      return points;
    };
    int64_t points = pointsOf(loops);
    // Unknown extents may all be small but one: what a workgroup keeps for a consumer is made for
    // all that it may take.
    if (llvm::any_of(loops, [&](int64_t loop) { return ShapedType::isDynamic(sizes[loop]); }))
      points = std::min(points, mostUnknownPoints);
    const Roles roles = rolesOf(root, loops);
    const int64_t perCore = roles.isOfTiles ? tileWorkgroupsPerCore : workgroupsPerCore;
    int64_t left = std::max(planned, points / (perCore * host.cores));
    int64_t rowsAtOnce = std::min(sharedRows, pointsOf(roles.rows));
    // Copies are what costs: of as many rows as columns there are fewest. Their elements are half
    // as large.
    if (roles.isOfTiles)
      rowsAtOnce =
          std::min({2 * sharedRows, pointsOf(roles.rows), int64_t(std::sqrt(double(left)))});
    // Columns first, as many as it takes beside the rows that there are.
    int64_t wanted = std::max(left / std::max<int64_t>(1, rowsAtOnce), contractionColumns);
    // With one block of the reduction, what a workgroup computes leaves most of the cache to its
    // rows. With more it is read and written again for each, and has to be in the cache.
    const int64_t room =
        roles.depth <= cachedDepth + cachedDepth / 4 ? resultElements : 4 * resultElements;
    if (!roles.isOfTiles && std::min(wanted, pointsOf(roles.columns)) > room / rowsAtOnce)
      wanted = std::max(contractionColumns, resultElements / rowsAtOnce);
    for (int64_t loop : llvm::reverse(roles.columns)) {
      const int64_t size = std::max<int64_t>(1, tripCount(sizes[loop]));
      const bool isInnermost = loop == roles.columns.back();
      tiles[loop] = std::min(
          size,
          isInnermost
              ? columnTile(sizes[loop],
                           wholePanels(wanted, std::max(contractionColumns, roles.panelColumns)),
                           !roles.isOfTiles && pointsOf(roles.rows) >= rowsWorthASplit * host.cores,
                           roles.panelColumns)
              : lineTile(sizes[loop], wanted));
      wanted = llvm::divideCeil(wanted, tiles[loop]);
      left = std::max<int64_t>(1, left / tiles[loop]);
    }
    int64_t mostRows = roles.isOfTiles ? 2 * sharedRows : sharedRows;
    bool isMasked = false;
    // Whole rows are gone over more than once: a quarter of the cache has room for them.
    if (roles.columns.empty()) {
      int64_t rowLength = 1, rows = 1;
      for (int64_t loop : loops)
        rows = cappedProduct(rows, ShapedType::isDynamic(sizes[loop])
                                       ? unknownRowLength
                                       : std::max<int64_t>(1, sizes[loop]));
      // The root's, or the longer ones of a producer.
      int products = 0;
      root->getParentOfType<func::FuncOp>().walk([&](linalg::LinalgOp op) {
        rowLength = std::max(rowLength, parallelPoints(op, unknownRowLength) / rows);
        if (std::optional<Product> product = productOf(op)) {
          ++products;
          isMasked = isMasked || isMaskedByPlace(op->getOperand(product->rows));
        }
      });
      // Attention goes over parts of them.
      if (products > 1)
        rowLength = std::min(rowLength, blockOfColumns);
      mostRows = std::min(mostRows, std::max(leastWholeRows, resultElements / rowLength));
      if (isMasked)
        mostRows = std::min(mostRows, mostMaskedRows);
    }
    int64_t rows = 1, inColumns = 1; // workgroups beside each other
    for (int64_t loop : roles.columns)
      inColumns = cappedProduct(
          inColumns, llvm::divideCeil(std::max<int64_t>(1, tripCount(sizes[loop])), tiles[loop]));
    auto tileRows = [&](int64_t loop, int64_t most) {
      // Where rows are whole, few of them would load the other operand again for each few.
      if (roles.columns.empty())
        left = std::max(
            left, std::min<int64_t>(leastWholeRows, llvm::divideCeil(points, host.cores)) / rows);
      // Each workgroup copies the panels of its columns: windows for no less than the rows of a
      // register tile.
      else {
        const int64_t share = llvm::divideCeil(pointsOf(roles.rows), host.cores);
        left = std::max(left,
                        (roles.readsWindows
                             ? std::min(rowsWorthWindows, std::max(share, tileRowsOf(host).first))
                             : std::min(rowsWorthPanels, share)) /
                            rows);
      }
      tiles[loop] = std::min(most, left);
      // Register tiles run along the innermost rows. Where columns keep all cores busy, two rows
      // are not two tasks, each of which reads the other operand.
      if (tiles[loop] > 1 || (inColumns >= host.cores && loop == roles.rows.back()))
        tiles[loop] = loop == roles.rows.back() ? rowTile(sizes[loop], tiles[loop], host)
                                                : lineTile(sizes[loop], tiles[loop]);
      const int64_t taken = std::min(std::max<int64_t>(1, tripCount(sizes[loop])), tiles[loop]);
      rows = cappedProduct(rows, taken);
      left = std::max<int64_t>(1, left / taken);
    };
    for (int64_t loop : llvm::reverse(roles.rows))
      tileRows(loop, std::max<int64_t>(1, mostRows / rows));
    // Together no more than the rows of one may be: what a consumer takes from a workgroup has to
    // fit as well.
    for (int64_t loop : llvm::reverse(roles.batch)) {
      tiles[loop] = std::min({left, std::max<int64_t>(1, mostRows / rows),
                              std::max<int64_t>(1, tripCount(sizes[loop]))});
      // Each batch may have a mask of its own.
      if (isMasked)
        tiles[loop] = 1;
      rows = cappedProduct(rows, tiles[loop]);
      left = std::max<int64_t>(1, left / tiles[loop]);
    }
    return ((roles.isOfTiles ? "tile registers need few copies, " : "") + Twine(perCore) +
            " for each of " + Twine(host.cores) +
            " cores, half the second-level cache has room for " + Twine(mostRows) + " rows")
        .str();
  }

  /// What those loops of a dispatch's root that may be tiled are to its contraction.
  struct Roles {
    SmallVector<int64_t> columns, rows, batch;
    int64_t depth = INT64_MAX; // iterations of the reduction, where they are known
    bool isOfTiles = false, readsWindows = false; // the panels of the latter are of an image
    int64_t panelColumns = 1;                     // of the panels that there are
  };

  static Roles rolesOf(linalg::LinalgOp root, ArrayRef<int64_t> loops) {
    Roles roles;
    std::optional<Product> product;
    SmallVector<int64_t> inRoot;
    int64_t depth = 1;
    root->getParentOfType<func::FuncOp>().walk([&](linalg::LinalgOp op) {
      if (product)
        return;
      product = productOf(op);
      if (!product)
        return;
      inRoot = loopsInRoot(op, root);
      roles.isOfTiles = isOfTiles(op, *product);
      roles.readsWindows = readsWindows(op, product->panel);
      if (auto unpack = unpackingOf(op->getOperand(product->panel)))
        roles.panelColumns = unpack.getWidth();
      for (unsigned loop : product->depthLoops) {
        const int64_t size = op.getStaticLoopRanges()[loop];
        depth = ShapedType::isDynamic(size) ? INT64_MAX : cappedProduct(depth, size);
      }
    });
    auto add = [&](ArrayRef<unsigned> some, SmallVector<int64_t> &role) {
      for (unsigned loop : some)
        if (llvm::is_contained(loops, inRoot[loop]) && !llvm::is_contained(role, inRoot[loop]))
          role.push_back(inRoot[loop]);
    };
    if (product) {
      roles.depth = depth;
      add(product->columnLoops, roles.columns);
      // The innermost of the result, which need not be the innermost loop, comes last.
      if (int64_t column = inRoot[product->column]; llvm::is_contained(roles.columns, column)) {
        llvm::erase(roles.columns, column);
        roles.columns.push_back(column);
      }
      add(product->rowLoops, roles.rows);
    } else {
      // The innermost dimension of the result has the columns, and so has what else operands beside
      // it run along, if there are rows.
      const std::optional<unsigned> column = columnOf(root);
      if (column && llvm::is_contained(loops, int64_t(*column))) {
        auto isRow = [&](int64_t loop) {
          return llvm::all_of(root.getDpsInputOperands(), [&](OpOperand *input) {
            const AffineMap map = root.getMatchingIndexingMap(input);
            return !isContiguousAlong(map, *column) || !map.isFunctionOfDim(unsigned(loop));
          });
        };
        if (root.getNumReductionLoops() > 0 && llvm::any_of(loops, isRow))
          llvm::copy_if(loops, std::back_inserter(roles.columns),
                        [&](int64_t loop) { return !isRow(loop) && loop != int64_t(*column); });
        roles.columns.push_back(*column);
      }
    }
    for (int64_t loop : loops)
      if (!llvm::is_contained(roles.columns, loop) && !llvm::is_contained(roles.rows, loop))
        (product ? roles.batch : roles.rows).push_back(loop);
    return roles;
  }

  /// For each loop of an op the loop of `root` that runs over the same dimension of what the op
  /// writes, or -1.
  static SmallVector<int64_t> loopsInRoot(linalg::LinalgOp op, linalg::LinalgOp root) {
    SmallVector<int64_t> loops(op.getNumLoops(), -1);
    if (op == root) {
      std::iota(loops.begin(), loops.end(), 0);
      return loops;
    }
    for (OpOperand &use : op->getResult(0).getUses()) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!user)
        continue;
      const SmallVector<int64_t> ofUser = loopsInRoot(user, root);
      for (auto [written, read] :
           llvm::zip_equal(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults(),
                           user.getMatchingIndexingMap(&use).getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(written), its = dyn_cast<AffineDimExpr>(read);
        if (loop && its)
          loops[loop.getPosition()] = ofUser[its.getPosition()];
      }
      break;
    }
    return loops;
  }
};

} // namespace
