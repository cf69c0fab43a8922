#include "ir/Analysis/Products.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Codegen/TiledOps.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHOOSEREGISTERTILES
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Vectors of a tile whose rows have no element of an input in common: it takes registers for columns, or for rows where there are
/// not as many columns, and with them the latency of its sums.
constexpr int64_t vectorsApart = 8;
/// Rows that may be read along in turns although their elements fall on the same set of the nearest cache, which holds eight
/// lines or more: two are left for the columns.
constexpr int64_t rowsOnOneSet = 6;
/// The same for rows of the result, which are accessed a tile at a time, if the sums of a tile have few terms.
constexpr int64_t resultRowsOnOneSet = 8, fewTerms = 32;

/// Where columns are reduced of more rows than these, accumulators wait in the nearest cache while others see the same rows: memory is
/// read along some rows, not across all of them.
constexpr int64_t manyRows = 64;
/// The vectors of columns that see rows together then, and as many rows: the more, the fewer loads and
/// stores of accumulators, and the more places of memory are read at once. On a Zen 5 rows of 1 KiB take
/// two thirds of the time that they take one by one, those of 2000 bytes half of it.
constexpr int64_t vectorsAlong = 4, rowsAlong = 8;

/// The size to tile a loop of `size` iterations by: `preferred`, or for a known size one that leaves no or little
/// remainder, or one of about the same size, of at most `most`.
int64_t tileFor(int64_t size, int64_t preferred, int64_t most) {
  if (ShapedType::isDynamic(size))
    return preferred;
  if (size <= most)
    return size;
  // The remainder of many is little of the whole.
  if (size >= 8 * preferred)
    return size % preferred != 0 && size % most == 0 ? most : preferred;
  for (int64_t tile = most; tile * 6 >= preferred * 5; --tile)
    if (size % tile == 0)
      return tile;
  return llvm::divideCeil(size, llvm::divideCeil(size, most));
}

/// Columns of a tile: two vectors of `lanes`, one where there are not as many columns, or all where
/// they do not fill one.
int64_t columnsFor(int64_t size, int64_t lanes) {
  if (ShapedType::isDynamic(size) || size >= 2 * lanes)
    return 2 * lanes;
  return std::min(size, lanes);
}

/// Do elements of consecutive iterations of a loop fall on the same set of the cache?
bool fallsOnOneSet(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  Value source = operand.get();
  for (Value whole = enclosing(source); whole; whole = enclosing(whole)) {
    if (cast<RankedTensorType>(whole.getType()).getRank() !=
        cast<RankedTensorType>(operand.get().getType()).getRank())
      return false;
    source = whole;
  }
  auto type = cast<RankedTensorType>(source.getType());
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dimension, index] : llvm::enumerate(map.getResults())) {
    if (!index.isFunctionOfDim(loop))
      continue;
    int64_t stride = factorOf(index, loop).value_or(1) * (type.getElementTypeBitWidth() / 8);
    for (int64_t extent : type.getShape().drop_front(dimension + 1)) {
      if (ShapedType::isDynamic(extent))
        return false;
      stride = plim::checkedMul(stride, extent).value_or(0);
    }
    const int64_t beyond = stride % cacheSetPeriod;
    return stride >= cacheSetPeriod - cacheLineBytes &&
           std::min(beyond, cacheSetPeriod - beyond) < cacheLineBytes;
  }
  return false;
}
/// Terms of a sum whose loop LLVM unrolls whole.
constexpr int64_t termsInOneBlock = 4;

