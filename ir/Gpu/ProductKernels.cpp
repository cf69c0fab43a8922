#include "ir/Gpu/DispatchWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;
using Kind = Numbers::Kind;

// A workgroup computes a tile of the result: sixteen by sixteen invocations with a square of accumulators each. Slice by slice
// of the depth, it copies what the tile needs of both operands to its own memory, where every element is read as often as
// the tile is wide. What lies outside of the operands is never read, and adds nothing.

namespace {

constexpr int64_t side = 16;  // invocations of a workgroup in each direction
constexpr int64_t slice = 16; // of the depth at a time
constexpr int64_t run = 4;    // neighbours that one invocation has in a row
/// Fewer rows or columns leave most of a tile empty.
constexpr int64_t minExtent = 16;

/// Where accumulator `i` of the invocation at `place` is in its direction: runs side by side, so that the invocations of a
/// subgroup read neighbours.
Value inTile(KernelWriter &kernel, Value place, int64_t i) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Value first = arith::MulIOp::create(b, place, kernel.index(run));
  return arith::AddIOp::create(b, first, kernel.index(i / run * run * side + i % run));
}

/// One operand: what of it a workgroup has.
struct Share {
  const View *view;
  AffineMap map;
  ArrayRef<unsigned> across; // rows or columns
  Value memory;              // slice x tile
  Value first;               // of the tile
  bool isDepthInner;         // in memory of the operand
};

} // namespace

std::optional<Product> DispatchWriter::matchProduct(linalg::LinalgOp op, const Loops &loops) {
  if (options.workgroupSize != side * side || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() < 2 || loops.reduction.empty())
    return std::nullopt;
  Product product;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!views.find(input->get()))
      continue;
    if (product.right)
      return std::nullopt;
    (product.left ? product.right : product.left) = input;
  }
  if (!product.right)
    return std::nullopt;
  const bool knowsPositions = op.getBlock()
                                  ->walk([](Operation *inner) {
                                    return isa<linalg::IndexOp, memref::LoadOp>(inner)
                                               ? WalkResult::interrupt()
                                               : WalkResult::advance();
                                  })
                                  .wasInterrupted();
  AffineMap left = op.getMatchingIndexingMap(product.left),
            right = op.getMatchingIndexingMap(product.right),
            result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (knowsPositions || !left.isProjectedPermutation() || !right.isProjectedPermutation() ||
      !result.isProjectedPermutation())
    return std::nullopt;
  for (unsigned loop : loops.parallel) {
    const bool isLeft = left.isFunctionOfDim(loop), isRight = right.isFunctionOfDim(loop);
    if (!isLeft && !isRight)
      return std::nullopt;
    (isLeft && isRight ? product.batch : isLeft ? product.rows : product.columns).push_back(loop);
  }
  for (unsigned loop : loops.reduction) {
    if (!left.isFunctionOfDim(loop) || !right.isFunctionOfDim(loop))
      return std::nullopt;
    product.depth.push_back(loop);
  }
  for (ArrayRef<unsigned> across : {ArrayRef(product.rows), ArrayRef(product.columns)}) {
    std::optional<int64_t> count = numbers.constantOf(numbers.product(loops.sizesOf(across)));
    if (across.empty() || (count && *count < minExtent))
      return std::nullopt;
  }
  return product;
}

Number DispatchWriter::tilesOf(const Product &product, const Loops &loops, int64_t side) {
  auto tiles = [&](ArrayRef<unsigned> across) {
    return numbers.apply(Kind::CeilDivide, numbers.product(loops.sizesOf(across)),
                         numbers.constant(side));
  };
  return numbers.product(
      {numbers.product(loops.sizesOf(product.batch)), tiles(product.rows), tiles(product.columns)});
}

