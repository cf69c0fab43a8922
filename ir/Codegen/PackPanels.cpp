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

/// A product of matrices: what its loops are. The accumulators of a register tile lie along `column`.
struct Product {
  unsigned row, column, depth;
  unsigned panel;    // number of the operand that depends on `column` and `depth`
  bool isTransposed; // ... and whose innermost dimension is not `column`
};

/// The only loop that the map has as a result of its own at `position`, if that is all the result is.
std::optional<unsigned> loopAt(AffineMap map, unsigned position) {
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(position));
  return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
}

std::optional<Product> productOf(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op.hasIndexSemantics())
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
  Product product{(isSwapped ? dims->n : dims->m).back(), *column, dims->k.back(),
                  panel->getOperandNumber(), false};
  product.isTransposed = loopAt(map, map.getNumResults() - 1) != column;
  return product;
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

  /// Is the panel's copy cheaper than what it saves?
  bool pays(linalg::LinalgOp op, const Product &product) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (llvm::is_contained(sizes, 0))
      return false;
    const int64_t rows = sizes[product.row];
    const bool isKnown = !ShapedType::isDynamic(rows);
    if (product.isTransposed)
      return !isKnown || rows >= rowsWorthATransposition;
    if (isKnown && rows < rowsWorthACopy)
      return false;
    auto source = op->getOperand(product.panel).getDefiningOp<tensor::ExtractSliceOp>();
    auto type = cast<RankedTensorType>(source ? source.getSource().getType()
                                              : op->getOperand(product.panel).getType());
    const int64_t columns = type.getShape().back(), depth = sizes[product.depth];
    const int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
    return ShapedType::isDynamic(columns) || ShapedType::isDynamic(depth) || depth > panelDepth ||
           columns * bytes >= largeStride;
  }

  LogicalResult pack(linalg::LinalgOp op, const Product &product) {
    IRRewriter rewriter(&getContext());
    const int64_t lanes =
        vectorBits / getElementTypeOrSelf(op.getDpsInits()[0].getType()).getIntOrFloatBitWidth();
    // Outermost what has panels of its own, then the depth, so that a panel is made once, then its columns.
    SmallVector<int64_t> sizes(op.getNumLoops(), 0);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (loop != product.row && loop != product.column && loop != product.depth)
        sizes[loop] = 1;
    sizes[product.depth] = panelDepth;
    sizes[product.column] = 2 * lanes;
    SmallVector<int64_t> order;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (sizes[loop] == 1)
        order.push_back(loop);
    order.append({product.depth, product.column, product.row});

    rewriter.setInsertionPoint(op);
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(&getContext(), sizes));
    options.setInterchange(order);
    FailureOr<scf::SCFTilingResult> tiled =
        scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return failure();
    rewriter.replaceOp(op, tiled->replacements);
    SmallVector<linalg::LinalgOp> parts = {cast<linalg::LinalgOp>(tiled->tiledOps.front())};
    // The last panel apart, so that all others have as many columns as a register tile.
    scf::ForOp rest;
    if (succeeded(scf::peelForLoopAndSimplifyBounds(
            rewriter, cast<scf::ForOp>(tiled->loops.back().getOperation()), rest)))
      rest.walk([&](linalg::LinalgOp part) { parts.push_back(part); });
    for (linalg::LinalgOp part : parts)
      if (failed(copyPanel(rewriter, part, product, sizes)))
        return failure();
    return success();
  }

  /// Gives `op` a copy of its panel, of one row for each iteration of the reduction.
  LogicalResult copyPanel(IRRewriter &rewriter, linalg::LinalgOp op, const Product &product,
                          ArrayRef<int64_t> sizes) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    Value panel = op->getOperand(product.panel);
    auto type = cast<RankedTensorType>(panel.getType());
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(product.panel));
    // The copy has the dimensions of the panel, depth and columns innermost.
    SmallVector<unsigned> loops; // of the op, by dimension of the copy
    for (AffineExpr result : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(result).getPosition();
          loop != product.depth && loop != product.column)
        loops.push_back(loop);
    loops.append({product.depth, product.column});
    SmallVector<int64_t> memory;
    SmallVector<OpFoldResult> extents;
    SmallVector<AffineExpr> read(type.getRank()), write;
    for (unsigned loop : loops) {
      for (auto [dimension, result] : llvm::enumerate(map.getResults()))
        if (cast<AffineDimExpr>(result).getPosition() == loop) {
          extents.push_back(tensor::getMixedSize(rewriter, loc, panel, int64_t(dimension)));
          read[dimension] = rewriter.getAffineDimExpr(unsigned(write.size()));
        }
      memory.push_back(sizes[loop]);
      write.push_back(rewriter.getAffineDimExpr(unsigned(write.size())));
      // Known and smaller.
      if (std::optional<int64_t> extent = getConstantIntValue(extents.back()))
        memory.back() = std::min(memory.back(), *extent);
    }
    Value whole = tensor::EmptyOp::create(rewriter, loc, memory, type.getElementType());
    SmallVector<OpFoldResult> zeros(extents.size(), rewriter.getIndexAttr(0)),
        ones(extents.size(), rewriter.getIndexAttr(1));
    Value part = tensor::ExtractSliceOp::create(rewriter, loc, whole, zeros, extents, ones);
    const unsigned rank = unsigned(write.size());
    AffineMap maps[] = {AffineMap::get(rank, 0, read, &getContext()),
                        AffineMap::get(rank, 0, write, &getContext())};
    // Upstream folds a generic op that does nothing but copy.
    Value copy = maps[0].isIdentity()
                     ? bufferization::MaterializeInDestinationOp::create(rewriter, loc, panel, part)
                           ->getResult(0)
                     : linalg::GenericOp::create(
                           rewriter, loc, part.getType(), panel, part, maps,
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
    opMaps[product.panel] = AffineMap::get(op.getNumLoops(), 0, results, &getContext());
    SmallVector<Value> inputs = op.getDpsInputs();
    inputs[product.panel] = copy;
    auto generic = linalg::GenericOp::create(rewriter, loc, op->getResultTypes(), inputs,
                                             op.getDpsInits(), opMaps, op.getIteratorTypesArray());
    IRMapping mapping;
    op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

} // namespace
