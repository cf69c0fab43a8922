#include "ir/Codegen/Host.h"
#include "ir/Codegen/OperandCopies.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Plim/Plim.h"
#include "ir/Transforms/Cleanup.h"
#include "ir/Transforms/FixedValues.h"
#include "ir/Transforms/Products.h"
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

struct PackConstants : plim::ir::impl::PlimPackConstantsBase<PackConstants> {
  void runOnOperation() override {
    host = hostOf(getOperation());
    FixedValues fixed(getOperation());
    SmallVector<linalg::LinalgOp> products;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        function.walk([&](linalg::LinalgOp op) {
          if (op.hasPureTensorSemantics() && !op->hasAttr(deviceAttr) && isWorthwhile(op, fixed))
            products.push_back(op);
        });
    for (linalg::LinalgOp op : products) {
      pack(op);
      ++packed;
    }
  }

  bool isWorthwhile(linalg::LinalgOp op, FixedValues &fixed) const {
    std::optional<Product> product = productOf(op);
    if (!product || !fixed.isFixed(op->getOperand(product->panel)) || fixed.isFixed(op))
      return false;
    OpOperand &panel = op->getOpOperand(product->panel);
    const AffineMap map = op.getMatchingIndexingMap(&panel);
    auto type = cast<RankedTensorType>(panel.get().getType());
    const Type element = type.getElementType();
    // Those that are widened, in groups, or in tiles are copied.
    if (!map.isProjectedPermutation() || !element.isIntOrFloat() ||
        element.getIntOrFloatBitWidth() < 8 || extensionOf(op, product->panel) ||
        extensionOf(op, product->rows))
      return false;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const int64_t rows = iterations(op, product->rowLoops).value_or(INT64_MAX),
                  depth = iterations(op, product->depthLoops).value_or(INT64_MAX);
    const int64_t columns = sizes[product->column], bytes = element.getIntOrFloatBitWidth() / 8;
    if (llvm::is_contained(sizes, 0) || columns < leastColumns)
      return false;
    if (rows == 1)
      return isContiguousAlong(map, product->column) && columns >= wideWidth(op) &&
             type.getNumElements() * bytes >= bytesWorthOrder;
    return rows >= rowsWorthPanels &&
           (!isContiguousAlong(map, product->column) || depth > smallDepth ||
            type.getShape().back() * bytes >= smallStride);
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
    const Type element = type.getElementType();
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const bool isOneRow =
        llvm::all_of(product.rowLoops, [&](unsigned loop) { return sizes[loop] == 1; });
    const int64_t width = isOneRow ? wideWidth(op) : 2 * lanes(op);
    const unsigned column = *map.getResultPosition(getAffineDimExpr(product.column, &getContext()));

    const int64_t columns = type.getDimSize(column), panels = llvm::divideCeil(columns, width);
    SmallVector<int64_t> shape(type.getShape());
    shape[column] = panels * width;
    if (shape[column] != columns) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
      Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
      Value zeros = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
      const SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
          ones(shape.size(), builder.getIndexAttr(1));
      value = tensor::InsertSliceOp::create(builder, loc, value, zeros, offsets,
                                            tensor::getMixedSizes(builder, loc, value), ones);
    }
    SmallVector<int64_t> split;
    SmallVector<ReassociationIndices> groups(shape.size());
    for (auto [dimension, extent] : llvm::enumerate(shape)) {
      groups[dimension].push_back(int64_t(split.size()));
      split.push_back(dimension == column ? panels : extent);
      if (dimension == column) {
        groups[dimension].push_back(int64_t(split.size()));
        split.push_back(width);
      }
    }
    value = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get(split, element),
                                          value, groups);
    // What is summed lies innermost, in the order of the loops.
    SmallVector<int64_t> rest;
    auto add = [&](ArrayRef<unsigned> loops) {
      for (unsigned loop : loops)
        if (std::optional<unsigned> dimension =
                map.getResultPosition(getAffineDimExpr(loop, &getContext()));
            dimension && *dimension != column)
          rest.push_back(*dimension);
    };
    add(product.batchLoops);
    add(product.columnLoops);
    add(product.depthLoops);
    SmallVector<int64_t> order = {groups[column].front()};
    for (int64_t dimension : rest)
      order.push_back(groups[size_t(dimension)].front());
    order.push_back(groups[column].back());
    SmallVector<int64_t> packedShape =
        llvm::map_to_vector(order, [&](int64_t dimension) { return split[size_t(dimension)]; });
    Value memory = tensor::EmptyOp::create(builder, loc, packedShape, element);
    value = linalg::TransposeOp::create(builder, loc, value, memory, order)->getResult(0);
    operand.set(UnpackPanelsOp::create(builder, loc, type, value, column, rest));
  }

  Host host;
};

} // namespace
