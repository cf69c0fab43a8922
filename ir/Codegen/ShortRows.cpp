#include "ir/Codegen/ShortRows.h"

#include "ir/Analysis/Products.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// The most elements of a row, and where an operand lies across the rows, each vector of which takes a shuffle for each line.
constexpr int64_t mostElements = 8, mostAcross = 4;

} // namespace

std::optional<ShortRows> ShortRows::of(linalg::LinalgOp op, const Host &host) {
  std::optional<RowVectors> rows = RowVectors::ofElements(op, host);
  if (!rows || op.getNumLoops() < 2)
    return std::nullopt;
  const SmallVector<int64_t> extents = op.getStaticLoopRanges();
  const int64_t size = extents.back(), count = extents[extents.size() - 2];
  if (ShapedType::isDynamic(size) || size < 2 || size > mostElements || size >= rows->lanes ||
      (!ShapedType::isDynamic(count) && count < rows->lanes))
    return std::nullopt;
  --rows->loop;
  ShortRows result(*rows, size);
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Layout> layout = result.layoutOf(operand);
    if (!layout || (*layout == Layout::Across && size > mostAcross) ||
        (op.isDpsInit(&operand) &&
         (*layout != Layout::AsResults || !op.getMatchingIndexingMap(&operand).isPermutation())))
      return std::nullopt;
    result.layouts.push_back(*layout);
  }
  return result;
}

std::optional<ShortRows::Layout> ShortRows::layoutOf(OpOperand &operand) {
  auto buffer = dyn_cast<MemRefType>(operand.get().getType());
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  const unsigned across = rows.loop, along = across + 1;
  if (!map.isFunctionOfDim(across))
    return Layout::Shared;
  if (!buffer || !buffer.areTrailingDimsContiguous(1))
    return std::nullopt;
  if (isContiguousAlong(map, across))
    return map.isFunctionOfDim(along) ? Layout::Across : Layout::OneEach;
  const ArrayRef<AffineExpr> results = map.getResults();
  const AffineMap outer = AffineMap::get(
      map.getNumDims(), 0, results.drop_back(std::min<size_t>(2, results.size())), op.getContext());
  const bool isAsResults =
      results.size() >= 2 && results.back() == getAffineDimExpr(along, op.getContext()) &&
      results.drop_back().back() == getAffineDimExpr(across, op.getContext()) &&
      !outer.isFunctionOfDim(across) && !outer.isFunctionOfDim(along) &&
      buffer.areTrailingDimsContiguous(2) && buffer.getShape().back() == size;
  return isAsResults ? std::optional(Layout::AsResults) : std::nullopt;
}

void ShortRows::vectorize(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  const Location at = op.getLoc();
  for (auto [layout, operand] : llvm::zip(layouts, op->getOperands())) {
    flat.push_back(operand);
    if (layout != Layout::AsResults)
      continue;
    SmallVector<ReassociationIndices> groups;
    const int64_t rank = cast<MemRefType>(operand.getType()).getRank();
    for (int64_t d = 0; d < rank - 1; ++d)
      groups.push_back({d});
    groups.back().push_back(rank - 1);
    flat.back() = memref::CollapseShapeOp::create(rewriter, at, operand, groups);
  }
  SmallVector<Value> from, to, steps;
  for (Range range : op.createLoopRanges(rewriter, at)) {
    from.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.offset));
    to.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.size));
    steps.push_back(getValueOrCreateConstantIndexOp(rewriter, at, range.stride));
  }
  rows.end = to[rows.loop];
  for (SmallVector<Value> *bounds : {&from, &to, &steps})
    bounds->pop_back_n(2);
  scf::buildLoopNest(rewriter, at, from, to, steps, [&](OpBuilder &b, Location, ValueRange outer) {
    loadShared(b, outer);
    SmallVector<Value> carried;
    auto vectors = [&](OpBuilder &body, ValueRange indices, int64_t, Value mask, ValueRange) {
      iteration(body, indices, mask);
      return SmallVector<Value>();
    };
    const Value start = rows.number(b, 0), end = rows.endOfParts(b, start, rows.lanes);
    rows.buildLoop(b, outer, start, end, 0, rows.lanes, /*isMasked=*/false, carried, vectors);
    if (rows.hasMasks)
      return rows.buildLoop(b, outer, end, rows.end, rows.lanes - 1, rows.lanes,
                            /*isMasked=*/true, carried, vectors);
    rows.buildLoop(b, outer, end, rows.end, rows.lanes - 1, 0, /*isMasked=*/false, carried,
                   [&](OpBuilder &body, ValueRange indices, int64_t, Value, ValueRange) {
                     for (int64_t column = 0; column < size; ++column) {
                       SmallVector<Value> all(indices);
                       all.push_back(rows.number(body, column));
                       element(body, all);
                     }
                     return SmallVector<Value>();
                   });
  });
  rewriter.eraseOp(op);
}

