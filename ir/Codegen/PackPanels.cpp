#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <array>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPACKPANELS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Iterations of the reduction that one panel holds: long enough that the accumulators, which are loaded and
/// stored once for each panel, cost little, and short enough that a panel stays in the caches next to the processor.
constexpr int64_t panelDepth = 512;
/// Rows that must use a panel for its copy to pay, where it is read in order anyway.
constexpr int64_t rowsWorthACopy = 48;
/// The same where it would be read across its rows.
constexpr int64_t rowsWorthATransposition = 4;
/// Bytes between the rows of an operand from which on its columns are better copied: a panel that is not copied takes a
/// line of the caches for each row, which for strides of powers of two are the same few.
constexpr int64_t largeStride = 512;

/// Columns that must use a block of rows for its copy to pay.
constexpr int64_t columnsWorthACopy = 512;
/// Bytes between the rows of that block from which on they are better copied.
constexpr int64_t largeRowStride = 4096;
/// Elements by which rows of that copy are longer than what they hold, so that they do not fall on the same lines.
constexpr int64_t rowPadding = 16;

/// A product of matrices: what its loops are. The accumulators of a register tile lie along `column`.
struct Product {
  unsigned row, column, depth;
  unsigned panel;    // number of the operand that depends on `column` and `depth`
  unsigned rows;     // number of the other one
  bool isTransposed; // is the innermost dimension of the panel another one than `column`?
};

/// The only loop that the map has as a result of its own at `position`, if that is all the result is.
std::optional<unsigned> loopAt(AffineMap map, unsigned position) {
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(position));
  return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
}

std::optional<Product> productOf(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op.hasIndexSemantics())
    return std::nullopt;
  // plim-register-tile takes no others.
  for (Value operand : op->getOperands())
    if (Type type = getElementTypeOrSelf(operand.getType());
        !type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
      return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return std::nullopt;
  AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> column = loopAt(output, output.getNumResults() - 1);
  if (!column)
    return std::nullopt;
  // Where the columns are those of the left operand, its role is the right one's.
  const bool isSwapped = llvm::is_contained(dims->m, *column);
  if (!isSwapped && !llvm::is_contained(dims->n, *column))
    return std::nullopt;
  OpOperand *panel = op.getDpsInputOperand(isSwapped ? 0 : 1);
  AffineMap map = op.getMatchingIndexingMap(panel);
  if (map.getNumResults() < 2 || !map.isProjectedPermutation())
    return std::nullopt;
  Product product{
      (isSwapped ? dims->n : dims->m).back(), *column, dims->k.back(), panel->getOperandNumber(),
      1 - panel->getOperandNumber(),          false};
  product.isTransposed = loopAt(map, map.getNumResults() - 1) != column;
  return product;
}

/// What an operand, a slice mostly, is a part of.
RankedTensorType sourceOf(Value operand) {
  auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
  return cast<RankedTensorType>(slice ? slice.getSource().getType() : operand.getType());
}

