#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/GroupedProducts.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TileProducts.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPACKCONSTANTS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// Rows that must use a panel for it to be worth its memory: fewer read the operand as it lies.
constexpr int64_t rowsWorthPanels = 4;
/// ... but for a single row, which reads all of it once: in its order, where it is larger than what caches keep from call to
/// call, and a page of it has parts of few rows, so that nothing could foresee what is read next.
constexpr int64_t bytesWorthOrder = int64_t(1) << 20;
/// Bytes between rows of an operand, and elements of the reduction, below which it is as good as panels.
constexpr int64_t smallStride = 512, smallDepth = 512;
/// So few columns are sums along vectors of rows and columns, if both lie along what is summed. Beside few rows half a vector
/// of columns is no more either.
constexpr int64_t fewColumns = 3, fewRows = 3;

struct PackConstants : plim::ir::impl::PlimPackConstantsBase<PackConstants> {
  using PlimPackConstantsBase::PlimPackConstantsBase;

  void runOnOperation() override {
    host = hostOf(getOperation());
    FixedValues fixed(getOperation());
    SmallVector<linalg::LinalgOp> products;
    SmallVector<linalg::GenericOp> turning;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        function.walk([&](linalg::LinalgOp op) {
          if (!op.hasPureTensorSemantics() || op->hasAttr(deviceAttr))
            return;
          auto generic = dyn_cast<linalg::GenericOp>(*op);
          if (generic && !strict && hasFewColumns(generic, fixed))
            turning.push_back(generic);
          else if (isWorthwhile(op, fixed))
            products.push_back(op);
        });
    for (linalg::LinalgOp op : products) {
      pack(op);
      ++packed;
    }
    for (linalg::GenericOp op : turning) {
      turn(op);
      ++turned;
    }
  }

  /// Is it a product of floats with so few columns that they had better lie along what is summed, as the rows do?
  bool hasFewColumns(linalg::GenericOp op, FixedValues &fixed) const {
    std::optional<Product> product = productOf(op);
    if (!product || product->depthLoops.size() != 1 || product->columnLoops.size() != 1 ||
        !fixed.isFixed(op->getOperand(product->panel)) || fixed.isFixed(op))
      return false;
    OpOperand &panel = op->getOpOperand(product->panel), &rows = op->getOpOperand(product->rows);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    const unsigned depth = product->depthLoops.front();
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t columns = sizes[product->column];
    return map.isProjectedPermutation() && isContiguousAlong(map, product->column) &&
           isContiguousAlong(op.getMatchingIndexingMap(&rows), depth) &&
           isa<FloatType>(getElementTypeOrSelf(panel.get())) && !extensionOf(op, product->panel) &&
           !extensionOf(op, product->rows) && columns > 1 && sizes[depth] >= 2 * lanes(op) &&
           (columns <= fewColumns ||
            (2 * columns <= lanes(op) &&
             iterations(op, product->rowLoops).value_or(INT64_MAX) <= fewRows));
  }