LogicalResult DispatchWriter::writeProductTile(linalg::LinalgOp op, const Loops &loops,
                                               const Product &product, Value position,
                                               KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  const int64_t own = options.productTile, tile = side * own, invocations = side * side;
  auto count = [&](ArrayRef<unsigned> which) { return numbers.product(loops.sizesOf(which)); };
  auto tiles = [&](ArrayRef<unsigned> across) {
    return numbers.apply(Kind::CeilDivide, count(across), numbers.constant(tile));
  };
  auto times = [&](Value value, int64_t by) {
    return arith::MulIOp::create(b, value, kernel.index(by)).getResult();
  };
  auto plus = [&](Value x, Value y) { return arith::AddIOp::create(b, x, y).getResult(); };
  auto isBelow = [&](Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y).getResult();
  };

  SmallVector<Value> at = kernel.delinearize(
      position, {count(product.batch), tiles(product.rows), tiles(product.columns)});
  SmallVector<Value> positions(loops.sizes.size(), kernel.index(0));
  auto set = [&](ArrayRef<unsigned> which, Value value) {
    for (auto [loop, index] :
         llvm::zip_equal(which, kernel.delinearize(value, loops.sizesOf(which))))
      positions[loop] = index;
  };
  set(product.batch, at[0]);
  Value thread = kernel.threadId();
  Value y = arith::DivUIOp::create(b, thread, kernel.index(side));
  Value x = arith::RemUIOp::create(b, thread, kernel.index(side));

  auto share = [&](OpOperand *operand, ArrayRef<unsigned> across, Value first) {
    const View *view = views.find(operand->get());
    AffineMap map = op.getMatchingIndexingMap(operand);
    const unsigned last = cast<AffineDimExpr>(map.getResults().back()).getPosition();
    return Share{view,   map,
                 across, kernel.workgroupMemory(view->element, slice * tile),
                 first,  llvm::is_contained(product.depth, last)};
  };
  Share left = share(product.left, product.rows, times(at[1], tile)),
        right = share(product.right, product.columns, times(at[2], tile));
  Value depth = kernel.word(count(product.depth));

  /// Copies the slice that begins at `begin`; `end`: of the depth, where the slice may reach beyond it.
  auto copy = [&](const Share &share, Value begin, Value end) {
    Value extent = kernel.word(count(share.across));
    for (int64_t i = 0; i < slice * tile / invocations; ++i) {
      Value element = plus(thread, kernel.index(i * invocations));
      const int64_t inner = share.isDepthInner ? slice : tile;
      Value fast = arith::RemUIOp::create(b, element, kernel.index(inner));
      Value slow = arith::DivUIOp::create(b, element, kernel.index(inner));
      Value k = share.isDepthInner ? fast : slow, a = share.isDepthInner ? slow : fast;
      Value place = plus(times(k, tile), a);
      k = plus(begin, k);
      a = plus(share.first, a);
      Value isInside = isBelow(a, extent);
      if (end)
        isInside = arith::AndIOp::create(b, isInside, isBelow(k, end));
      auto guard = scf::IfOp::create(b, isInside);
      b.setInsertionPointToStart(guard.thenBlock());
      SmallVector<Value> own = positions;
      for (auto [which, value] : {std::pair(share.across, a), {ArrayRef(product.depth), k}})
        for (auto [loop, index] :
             llvm::zip_equal(which, kernel.delinearize(value, loops.sizesOf(which))))
          own[loop] = index;
      Value value = kernel.load(*share.view, indicesOf(share.map, own, kernel));
      kernel.storeShared(value, share.memory, place);
      b.setInsertionPointAfter(guard);
    }
  };

  /// Where accumulator (i, j) is in the result, and whether it is there.
  auto locate = [&](int64_t i, int64_t j) {
    Value row = plus(left.first, inTile(kernel, y, i)),
          column = plus(right.first, inTile(kernel, x, j));
    set(product.rows, row);
    set(product.columns, column);
    return arith::AndIOp::create(b, isBelow(row, kernel.word(count(product.rows))),
                                 isBelow(column, kernel.word(count(product.columns))))
        .getResult();
  };

  // What sums begin with.
  Value init = op.getDpsInits()[0];
  const bool isFilled =
      llvm::any_of(fills, [&](linalg::FillOp fill) { return fill.getOutputs()[0] == init; });
  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < own; ++i)
    for (int64_t j = 0; j < own; ++j) {
      SmallVector<Value> value;
      if (isFilled) {
        if (i + j > 0) {
          accumulators.push_back(accumulators.front());
          continue;
        }
        if (failed(beginnings(op, positions, kernel, value)))
          return failure();
      } else {
        Value isThere = locate(i, j);
        Type element = cast<MemRefType>(init.getType()).getElementType();
        auto guard = scf::IfOp::create(b, element, isThere, /*withElseRegion=*/true);
        b.setInsertionPointToStart(guard.thenBlock());
        if (failed(beginnings(op, positions, kernel, value)))
          return failure();
        scf::YieldOp::create(b, value);
        b.setInsertionPointToStart(guard.elseBlock());
        Value nothing = arith::ConstantOp::create(b, b.getZeroAttr(element));
        scf::YieldOp::create(b, nothing);
        b.setInsertionPointAfter(guard);
        value = {guard.getResult(0)};
      }
      accumulators.push_back(value[0]);
    }

  /// Adds what the slice has at `k` to accumulators.
  auto fold = [&](Value k, ValueRange sums) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> rows, columns, results;
    Value first = times(k, tile);
    for (int64_t i = 0; i < own; ++i) {
      rows.push_back(
          kernel.loadShared(left.memory, left.view->element, plus(first, inTile(kernel, y, i))));
      columns.push_back(
          kernel.loadShared(right.memory, right.view->element, plus(first, inTile(kernel, x, i))));
    }
    for (int64_t i = 0; i < own; ++i)
      for (int64_t j = 0; j < own; ++j) {
        IRMapping known;
        known.map(op.getMatchingBlockArgument(product.left), rows[size_t(i)]);
        known.map(op.getMatchingBlockArgument(product.right), columns[size_t(j)]);
        FailureOr<SmallVector<Value>> sum =
            writeBody(op, positions, {sums[size_t(i * own + j)]}, kernel, std::move(known));
        if (failed(sum))
          return failure();
        results.push_back((*sum)[0]);
      }
    return results;
  };
  /// A loop over `count` positions of a slice, a multiple of `unroll`.
  auto foldSlice = [&](Value count, ValueRange sums,
                       int64_t unroll) -> FailureOr<SmallVector<Value>> {
    auto loop = scf::ForOp::create(b, kernel.index(0), count, kernel.index(unroll), sums);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> results = SmallVector<Value>(loop.getRegionIterArgs());
    for (int64_t i = 0; i < unroll; ++i) {
      results = fold(plus(loop.getInductionVar(), kernel.index(i)), *results);
      if (failed(results))
        return failure();
    }
    scf::YieldOp::create(b, *results);
    b.setInsertionPointAfter(loop);
    return SmallVector<Value>(loop.getResults());
  };

  // Whole slices, in which the inner loop is of known length,
  Value rest = arith::RemUIOp::create(b, depth, kernel.index(slice));
  Value whole = arith::SubIOp::create(b, depth, rest);
  auto slices = scf::ForOp::create(b, kernel.index(0), whole, kernel.index(slice), accumulators);
  b.setInsertionPointToStart(slices.getBody());
  copy(left, slices.getInductionVar(), {});
  copy(right, slices.getInductionVar(), {});
  kernel.barrier();
  FailureOr<SmallVector<Value>> sums =
      foldSlice(kernel.index(slice), slices.getRegionIterArgs(), options.productTile > 4 ? 4 : 1);
  if (failed(sums))
    return failure();
  kernel.barrier();
  scf::YieldOp::create(b, *sums);
  b.setInsertionPointAfter(slices);

  // and what is left.
  sums = SmallVector<Value>(slices.getResults());
  if (!numbers.isConstant(
          numbers.apply(Kind::Remainder, count(product.depth), numbers.constant(slice)), 0)) {
    copy(left, whole, depth);
    copy(right, whole, depth);
    kernel.barrier();
    sums = foldSlice(rest, *sums, 1);
    if (failed(sums))
      return failure();
    // Before the next tile's slice is copied.
    kernel.barrier();
  }

  for (int64_t i = 0; i < own; ++i)
    for (int64_t j = 0; j < own; ++j) {
      Value isThere = locate(i, j);
      auto guard = scf::IfOp::create(b, isThere);
      b.setInsertionPointToStart(guard.thenBlock());
      storeResults(op, positions, {(*sums)[size_t(i * own + j)]}, kernel);
      b.setInsertionPointAfter(guard);
    }
  return success();
}