struct ChooseRegisterTiles : plim::ir::impl::PlimChooseRegisterTilesBase<ChooseRegisterTiles> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    std::optional<Host> host;
    function.walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
          op->hasAttr(registersAttr))
        return;
      if (!host)
        host = hostOf(function);
      if (RegistersAttr tile = tileOf(op, *host)) {
        op->setAttr(registersAttr, tile);
        recordStrategy(function, tile);
        ++chosen;
      } else {
        ++missed;
      }
    });
  }

  /// Null where the op is left to plain loops.
  static RegistersAttr tileOf(linalg::LinalgOp op, const Host &host) {
    if (op.getNumDpsInits() != 1 || op->getNumResults() != 1 || op.hasIndexSemantics())
      return {};
    // Random access inside the body can't be vectorised as one block.
    WalkResult hasAccess = op->walk([](Operation *nested) {
      return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (hasAccess.wasInterrupted())
      return {};
    const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    const AffineMap output = maps.back();
    if (!output.isProjectedPermutation() || output.getNumResults() == 0)
      return {};
    const unsigned columnLoop = cast<AffineDimExpr>(output.getResults().back()).getPosition();
    const ArrayRef<AffineMap> inputs = ArrayRef(maps).drop_back();
    auto hasColumns = [&](AffineMap map) { return readsInSteps(map, columnLoop); };
    // What is the same for all terms, a mean of each row beside the row, has columns of its own.
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    auto hasColumnsOfTerms = [&](AffineMap map) {
      return hasColumns(map) &&
             llvm::any_of(reduced, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
    };
    if (llvm::none_of(inputs, hasColumnsOfTerms) || !llvm::all_of(inputs, hasTileableIndices))
      return {};
    if (!hasVectorElements(op))
      return {};
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    // No iterations, no tiles.
    if (llvm::is_contained(sizes, 0))
      return {};
    const int64_t lanes = host.lanes(op.getDpsInits()[0].getType());
    int64_t columns = columnsFor(sizes[columnLoop], lanes);
    if (lanes == 1 || columns < leastColumns)
      return {};

    // Rows: a parallel loop that an input contiguous along the columns does not depend on.
    int64_t rowLoop = -1, rows = 1;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel && loop != columnLoop &&
          llvm::any_of(
              inputs, [&](AffineMap map) { return hasColumns(map) && !map.isFunctionOfDim(loop); }))
        rowLoop = loop;
    std::string because;
    if (rowLoop >= 0) {
      auto [preferred, most] = tileRowsOf(host);
      // LLVM makes one block of so few terms, and takes all of them for the first vectors of the rows before the next vectors: with two, the
      // elements of the rows wait in memory, which as an operand of the product cost nothing.
      if (termsOf(op) <= termsInOneBlock)
        columns = std::min(columns, lanes);
      // Products that another instruction adds take registers.
      if (getElementTypeOrSelf(op.getDpsInits()[0]).isInteger() && !host.sumsIntegerProducts)
        most = preferred;
      // One vector for each row leaves registers for twice as many.
      if (columns <= lanes) {
        preferred *= 2;
        most *= 2;
      }
      if (llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
            return !op.getMatchingIndexingMap(input).isFunctionOfDim(columnLoop) &&
                   fallsOnOneSet(op, *input, unsigned(rowLoop));
          })) {
        preferred = most = std::min(preferred, rowsOnOneSet);
        because = "rows fall on one set of the nearest cache, ";
      } else if (termsOf(op) <= fewTerms &&
                 fallsOnOneSet(op, *op.getDpsInitOperand(0), unsigned(rowLoop))) {
        preferred = most = std::min(preferred, resultRowsOnOneSet);
        because = "rows of the result fall on one set of the nearest cache, ";
      }
      rows = tileFor(sizes[size_t(rowLoop)], preferred, most);
    }
    int64_t terms = 0;
    if (const int64_t along = vectorsAlong * lanes;
        rows == 1 && reducesColumns(op) && termsOf(op) > manyRows &&
        (ShapedType::isDynamic(sizes[columnLoop]) || sizes[columnLoop] >= along)) {
      columns = along;
      if (sizes[columnLoop] != along)
        terms = rowsAlong;
    } else if (const int64_t wide = vectorsApart * lanes; rows == 1 && sizes[columnLoop] >= wide) {
      columns = wide;
    } else if (rowLoop < 0) {
      std::tie(rowLoop, rows) = rowsApart(op, vectorsApart / llvm::divideCeil(columns, lanes));
    }
    because += (Twine(rows * llvm::divideCeil(columns, lanes)) + " of " +
                Twine(host.vectorRegisters) + " registers")
                   .str();
    if (terms > 0)
      because += ", other columns wait in the nearest cache";
    return RegistersAttr::get(op.getContext(), rows, rowLoop, columns, columnLoop, lanes, terms,
                              because);
  }

  /// A loop of the result beside the columns, and how many of its iterations make up to `most` rows, at least one; -1 and 1 if there is
  /// none.
  static std::pair<int64_t, int64_t> rowsApart(linalg::LinalgOp op, int64_t most) {
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    for (AffineExpr index :
         llvm::reverse(op.getIndexingMapsArray().back().getResults().drop_back())) {
      const unsigned loop = cast<AffineDimExpr>(index).getPosition();
      if (sizes[loop] == 1)
        continue;
      for (OpOperand *input : op.getDpsInputOperands())
        if (fallsOnOneSet(op, *input, loop))
          most = std::min(most, rowsOnOneSet);
      return {loop, tileFor(sizes[loop], most, most)};
    }
    return {-1, 1};
  }

  /// The most terms of a sum.
  static int64_t termsOf(linalg::LinalgOp op) {
    int64_t terms = 1;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        terms = plim::checkedMul(terms, mostIterations(op, 0, unsigned(loop)).value_or(INT64_MAX))
                    .value_or(INT64_MAX);
    return terms;
  }
};

} // namespace
