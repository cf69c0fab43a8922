#include "ir/Gpu/DispatchWriter.h"
#include "ir/Gpu/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"

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
constexpr int64_t asyncStages = 3; // slices in workgroup memory, all but one of them on their way
constexpr unsigned globalSpace = 1, sharedSpace = 3;

/// Where accumulator `i` of the invocation at `place` is in its direction: runs side by side, so that the invocations of a
/// subgroup read neighbours.
Value inTile(KernelWriter &kernel, Value place, int64_t i) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Value first = arith::MulIOp::create(b, place, kernel.index(run));
  return arith::AddIOp::create(b, first, kernel.index(i / run * run * side + i % run));
}

/// Does the body compute with elements and positions alone?
bool isPlain(linalg::LinalgOp op) {
  return !op.getBlock()
              ->walk([](memref::LoadOp) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

/// One operand: what of it a workgroup has.
struct Share {
  const View *view;
  AffineMap map;
  ArrayRef<unsigned> across; // rows or columns
  Value memory;              // stages of slice x tile
  Value first;               // of the tile
  Value extent;              // of all rows or columns
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

SmallVector<ProductTile> DispatchWriter::tilesFor(linalg::LinalgOp op, const Product &product) {
  // The fewer tiles are enough, the faster a large one is.
  if (isForMatrixUnits(op, product)) {
    const ProductTile small{.by = ProductTile::MatrixUnits, .rows = 64, .columns = 64};
    if (options.hasWarpgroupUnits)
      return {{.by = ProductTile::WarpgroupUnits,
               .rows = warpgroupRows,
               .columns = warpgroupColumns,
               .enough = std::max<int64_t>(1, options.cores / 4)},
              small};
    return {{.by = ProductTile::MatrixUnits,
             .rows = 128,
             .columns = 128,
             .enough = std::max<int64_t>(1, options.cores / 2)},
            small};
  }
  const ProductTile small{.rows = 4 * side, .columns = 4 * side};
  if (options.cores == 0)
    return {small};
  return {{.rows = 8 * side, .columns = 8 * side, .enough = options.cores}, small};
}

AffineMap DispatchWriter::sumsMap(linalg::LinalgOp op, const View *sums) {
  for (OpOperand &operand : op->getOpOperands())
    if (const View *view = views.find(operand.get()); view && view->buffer == sums->buffer)
      return op.getMatchingIndexingMap(&operand);
  llvm_unreachable("an operand of it is the product");
}

bool DispatchWriter::joinsProduct(linalg::LinalgOp op) {
  if (group.size() != 1 || op.getNumReductionLoops() > 0)
    return false;
  linalg::LinalgOp first = group[0];
  Loops loops;
  ScopedDiagnosticHandler quiet(op->getContext(), [](mlir::Diagnostic &) { return success(); });
  // It may say more of the product's extents; and it may be one that no kernel does.
  if (Loops own; failed(loopsOf(op, own)) || failed(loopsOf(first, loops)))
    return false;
  std::optional<Product> product = matchProduct(first, loops);
  if (!product)
    return false;
  Value sums = first.getDpsInits()[0];
  const View *view = views.find(sums);
  AffineMap of = first.getMatchingIndexingMap(first.getDpsInitOperand(0));
  if (!isPlain(op) || of.getNumResults() != op.getNumLoops())
    return false;
  // An element each, read and maybe written where it is.
  bool isUsed = false, isInPlace = false;
  size_t others = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    const View *own = views.find(operand.get());
    if (!own || own->buffer != view->buffer) {
      others += own ? own->sizes.size() : 0;
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!(*own == *view) || !map.isPermutation() || (isUsed && map != sumsMap(op, view)))
      return false;
    isUsed = true;
    isInPlace |= op.isDpsInit(&operand);
  }
  // Other workgroups still read the product's operands.
  const bool overwritesOperand = llvm::any_of(op.getDpsInits(), [&](Value init) {
    const unsigned buffer = views.find(init)->buffer;
    return buffer == views.find(product->left->get())->buffer ||
           buffer == views.find(product->right->get())->buffer;
  });
  auto isOfBoth = [&](Operation *user) {
    return user == first || user == op || isa<memref::DeallocOp, linalg::FillOp>(user);
  };
  const bool isTheirs = isInPlace || (sums.getDefiningOp<memref::AllocOp>() &&
                                      llvm::all_of(sums.getUsers(), isOfBoth));
  return isUsed && isTheirs && !overwritesOperand && others <= options.maxJoinedRank;
}

LogicalResult DispatchWriter::storeProduct(linalg::LinalgOp op, const Product &product,
                                           ArrayRef<Value> positions, Value value,
                                           KernelWriter &kernel) {
  linalg::LinalgOp epilogue = product.epilogue;
  if (!epilogue) {
    storeResults(op, positions, {value}, kernel);
    return success();
  }
  const View *view = views.find(op.getDpsInits()[0]);
  AffineMap of = op.getMatchingIndexingMap(op.getDpsInitOperand(0)), to = sumsMap(epilogue, view);
  SmallVector<Value> own(epilogue.getNumLoops());
  for (unsigned i = 0; i < of.getNumResults(); ++i)
    own[to.getDimPosition(i)] = positions[of.getDimPosition(i)];
  auto isSum = [&](Value operand) {
    const View *found = views.find(operand);
    return found && found->buffer == view->buffer;
  };
  IRMapping known;
  for (OpOperand *input : epilogue.getDpsInputOperands())
    if (isSum(input->get()))
      known.map(epilogue.getMatchingBlockArgument(input), value);
  SmallVector<Value> begin;
  for (OpOperand &init : epilogue.getDpsInitsMutable()) {
    if (epilogue.getMatchingBlockArgument(&init).use_empty())
      begin.push_back({});
    else
      begin.push_back(
          isSum(init.get())
              ? value
              : kernel.load(*views.find(init.get()),
                            indicesOf(epilogue.getMatchingIndexingMap(&init), own, kernel)));
  }
  FailureOr<SmallVector<Value>> results = writeBody(epilogue, own, begin, kernel, std::move(known));
  if (failed(results))
    return failure();
  storeResults(epilogue, own, *results, kernel);
  return success();
}

LogicalResult DispatchWriter::writeProduct(linalg::LinalgOp op, const Loops &loops,
                                           const Product &product) {
  SmallVector<std::pair<KernelWriter, Number>, 0> written;
  const Number zero = numbers.constant(0), one = numbers.constant(1);
  // One in a launch for which no tile has been taken yet, otherwise zero.
  Number isOpen = one;
  const SmallVector<ProductTile> tiles = tilesFor(op, product);
  for (const ProductTile &tile : tiles) {
    const Number count = tilesOf(product, loops, tile.rows, tile.columns);
    Number isTaken = isOpen;
    if (&tile != &tiles.back()) {
      Number isEnough =
          numbers.apply(Kind::Minimum, one,
                        numbers.apply(Kind::FloorDivide, count, numbers.constant(tile.enough)));
      isTaken = numbers.apply(Kind::Multiply, isOpen, isEnough);
      isOpen = numbers.apply(Kind::Subtract, isOpen, isTaken);
    }
    if (isTaken == zero)
      continue;
    KernelWriter kernel = begin(op.getLoc());
    LogicalResult isWritten = success();
    kernel.forEachWorkgroup(count, [&](Value position) {
      switch (tile.by) {
      case ProductTile::Invocations:
        isWritten = writeProductTile(op, loops, product, tile.rows / side, position, kernel);
        break;
      case ProductTile::MatrixUnits:
        isWritten = writeMatrixTile(op, loops, product, tile.rows, position, kernel);
        break;
      case ProductTile::WarpgroupUnits:
        isWritten = writeWarpgroupTile(op, loops, product, position, kernel);
        break;
      }
    });
    if (failed(isWritten))
      return failure();
    written.emplace_back(std::move(kernel), numbers.apply(Kind::Multiply, count, isTaken));
    if (isOpen == zero)
      break;
  }
  // Slices, and what is in them.
  const Number depth = numbers.product(loops.sizesOf(product.depth)),
               iterations = numbers.apply(
                   Kind::Add, numbers.constant(2),
                   numbers.apply(Kind::Add, depth,
                                 numbers.apply(Kind::FloorDivide, depth, numbers.constant(slice))));
  SmallVector<const View *> overwritten = finishResults(op);
  if (product.epilogue)
    overwritten.append(finishResults(product.epilogue));
  for (auto &[kernel, workgroups] : written)
    end(std::move(kernel), workgroups, overwritten, iterations);
  return success();
}

Number DispatchWriter::tilesOf(const Product &product, const Loops &loops, int64_t rows,
                               int64_t columns) {
  auto tiles = [&](ArrayRef<unsigned> across, int64_t side) {
    return numbers.apply(Kind::CeilDivide, numbers.product(loops.sizesOf(across)),
                         numbers.constant(side));
  };
  return numbers.product({numbers.product(loops.sizesOf(product.batch)), tiles(product.rows, rows),
                          tiles(product.columns, columns)});
}

LogicalResult DispatchWriter::writeProductTile(linalg::LinalgOp op, const Loops &loops,
                                               const Product &product, int64_t own, Value position,
                                               KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Positions arithmetic(kernel);
  auto &of = arithmetic;
  const int64_t tile = side * own, invocations = side * side;
  auto elementOf = [&](OpOperand *operand) { return views.find(operand->get())->element; };
  // Elements of four bytes can be on their way while others are computed with.
  const bool isAsync =
      options.hasMatrixUnits && elementOf(product.left).isF32() && elementOf(product.right).isF32();
  const int64_t stages = isAsync ? asyncStages : 1;
  // Padding puts neighbours along the depth into different banks, and keeps runs of four at multiples of 16 bytes.
  const int64_t row = isAsync ? tile + run : tile, stageElements = slice * row;
  auto count = [&](ArrayRef<unsigned> which) { return numbers.product(loops.sizesOf(which)); };
  auto tiles = [&](ArrayRef<unsigned> across) {
    return numbers.apply(Kind::CeilDivide, count(across), numbers.constant(tile));
  };

  SmallVector<Value> at = kernel.delinearize(
      position, {count(product.batch), tiles(product.rows), tiles(product.columns)});
  SmallVector<Value> positions(loops.sizes.size(), kernel.index(0));
  auto set = [&](SmallVectorImpl<Value> &all, ArrayRef<unsigned> which, Value value) {
    for (auto [loop, index] :
         llvm::zip_equal(which, kernel.delinearize(value, loops.sizesOf(which))))
      all[loop] = index;
  };
  set(positions, product.batch, at[0]);
  Value thread = kernel.threadId();
  Value y = of.quotient(thread, side), x = of.remainder(thread, side);

  auto share = [&](OpOperand *operand, ArrayRef<unsigned> across, Value number) {
    const View *view = views.find(operand->get());
    AffineMap map = op.getMatchingIndexingMap(operand);
    const unsigned last = map.getDimPosition(map.getNumResults() - 1);
    return Share{.view = view,
                 .map = map,
                 .across = across,
                 .memory = kernel.workgroupMemory(view->element, stages * stageElements),
                 .first = of.times(number, tile),
                 .extent = kernel.word(count(across)),
                 .isDepthInner = llvm::is_contained(product.depth, last)};
  };
  Share left = share(product.left, product.rows, at[1]),
        right = share(product.right, product.columns, at[2]);
  Value depth = kernel.word(count(product.depth));
  auto i32 = [&](int32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)).getResult();
  };

  auto addressOf = [&](const Share &share, Value a, Value k) {
    SmallVector<Value> all = positions;
    set(all, share.across, a);
    set(all, product.depth, k);
    return kernel.address(*share.view, indicesOf(share.map, all, kernel), globalSpace);
  };
  /// Where an operand of one loop in each direction has (a, k), which may be outside of it.
  auto addressBeyond = [&](const Share &share, Value a, Value k) {
    Value zero = kernel.index(0);
    auto stride = [&](unsigned loop) {
      for (unsigned i = 0; i < share.map.getNumResults(); ++i)
        if (share.map.getDimPosition(i) == loop)
          return kernel.word(share.view->strides[i]);
      llvm_unreachable("a loop of the operand");
    };
    return kernel.behind(
        addressOf(share, zero, zero), share.view->element,
        of.plus(of.times(a, stride(share.across[0])), of.times(k, stride(product.depth[0]))));
  };
  /// Copies the slice that begins at `begin` to a stage, or starts to; `end`: of the depth, where the slice may reach beyond
  /// it. What is outside of the operand is zero, or anything.
  auto copy = [&](const Share &share, Value begin, Value end, Value stage) {
    const int64_t inner = share.isDepthInner ? slice : tile;
    Value fast = of.remainder(thread, inner), slow = of.quotient(thread, inner);
    for (int64_t i = 0; i < slice * tile / invocations; ++i) {
      Value next = of.plus(slow, i * (invocations / inner));
      Value k = share.isDepthInner ? fast : next, a = share.isDepthInner ? next : fast;
      Value place = of.plus(of.times(stage, stageElements), of.plus(of.times(k, row), a));
      k = of.plus(begin, k);
      a = of.plus(share.first, a);
      Value isInside = of.isBelow(a, share.extent);
      if (end)
        isInside = of.both(isInside, of.isBelow(k, end));
      if (isAsync) {
        Value zero = kernel.index(0);
        Value from =
            share.across.size() == 1 && product.depth.size() == 1
                ? addressBeyond(share, a, k)
                : addressOf(share, of.choose(isInside, a, zero), of.choose(isInside, k, zero));
        NVVM::CpAsyncOp::create(b, kernel.sharedAddress(share.memory, place, sharedSpace), from, 4,
                                NVVM::LoadCacheModifierKind::CA,
                                of.choose(isInside, i32(4), i32(0)));
        continue;
      }
      auto guard = scf::IfOp::create(b, isInside);
      b.setInsertionPointToStart(guard.thenBlock());
      SmallVector<Value> all = positions;
      set(all, share.across, a);
      set(all, product.depth, k);
      Value value = kernel.load(*share.view, indicesOf(share.map, all, kernel));
      kernel.storeShared(value, share.memory, place);
      b.setInsertionPointAfter(guard);
    }
  };
  auto copyBoth = [&](Value begin, Value end, Value stage) {
    copy(left, begin, end, stage);
    copy(right, begin, end, stage);
    if (isAsync)
      NVVM::CpAsyncCommitGroupOp::create(b);
  };

  /// Moves to accumulator `n`: is it in the result?
  auto moveTo = [&](int64_t n) {
    Value i = of.plus(left.first, inTile(kernel, y, n / own)),
          j = of.plus(right.first, inTile(kernel, x, n % own));
    set(positions, product.rows, i);
    set(positions, product.columns, j);
    return of.both(of.isBelow(i, left.extent), of.isBelow(j, right.extent));
  };
  FailureOr<SmallVector<Value>> sums = beginningsOfTile(op, own * own, positions, moveTo, kernel);
  if (failed(sums))
    return failure();

  /// Adds what the slice has at `k` to accumulators.
  auto fold = [&](Value stage, Value k, ValueRange sums) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> rows, columns, results;
    Value first = of.plus(of.times(stage, stageElements), of.times(k, row));
    for (int64_t i = 0; i < own; ++i) {
      rows.push_back(
          kernel.loadShared(left.memory, left.view->element, of.plus(first, inTile(kernel, y, i))));
      columns.push_back(kernel.loadShared(right.memory, right.view->element,
                                          of.plus(first, inTile(kernel, x, i))));
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
  auto foldSlice = [&](Value stage, Value count, ValueRange sums,
                       int64_t unroll) -> FailureOr<SmallVector<Value>> {
    auto loop = scf::ForOp::create(b, kernel.index(0), count, kernel.index(unroll), sums);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> results = SmallVector<Value>(loop.getRegionIterArgs());
    for (int64_t i = 0; i < unroll; ++i) {
      results = fold(stage, of.plus(loop.getInductionVar(), i), *results);
      if (failed(results))
        return failure();
    }
    scf::YieldOp::create(b, *results);
    b.setInsertionPointAfter(loop);
    return SmallVector<Value>(loop.getResults());
  };
  /// The stage of the slice that begins at `begin`, when it is there for all. Where copies run beside, the next but one is on
  /// its way to that of the one before, which is read no more. `end`: as of copy().
  auto advance = [&](Value begin, Value end) -> Value {
    Value zero = kernel.index(0);
    if (!isAsync) {
      copyBoth(begin, end, zero);
      kernel.barrier();
      return zero;
    }
    Value number = of.quotient(begin, slice);
    NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(stages - 2));
    kernel.barrier();
    copyBoth(of.plus(begin, (stages - 1) * slice), depth,
             of.remainder(of.plus(number, stages - 1), stages));
    return of.remainder(number, stages);
  };

  // Whole slices, in which the inner loop is of known length,
  for (int64_t i = 0; i + 1 < stages; ++i)
    copyBoth(kernel.index(i * slice), depth, kernel.index(i));
  Value rest = of.remainder(depth, slice), whole = of.minus(depth, rest);
  auto slices = scf::ForOp::create(b, kernel.index(0), whole, kernel.index(slice), *sums);
  b.setInsertionPointToStart(slices.getBody());
  sums = foldSlice(advance(slices.getInductionVar(), {}), kernel.index(slice),
                   slices.getRegionIterArgs(), own > 4 ? 4 : 1);
  if (failed(sums))
    return failure();
  if (!isAsync)
    kernel.barrier();
  scf::YieldOp::create(b, *sums);
  b.setInsertionPointAfter(slices);

  // and what is left.
  sums = SmallVector<Value>(slices.getResults());
  if (!numbers.isConstant(
          numbers.apply(Kind::Remainder, count(product.depth), numbers.constant(slice)), 0)) {
    sums = foldSlice(advance(whole, depth), rest, *sums, 1);
    if (failed(sums))
      return failure();
  }
  // Before the next tile's slice is copied.
  if (isAsync)
    NVVM::CpAsyncWaitGroupOp::create(b, 0);
  kernel.barrier();

  for (int64_t n = 0; n < own * own; ++n) {
    auto guard = scf::IfOp::create(b, moveTo(n));
    b.setInsertionPointToStart(guard.thenBlock());
    if (failed(storeProduct(op, product, positions, (*sums)[size_t(n)], kernel)))
      return failure();
    b.setInsertionPointAfter(guard);
  }
  return success();
}