  /// Moves what is summed to where the columns are.
  static void turn(linalg::GenericOp op) {
    const Product product = *productOf(op);
    OpBuilder builder(op);
    OpOperand &operand = op->getOpOperand(product.panel);
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    const auto type = cast<RankedTensorType>(operand.get().getType());
    SmallVector<int64_t> order;
    int64_t depth = 0;
    for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
      if (index.isFunctionOfDim(product.depthLoops.front()))
        depth = int64_t(dimension);
      else
        order.push_back(int64_t(dimension));
    }
    order.push_back(depth);
    const SmallVector<int64_t> shape = applyPermutation(type.getShape(), order);
    Value memory = tensor::EmptyOp::create(builder, op.getLoc(), shape, type.getElementType());
    operand.set(linalg::TransposeOp::create(builder, op.getLoc(), operand.get(), memory, order)
                    ->getResult(0));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[product.panel] = AffineMap::get(
        map.getNumDims(), 0, applyPermutation(map.getResults(), order), op.getContext());
    op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  }

  bool isWorthwhile(linalg::LinalgOp op, FixedValues &fixed) const {
    std::optional<Product> product = productOf(op);
    if (!product || !fixed.isFixed(op->getOperand(product->panel)) || fixed.isFixed(op))
      return false;
    OpOperand &panel = op->getOpOperand(product->panel);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    auto type = cast<RankedTensorType>(panel.get().getType());
    const Type element = type.getElementType();
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    if (!map.isProjectedPermutation() || !element.isIntOrFloat() || llvm::is_contained(sizes, 0) ||
        sizes[product->column] < leastColumnsOf(op, *product))
      return false;
    // Columns that fill less than half of a vector are not worth what zeros beside them take.
    if (groupsOf(op, *product) && 2 * sizes[product->column] >= lanes(op))
      return true;
    // Those that are widened, or in tiles, are copied.
    if (element.getIntOrFloatBitWidth() < 8 || extensionOf(op, product->panel) ||
        extensionOf(op, product->rows))
      return false;
    const int64_t rows = iterations(op, product->rowLoops).value_or(INT64_MAX),
                  depth = iterations(op, product->depthLoops).value_or(INT64_MAX);
    const int64_t columns = sizes[product->column], bytes = element.getIntOrFloatBitWidth() / 8;
    if (rows == 1)
      return isContiguousAlong(map, product->column) && columns >= wideWidth(op) &&
             type.getNumElements() * bytes >= bytesWorthOrder;
    return rows >= rowsWorthPanels &&
           (!isContiguousAlong(map, product->column) || depth > smallDepth ||
            type.getShape().back() * bytes >= smallStride);
  }

  /// The groups that plim-choose-panels takes, if it does.
  std::optional<Grouping> groupsOf(linalg::LinalgOp op, const Product &product) const {
    const bool isAsWritten = strict && isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
    if (isAsWritten || isOfTiles(op, product))
      return std::nullopt;
    // Workgroups bound what a parallel loop goes over, and nobody else.
    OpOperand &rows = op->getOpOperand(product.rows);
    auto isBounded = [&](auto dimension) {
      return !ShapedType::isDynamic(std::get<1>(dimension)) ||
             llvm::any_of(
                 llvm::concat<const unsigned>(product.rowLoops, product.batchLoops),
                 [&](unsigned loop) { return std::get<0>(dimension).isFunctionOfDim(loop); });
    };
    if (readsWindows(op, product.rows) &&
        !llvm::all_of(llvm::zip_equal(op.getMatchingIndexingMap(&rows).getResults(),
                                      cast<RankedTensorType>(rows.get().getType()).getShape()),
                      isBounded))
      return std::nullopt;
    return groupingOf(op, product);
  }

  int64_t lanes(linalg::LinalgOp op) const { return host.lanes(op->getResult(0).getType()); }

  /// Columns of plim-choose-register-tiles' tiles of one row.
  int64_t wideWidth(linalg::LinalgOp op) const { return 8 * lanes(op); }

  void pack(linalg::LinalgOp op) {
    const Product product = *productOf(op);
    OpBuilder builder(op);
    Location loc = op.getLoc();
    OpOperand &operand = op->getOpOperand(product.panel);
    const AffineMap map = op.getMatchingIndexingMap(&operand);
    Value value = operand.get();
    auto type = cast<RankedTensorType>(value.getType());
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const bool isOneRow =
        llvm::all_of(product.rowLoops, [&](unsigned loop) { return sizes[loop] == 1; });
    // No wider than the columns fill.
    const int64_t width = std::min(isOneRow ? wideWidth(op) : 2 * lanes(op),
                                   int64_t(llvm::alignTo(sizes[product.column], lanes(op))));
    auto dimensionOf = [&](unsigned loop) {
      return map.getResultPosition(getAffineDimExpr(loop, &getContext()));
    };
    const unsigned column = *dimensionOf(product.column);
    std::optional<Grouping> grouping = groupsOf(op, product);
    std::optional<unsigned> grouped = grouping ? dimensionOf(grouping->loop) : std::nullopt;

    // Dimensions that are split, and what their inner halves have.
    SmallVector<int64_t> inner(size_t(type.getRank()), 1), shape(type.getShape());
    inner[column] = width;
    if (grouped)
      inner[*grouped] = grouping->size();
    for (auto [extent, half] : llvm::zip_equal(shape, inner))
      extent = int64_t(llvm::alignTo(extent, half));
    value = padded(builder, loc, value, shape);
    SmallVector<int64_t> split;
    SmallVector<ReassociationIndices> halves(shape.size());
    for (auto [dimension, extent] : llvm::enumerate(shape)) {
      halves[dimension].push_back(int64_t(split.size()));
      split.push_back(extent / inner[dimension]);
      if (dimension == column || grouped == dimension) {
        halves[dimension].push_back(int64_t(split.size()));
        split.push_back(inner[dimension]);
      }
    }
    value = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(split, type.getElementType()), value, halves);
    // What is summed lies innermost, in the order of the loops.
    SmallVector<int64_t> rest;
    auto add = [&](ArrayRef<unsigned> loops) {
      for (unsigned loop : loops)
        if (std::optional<unsigned> dimension = dimensionOf(loop);
            dimension && *dimension != column)
          rest.push_back(*dimension);
    };
    add(product.batchLoops);
    add(product.columnLoops);
    add(product.depthLoops);
    SmallVector<int64_t> order = {halves[column].front()};
    for (int64_t dimension : rest)
      order.push_back(halves[size_t(dimension)].front());
    order.push_back(halves[column].back());
    SmallVector<int64_t> packedShape =
        llvm::map_to_vector(order, [&](int64_t dimension) { return split[size_t(dimension)]; });
    Value memory = tensor::EmptyOp::create(builder, loc, packedShape,
                                           grouping ? builder.getI32Type() : type.getElementType());
    if (!grouping) {
      value = linalg::TransposeOp::create(builder, loc, value, memory, order)->getResult(0);
      operand.set(UnpackPanelsOp::create(builder, loc, type, value, column, rest, IntegerAttr(),
                                         /*group=*/1));
      return;
    }
    value = groupsOfSplit(builder, op, product, grouping->unflipped(), value, memory, order,
                          halves[*grouped].back());
    operand.set(UnpackPanelsOp::create(builder, loc, type, value, column, rest,
                                       builder.getI64IntegerAttr(*grouped), grouping->size()));
  }

  /// A tensor of known shape with zeros behind its elements, as many as `shape` has room for.
  static Value padded(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    const Type element = type.getElementType();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
    Value zeros = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
    const SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
        ones(shape.size(), builder.getIndexAttr(1));
    return tensor::InsertSliceOp::create(builder, loc, value, zeros, offsets,
                                         tensor::getMixedSizes(builder, loc, value), ones);
  }

  /// What has the dimensions `order` of `value` and groups of the elements along `within`.
  static Value groupsOfSplit(OpBuilder &builder, linalg::LinalgOp op, const Product &product,
                             const Grouping &grouping, Value value, Value memory,
                             ArrayRef<int64_t> order, int64_t within) {
    const auto rank = unsigned(order.size());
    SmallVector<AffineExpr> indices(rank + 1);
    for (auto [position, dimension] : llvm::enumerate(order))
      indices[size_t(dimension)] = builder.getAffineDimExpr(unsigned(position));
    SmallVector<AffineMap> maps;
    for (int64_t element = 0; element < grouping.size(); ++element) {
      indices[size_t(within)] = builder.getAffineConstantExpr(element);
      maps.push_back(AffineMap::get(rank, 0, indices, builder.getContext()));
    }
    maps.push_back(builder.getMultiDimIdentityMap(rank));
    Operation *extension = extensionOf(op, product.panel);
    return linalg::GenericOp::create(
               builder, op.getLoc(), memory.getType(),
               SmallVector<Value>(size_t(grouping.size()), value), memory, maps,
               SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
               [&](OpBuilder &b, Location at, ValueRange arguments) {
                 linalg::YieldOp::create(
                     b, at, groupOf(b, at, grouping, extension, arguments.drop_back()));
               })
        .getResult(0);
  }

  Host host;
};

} // namespace