/// Vectors of what all rows share. On buffers nobody would move loads in front of the loop.
void ShortRows::loadShared(OpBuilder &b, ValueRange outer) {
  const Location at = op.getLoc();
  SmallVector<Value> indices(outer);
  indices.push_back(rows.number(b, 0));
  shared.assign(op->getNumOperands(), {});
  for (OpOperand &operand : op->getOpOperands()) {
    const unsigned number = operand.getOperandNumber();
    if (layouts[number] != Layout::Shared || op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    const Type element = getElementTypeOrSelf(operand.get());
    const bool isEach = op.getMatchingIndexingMap(&operand).isFunctionOfDim(rows.loop + 1);
    SmallVector<Value> elements;
    for (int64_t column = 0; column < (isEach ? size : 1); ++column)
      elements.push_back(isa<MemRefType>(operand.get().getType())
                             ? memref::LoadOp::create(b, at, operand.get(),
                                                      placeInRow(b, operand, indices, column))
                                   .getResult()
                             : operand.get());
    if (!isEach) {
      Value all =
          vector::BroadcastOp::create(b, at, VectorType::get(rows.lanes, element), elements[0]);
      shared[number].assign(size_t(size), all);
      continue;
    }
    Value row = vector::FromElementsOp::create(b, at, VectorType::get(size, element), elements);
    for (int64_t vector = 0; vector < size; ++vector) {
      SmallVector<int64_t> taken;
      for (int64_t lane = 0; lane < rows.lanes; ++lane)
        taken.push_back((vector * rows.lanes + lane) % size);
      shared[number].push_back(vector::ShuffleOp::create(b, at, row, row, taken));
    }
  }
}

/// As many rows as a vector has elements, from `indices` on, or as many as `mask` has.
void ShortRows::iteration(OpBuilder &b, ValueRange indices, Value mask) {
  const Location at = op.getLoc();
  const int64_t lanes = rows.lanes;
  // What lies across, before it is in order: a column is read once for all vectors.
  SmallVector<SmallVector<Value>> columns(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands()) {
    const Layout layout = layouts[operand.getOperandNumber()];
    if ((layout != Layout::Across && layout != Layout::OneEach) ||
        op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    for (int64_t column = 0; column < (layout == Layout::Across ? size : 1); ++column)
      columns[operand.getOperandNumber()].push_back(
          load(b, operand.get(), placeInRow(b, operand, indices, column), mask));
  }
  Value first = arith::MulIOp::create(b, at, indices.back(), rows.number(b, size));
  Value left; // elements
  if (mask)
    left = arith::MulIOp::create(b, at, mask.getDefiningOp<vector::CreateMaskOp>().getOperand(0),
                                 rows.number(b, size));
  for (int64_t vector = 0; vector < size; ++vector) {
    Value offset = rows.number(b, vector * lanes), isThere;
    if (mask)
      isThere = vector::CreateMaskOp::create(
          b, at, cast<VectorType>(mask.getType()),
          ValueRange(arith::SubIOp::create(b, at, left, offset).getResult()));
    auto placeOf = [&](OpOperand &operand) {
      SmallVector<Value> place = placeInRow(b, operand, indices, 0);
      place.pop_back();
      place.back() = arith::AddIOp::create(b, at, first, offset);
      return place;
    };
    IRMapping values;
    for (OpOperand &operand : op->getOpOperands()) {
      const unsigned number = operand.getOperandNumber();
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (argument.use_empty())
        continue;
      if (layouts[number] == Layout::AsResults)
        values.map(argument, load(b, flat[number], placeOf(operand), isThere));
      else if (layouts[number] == Layout::Shared)
        values.map(argument, shared[number][size_t(vector)]);
      else
        values.map(argument, inOrder(b, columns[number], vector));
    }
    auto indexOf = [&](linalg::IndexOp index) -> Value {
      Value start = index.getDim() < indices.size() ? indices[index.getDim()] : rows.number(b, 0);
      if (index.getDim() < rows.loop)
        return start;
      SmallVector<int64_t> numbers;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t element = vector * lanes + lane;
        numbers.push_back(index.getDim() == rows.loop ? element / size : element % size);
      }
      const auto type = VectorType::get(lanes, b.getIndexType());
      Value steps =
          arith::ConstantOp::create(b, at, type, DenseIntElementsAttr::get(type, numbers));
      return arith::AddIOp::create(b, at, rows.widen(b, start, lanes), steps);
    };
    rows.buildOperations(b, values, lanes, indexOf, [](Operation *) { return false; });
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value value = values.lookupOrDefault(op.getMatchingYieldValue(&init)->get());
      const SmallVector<Value> place = placeOf(init);
      vector::TransferWriteOp::create(
          b, at, rows.widen(b, value, lanes), flat[init.getOperandNumber()], place,
          innermostOf(b, place.size()), isThere, b.getBoolArrayAttr({true}));
    }
  }
}

