#include "ir/Codegen/GroupedProducts.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/PackedPanels.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TileProducts.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/ProductInstructions.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHOOSEPANELS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Iterations of the reduction that one panel holds: long enough that the accumulators, which are loaded and
/// stored once for each panel, cost little, and short enough that a panel stays in the caches next to the processor.
constexpr int64_t panelDepth = 512;
/// A reduction that is not longer has one panel, where they are read where they lie.
constexpr int64_t depthInPlace = 4 * panelDepth;
/// The same where no panel is copied and all columns are gone along for each block.
constexpr int64_t sweepDepth = 8;
/// Rows that must use a panel for its copy to pay, where it is read in order anyway.
constexpr int64_t rowsWorthACopy = 48;
/// The same where it would be read across its rows. Windows that move by strides are worth it for any: there is no other way to
/// fill vectors.
constexpr int64_t rowsWorthATransposition = 4;
/// The same where it is a window that moves along contiguous columns: convolutions of images stored by channels.
constexpr int64_t rowsWorthAWindow = 16;
/// Bytes between the rows of an operand from which on its columns are better copied: a panel that is not copied takes a
/// line of the caches for each row, which for strides of powers of two are the same few.
constexpr int64_t largeStride = 512;
/// Pages that the rows of a panel may lie on to be as good where they lie, if they do not fall on the same sets.
constexpr int64_t pagesInPlace = 64;
constexpr int64_t pageBytes = 4096;
/// Bytes after which addresses fall on the same set of the second-level cache again, at least, and lines that are kept of one.
constexpr int64_t secondLevelPeriod = int64_t(1) << 16, secondLevelLines = 32;
/// The same lines of the nearest.
constexpr int64_t firstLevelLines = 8;

/// Terms of a sum below which columns that do not fill vectors cost less than a copy of their panel and of the result.
constexpr int64_t leastDepth = 16;

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

/// Rows that must use operands in another form, widened, in groups, or in tiles, for its making to pay, where panels are copied
/// anyway.
constexpr int64_t rowsWorthAnotherForm = 4;

/// The same for elements of the result's type, if they are larger: as many bytes.
int64_t panelDepthOf(linalg::LinalgOp op) {
  const int64_t bits = getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth();
  return panelDepth * 32 / std::max<int64_t>(32, bits);
}