struct PackPanels : plim::ir::impl::PlimPackPanelsBase<PackPanels> {
  using PlimPackPanelsBase::PlimPackPanelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> products;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op.getNumReductionLoops() > 0)
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products)
      if (std::optional<Product> product = productOf(op); product && pays(op, *product)) {
        if (succeeded(pack(op, *product)))
          ++packed;
        else
          ++missed;
      }
  }

  /// As many as a register tile has.
  int64_t panelColumns(linalg::LinalgOp op) const {
    return 2 * (vectorBits /
                getElementTypeOrSelf(op.getDpsInits()[0].getType()).getIntOrFloatBitWidth());
  }

  /// Is the panel's copy cheaper than what it saves?
  bool pays(linalg::LinalgOp op, const Product &product) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (llvm::is_contained(sizes, 0))
      return false;
    // plim-register-tile leaves so few columns to plain loops.
    const int64_t width = sizes[product.column], least = 4;
    if (panelColumns(op) < least || (!ShapedType::isDynamic(width) && width < least))
      return false;
    const int64_t rows = sizes[product.row];
    const bool isKnown = !ShapedType::isDynamic(rows);
    if (product.isTransposed)
      return !isKnown || rows >= rowsWorthATransposition;
    if (isKnown && rows < rowsWorthACopy)
      return false;
    RankedTensorType type = sourceOf(op->getOperand(product.panel));
    const int64_t columns = type.getShape().back(), depth = sizes[product.depth];
    const int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
    return ShapedType::isDynamic(columns) || ShapedType::isDynamic(depth) || depth > panelDepth ||
           columns * bytes >= largeStride;
  }

  /// Would the rows otherwise be read again from far away for each panel?
  static bool copyOfRowsPays(linalg::LinalgOp op, const Product &product) {
    // Transposing so much would cost more than it saves.
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.rows));
    if (loopAt(map, map.getNumResults() - 1) != product.depth)
      return false;
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    RankedTensorType source = sourceOf(op->getOperand(product.rows));
    const int64_t stride = source.getShape().back(), bytes = source.getElementTypeBitWidth() / 8;
    // Only where the block is as large each time.
    if (ShapedType::isDynamic(sizes[product.row]) || ShapedType::isDynamic(sizes[product.depth]) ||
        sizes[product.depth] % panelDepth != 0)
      return false;
    auto isAtLeast = [](int64_t size, int64_t least) {
      return ShapedType::isDynamic(size) || size >= least;
    };
    return isAtLeast(sizes[product.column], columnsWorthACopy) &&
           sizes[product.row] >= rowsWorthACopy && isAtLeast(stride, largeRowStride / bytes);
  }

  LogicalResult pack(linalg::LinalgOp op, const Product &product) {
    IRRewriter rewriter(&getContext());
    // Outermost what has panels of its own, then the depth, so that a panel is made once, then its columns.
    SmallVector<int64_t> sizes(op.getNumLoops(), 0);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (loop != product.row && loop != product.column && loop != product.depth)
        sizes[loop] = 1;
    sizes[product.depth] = panelDepth;
    sizes[product.column] = panelColumns(op);
    SmallVector<int64_t> order;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (sizes[loop] == 1)
        order.push_back(loop);
    order.append({product.depth, product.column, product.row});

    const bool rowsAreCopied = copyOfRowsPays(op, product);
    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
    options.setInterchange(order);
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return failure();
    rewriter.replaceOp(op, tiled->replacements);
    auto inner = cast<linalg::LinalgOp>(tiled->tiledOps.front());
    auto columns = cast<scf::ForOp>(tiled->loops.back().getOperation());
    if (rowsAreCopied)
      inner = copyRows(rewriter, inner, product, columns);
    SmallVector<linalg::LinalgOp> parts = {inner};
    // The last panel apart, so that all others have as many columns as a register tile.
    scf::ForOp rest;
    if (succeeded(scf::peelForLoopAndSimplifyBounds(rewriter, columns, rest)))
      rest.walk([&](linalg::LinalgOp part) { parts.push_back(part); });
    for (linalg::LinalgOp part : parts) {
      rewriter.setInsertionPoint(part);
      copyOperand(rewriter, part, product.panel, {product.depth, product.column},
                  {sizes[product.depth], sizes[product.column]});
    }
    return success();
  }

  /// Copies the block of rows for all columns, in front of the loop over those. Returns the op that uses it.
  static linalg::LinalgOp copyRows(IRRewriter &rewriter, linalg::LinalgOp op,
                                   const Product &product, scf::ForOp columns) {
    moveLoopInvariantCode(columns);
    Value block = op->getOperand(product.rows);
    if (!columns.isDefinedOutsideOfLoop(block))
      return op;
    rewriter.setInsertionPoint(columns);
    return copyOperand(rewriter, op, product.rows, {product.row, product.depth},
                       {op.getStaticLoopRanges()[product.row], panelDepth}, rowPadding);
  }

  /// Gives `op` a copy of an operand, made where `rewriter` stands, in memory of its own whose innermost dimensions are
  /// those of `innermost`, of at most `memory`, rows `padding` elements apart; all others have one element. Returns the op
  /// in its place.
  static linalg::LinalgOp copyOperand(IRRewriter &rewriter, linalg::LinalgOp op, unsigned number,
                                      std::array<unsigned, 2> innermost,
                                      std::array<int64_t, 2> memory, int64_t padding = 0) {
    Location loc = op.getLoc();
    Value operand = op->getOperand(number);
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    SmallVector<unsigned> loops; // of the op, by dimension of the copy
    for (AffineExpr result : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(result).getPosition();
          !llvm::is_contained(innermost, loop))
        loops.push_back(loop);
    SmallVector<int64_t> whole(loops.size(), 1);
    loops.append(innermost.begin(), innermost.end());
    whole.append(memory.begin(), memory.end());
    SmallVector<OpFoldResult> extents;
    SmallVector<AffineExpr> read(type.getRank()), write;
    for (unsigned loop : loops) {
      const unsigned dimension = *map.getResultPosition(rewriter.getAffineDimExpr(loop));
      extents.push_back(tensor::getMixedSize(rewriter, loc, operand, int64_t(dimension)));
      read[dimension] = rewriter.getAffineDimExpr(unsigned(write.size()));
      int64_t &size = whole[write.size()];
      if (std::optional<int64_t> known = getConstantIntValue(extents.back()))
        size = std::min(size, *known);
      write.push_back(rewriter.getAffineDimExpr(unsigned(write.size())));
    }
    whole.back() += padding;
    Value empty = tensor::EmptyOp::create(rewriter, loc, whole, type.getElementType());
    SmallVector<OpFoldResult> zeros(extents.size(), rewriter.getIndexAttr(0)),
        ones(extents.size(), rewriter.getIndexAttr(1));
    Value part = tensor::ExtractSliceOp::create(rewriter, loc, empty, zeros, extents, ones);
    const unsigned rank = unsigned(write.size());
    MLIRContext *context = rewriter.getContext();
    AffineMap maps[] = {AffineMap::get(rank, 0, read, context),
                        AffineMap::get(rank, 0, write, context)};
    // Upstream folds a generic op that does nothing but copy.
    Value copy =
        maps[0].isIdentity()
            ? bufferization::MaterializeInDestinationOp::create(rewriter, loc, operand, part)
                  ->getResult(0)
            : linalg::GenericOp::create(
                  rewriter, loc, part.getType(), operand, part, maps,
                  SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                  [](OpBuilder &b, Location at, ValueRange arguments) {
                    linalg::YieldOp::create(b, at, arguments[0]);
                  })
                  .getResult(0);

    // The op again, generic, with its operand in the new order.
    SmallVector<AffineMap> opMaps = op.getIndexingMapsArray();
    SmallVector<AffineExpr> results;
    for (unsigned loop : loops)
      results.push_back(rewriter.getAffineDimExpr(loop));
    opMaps[number] = AffineMap::get(op.getNumLoops(), 0, results, context);
    SmallVector<Value> inputs = op.getDpsInputs();
    inputs[number] = copy;
    rewriter.setInsertionPoint(op);
    auto generic = linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs,
                                             op.getDpsInits(), opMaps, op.getIteratorTypesArray());
    IRMapping mapping;
    op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
    rewriter.replaceOp(op, generic.getResults());
    return cast<linalg::LinalgOp>(generic.getOperation());
  }
};

} // namespace