/// One element, of the row and column that `indices` end with.
void ShortRows::element(OpBuilder &b, ValueRange indices) {
  IRMapping values =
      rows.buildBody(b, indices, 0, Value(), ValueRange(), [](Operation *) { return false; });
  for (OpOperand &init : op.getDpsInitsMutable())
    memref::StoreOp::create(b, op.getLoc(),
                            values.lookupOrDefault(op.getMatchingYieldValue(&init)->get()),
                            init.get(), rows.position(b, init, indices));
}

Value ShortRows::load(OpBuilder &b, Value source, ValueRange place, Value mask) {
  const Type element = getElementTypeOrSelf(source);
  Value padding = arith::ConstantOp::create(b, op.getLoc(), b.getZeroAttr(element));
  return vector::TransferReadOp::create(b, op.getLoc(), VectorType::get(rows.lanes, element),
                                        source, place, innermostOf(b, place.size()), padding, mask,
                                        b.getBoolArrayAttr({true}));
}

/// Of the elements that columns of the rows have, those of one vector of results, or of a single column its elements, repeated.
Value ShortRows::inOrder(OpBuilder &b, ArrayRef<Value> columns, int64_t vector) {
  const int64_t lanes = rows.lanes, count = int64_t(columns.size());
  Value result;
  for (int64_t column = 0; column < count; ++column) {
    // Those of this column, beside those of the columns before.
    SmallVector<int64_t> taken;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t element = vector * lanes + lane;
      const bool isHere = count == 1 || element % size == column;
      taken.push_back(isHere   ? (result ? lanes : 0) + element / size
                      : result ? lane
                               : vector::ShuffleOp::kPoisonIndex);
    }
    result = vector::ShuffleOp::create(b, op.getLoc(), result ? result : columns[0],
                                       columns[size_t(column)], taken);
  }
  return result;
}

/// Where an element of the operand is, of the row that `indices` end with.
SmallVector<Value> ShortRows::placeInRow(OpBuilder &b, OpOperand &operand, ValueRange indices,
                                         int64_t column) {
  SmallVector<Value> all(indices);
  all.push_back(rows.number(b, column));
  return rows.position(b, operand, all);
}