/// Tiles of the loops of a reduction that have about `iterations` together: the inner ones whole, parts of the grouped one in
/// whole groups, those for tile registers in whole tiles.
SmallVector<int64_t> depthTiles(linalg::LinalgOp op, const Product &product, int64_t iterations,
                                const std::optional<Grouping> &grouping = std::nullopt,
                                bool areTiles = false) {
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
    const int64_t unit = areTiles ? rowsOfTile * groupSizeOf(op, product)
                         : grouping && grouping->loop == product.depthLoops[i] ? grouping->size()
                                                                               : 1;
    left = std::max(unit, left / unit * unit);
    // About equal numbers.
    if (!ShapedType::isDynamic(size))
      left = int64_t(llvm::alignTo(llvm::divideCeil(size, llvm::divideCeil(size, left)), unit));
    tiles[i] = left;
    // Of several loops one that divides, if there is one that is not much smaller.
    for (int64_t tile = left; tiles.size() > 1 && !ShapedType::isDynamic(size) && 2 * tile > left;
         tile -= unit)
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

/// Bytes between the rows of an operand.
int64_t strideOf(Value operand) {
  RankedTensorType type = sourceOf(operand);
  const int64_t columns = type.getShape().back();
  return ShapedType::isDynamic(columns)
             ? columns
             : columns * std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

/// Are so many rows of a panel kept by a cache whose sets come again after `period` bytes and keep `lines` of it each?
bool areKept(int64_t rows, int64_t stride, int64_t period, int64_t lines) {
  return rows <= lines * (period / std::max(cacheLineBytes, std::gcd(stride, period)));
}

std::string textOf(const Twine &text) { return text.str(); }

struct ChoosePanels : plim::ir::impl::PlimChoosePanelsBase<ChoosePanels> {
  using PlimChoosePanelsBase::PlimChoosePanelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    std::optional<Host> host;
    function.walk([&](linalg::LinalgOp op) {
      std::optional<Product> product = op.hasPureTensorSemantics() ? productOf(op) : std::nullopt;
      if (!product || op->hasAttr(panelsAttr))
        return;
      if (!host)
        host = hostOf(function);
      if (PanelsAttr panels = panelsOf(op, *product, *host)) {
        op->setAttr(panelsAttr, panels);
        recordStrategy(function, panels);
        ++chosen;
      } else {
        ++missed;
      }
    });
  }

  /// Null where the product is left as it is.
  PanelsAttr panelsOf(linalg::LinalgOp op, const Product &product, const Host &host) const {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t lanes = host.lanes(op.getDpsInits()[0].getType()), width = sizes[product.column],
                  rows = iterations(op, product.rowLoops).value_or(INT64_MAX),
                  depth = iterations(op, product.depthLoops).value_or(INT64_MAX);
    if (!isTileable(op, product, lanes))
      return {};
    // Two vectors, or what there is, of `lines` lines.
    auto columnsOf = [&](int64_t most, int64_t lines = 1) {
      return ShapedType::isDynamic(width) ? most : std::min(lines * width, most);
    };
    auto strategy = [&](OperandForm panel, OperandForm rowsForm, int64_t iterationsOfPanel,
                        int64_t columns, const std::string &because, int64_t lines = 1,
                        const std::optional<Grouping> &grouping = std::nullopt) {
      return PanelsAttr::get(
          op.getContext(), panel, rowsForm,
          depthTiles(op, product, iterationsOfPanel, grouping, panel == OperandForm::Tiles),
          columns, lines, because);
    };
    const bool isAsWritten = strict && isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
    const bool mayConvertRows = rows >= rowsWorthAnotherForm && isRowCopyBounded(op, product);
    const std::string read =
        textOf(Twine(rows == INT64_MAX ? std::string("unknown") : std::to_string(rows)) + " rows");
    if (mayConvertRows && !isAsWritten && isOfTiles(op, product))
      return strategy(OperandForm::Tiles, OperandForm::Tiles,
                      groupSizeOf(op, product) * panelDepth / 2, columnsOf(2 * rowsOfTile),
                      "the host has tile registers for it");
    UnpackPanelsOp unpack = unpackingOf(op->getOperand(product.panel));
    const bool isWorthIt = rows >= rowsWorthWidening(op, product, host);
    if (std::optional<Grouping> grouping = groupingOf(op, product);
        grouping && !isAsWritten &&
        (unpack ? isRowCopyBounded(op, product) : isWorthIt && mayConvertRows)) {
      const int64_t lines = unpack ? 1 : linesOf(op, product, lanes, rows);
      return strategy(OperandForm::Groups, OperandForm::Groups, grouping->size() * panelDepth,
                      columnsOf(unpack ? unpack.getWidth() : 2 * lanes, lines),
                      unpack ? "the host multiplies and adds several at once, made at the link"
                             : "the host multiplies and adds several at once",
                      lines, grouping);
    }
    // Of groups nothing else is made, and elements of fewer bits than bytes are in no other form.
    if ((unpack && unpack.getGrouped()) || !hasVectorElements(op))
      return {};
    const bool widensRows = extensionOf(op, product.rows) && mayConvertRows,
               widensPanel = extensionOf(op, product.panel),
               widens = (widensRows || widensPanel) && isWorthIt;
    std::string because;
    if (widens)
      because = "widened once for " + read;
    if (!widens && !copyPays(op, product, rows, depth, because)) {
      if (isReadAcross(op, product, depth))
        return strategy(OperandForm::InPlace, OperandForm::InPlace, sweepDepth, 0,
                        "its rows drive each other from the second-level cache, " + read);
      if (rows == 1 || depth < leastDepth || !liesInOrder(op, product))
        return {};
      return strategy(OperandForm::InPlace, OperandForm::InPlace,
                      depth <= depthInPlace ? INT64_MAX / 2 : panelDepth, columnsOf(2 * lanes),
                      because);
    }
    const int64_t lines = unpack ? 1 : linesOf(op, product, lanes, rows);
    const int64_t most = unpack ? unpack.getWidth() : 2 * lanes;
    const OperandForm panel = unpack        ? OperandForm::Prepared
                              : widensPanel ? OperandForm::Widened
                                            : OperandForm::Copied;
    const OperandForm rowsForm = widens && widensRows ? OperandForm::Widened
                                 : !widens && lines == 1 && copyOfRowsPays(op, product)
                                     ? OperandForm::Copied
                                     : OperandForm::InPlace;
    // Prepared panels wider than two vectors are for a single row, of which nothing is read again.
    return strategy(panel, rowsForm, most > 2 * lanes ? INT64_MAX / 2 : panelDepthOf(op),
                    columnsOf(most, lines), because, lines);
  }

  /// Does plim-choose-register-tiles make tiles of it, if its elements are such as vectors have?
  static bool isTileable(linalg::LinalgOp op, const Product &product, int64_t lanes) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t width = sizes[product.column];
    return !llvm::is_contained(sizes, 0) && lanes > 1 &&
           (ShapedType::isDynamic(width) || width >= leastColumnsOf(op, product));
  }

  /// Rows from which on operands of narrower elements are better brought into another form before than widened as they are read.
  /// What is read in order is widened in registers once for each register tile, if there are any to spare: floats in an
  /// instruction, integers in what multiplies slowly.
  static int64_t rowsWorthWidening(linalg::LinalgOp op, const Product &product, const Host &host) {
    if (!liesInOrder(op, product) || !hasVectorElements(op) || host.vectorRegisters < 32)
      return rowsWorthAnotherForm;
    const int64_t ofTile = tileRowsOf(host).first;
    return std::max(rowsWorthAnotherForm, isa<FloatType>(getElementTypeOrSelf(op->getResult(0)))
                                              ? ofTile + ofTile / 2
                                              : ofTile / 2);
  }

  /// Do the columns of the panel's operand lie side by side, and at no windows?
  static bool liesInOrder(linalg::LinalgOp op, const Product &product) {
    const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.panel));
    return map.isProjectedPermutation() && isContiguousAlong(map, product.column);
  }

  /// Is the panel's copy cheaper than what it saves?
  static bool copyPays(linalg::LinalgOp op, const Product &product, int64_t rows, int64_t depth,
                       std::string &because) {
    OpOperand &panel = op->getOpOperand(product.panel);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    auto decide = [&](bool pays, const Twine &reason) {
      because = reason.str();
      return pays;
    };
    if (unpackingOf(panel.get()))
      return decide(true, "made at the link");
    if (!map.isProjectedPermutation() && rows < rowsWorthAWindow &&
        readsInSteps(map, product.column))
      return decide(false, "it is read through windows");
    if (!isContiguousAlong(map, product.column))
      return decide(!map.isProjectedPermutation() || rows >= rowsWorthATransposition,
                    "its columns lie apart");
    if (!map.isProjectedPermutation())
      return decide(true, "it is read through windows");
    if (rows < rowsWorthACopy)
      return decide(false, Twine(rows) + " rows are not worth a copy");
    const int64_t stride = strideOf(panel.get());
    if (ShapedType::isDynamic(stride) || depth > panelDepth)
      return decide(true, "it is deep");
    if (stride < largeStride)
      return decide(false, "its rows are short");
    const std::string apart = textOf("its rows lie " + Twine(stride) + " bytes apart");
    if (depth * std::min(stride, pageBytes) > pagesInPlace * pageBytes)
      return decide(true, apart);
    return areKept(depth, stride, cacheSetPeriod, firstLevelLines)
               ? decide(false, "the nearest cache keeps its rows")
               : decide(true, apart + ", on one set");
  }

  /// Would the columns of a register tile be read down a long way, with rows that drive each other from the caches?
  static bool isReadAcross(linalg::LinalgOp op, const Product &product, int64_t depth) {
    const int64_t stride = strideOf(op->getOperand(product.panel));
    return depth >= 2 * sweepDepth && liesInOrder(op, product) &&
           (ShapedType::isDynamic(stride) ||
            (stride >= largeRowStride &&
             !areKept(depth, stride, secondLevelPeriod, secondLevelLines)));
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
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    auto isAtLeast = [](int64_t size, int64_t least) {
      return ShapedType::isDynamic(size) || size >= least;
    };
    // Of unknown columns there may be no more than a workgroup takes.
    const int64_t columns =
        mostIterations(op, op.getDpsInitOperand(0)->getOperandNumber(), product.column)
            .value_or(INT64_MAX);
    return isAtLeast(sizes[depth], panelDepthOf(op) + 1) && columns >= columnsWorthACopy &&
           isAtLeast(sizes[row], rowsWorthACopy) && isRowCopyBounded(op, product) &&
           isAtLeast(strideOf(op->getOperand(product.rows)), largeRowStride);
  }

  /// Lines of an image are often no multiple of vectors. As many as waste least beside each other, the more the better: columns
  /// of zeros, and what a panel of one vector takes longer; 1 where that is not worth a copy more.
  static int64_t linesOf(linalg::LinalgOp op, const Product &product, int64_t lanes, int64_t rows) {
    const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (result.getNumResults() < 2 ||
        op.getMatchingIndexingMap(&op->getOpOperand(product.panel)).isProjectedPermutation())
      return 1;
    const unsigned line =
        cast<AffineDimExpr>(result.getResult(result.getNumResults() - 2)).getPosition();
    const int64_t lines = sizes[line], width = sizes[product.column];
    if (!llvm::is_contained(product.columnLoops, line) || ShapedType::isDynamic(lines) ||
        ShapedType::isDynamic(width) || rows < rowsWorthTwoCopies ||
        !isDense(op, *op.getDpsInitOperand(0), {int64_t(line), int64_t(product.column)}))
      return 1;
    int64_t bytes = std::max(
        1U,
        getElementTypeOrSelf(op->getOperand(product.panel).getType()).getIntOrFloatBitWidth() / 8);
    for (int64_t tile : depthTiles(op, product, panelDepth))
      bytes = checkedMul(bytes, tile).value_or(INT64_MAX);
    auto waste = [&](int64_t count) {
      const int64_t columns = count * width, filled = int64_t(llvm::alignTo(columns, lanes));
      const bool hasHalfPanel = filled % (2 * lanes) != 0;
      return (double(filled - columns) + (hasHalfPanel ? 0.2 * double(lanes) : 0.0)) /
             double(columns);
    };
    int64_t best = 1;
    for (int64_t count = 2;
         count <= lines && checkedMul(bytes, count * width).value_or(INT64_MAX) <= mostOfLines;
         ++count)
      if (lines % count == 0 && waste(count) <= waste(best))
        best = count;
    return waste(1) < waste(best) + shareWorthACopy ? 1 : best;
  }
};

} // namespace
