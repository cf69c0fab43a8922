#include "ir/Gpu/DispatchWriter.h"
#include "ir/Gpu/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;
using Kind = Numbers::Kind;

// Products on the matrix units of sm_90a (wgmma), which read both operands from workgroup memory while the invocations do
// something else. A workgroup of two warpgroups computes a tile of 128 by 256, each of them 64 rows. Slices of both operands, 64 of
// the depth, go through four stages of workgroup memory: while the units read one, and maybe the one before it, the next two
// are on their way.
//
// In a stage an operand lies in blocks of 64 by 64 elements, rows of 128 bytes as in memory of the device: of the depth if that is
// inner there, otherwise of the rows (columns) of the tile. The eight pieces of 16 bytes of a row are exchanged: piece p of row r is
// at p xor r mod 8, which is the order that the units call a swizzle of 128 bytes.
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": which invocation has which results, and what a descriptor says.

namespace {

constexpr int64_t tileRows = warpgroupRows, tileColumns = warpgroupColumns, slice = 64, stages = 4;
constexpr int64_t piece = 8;  // elements of 16 bytes
constexpr int64_t width = 64; // elements of a row of a block
constexpr int64_t invocations = 256;
constexpr int64_t ownRows = 64;   // of a warpgroup
constexpr int64_t unitDepth = 16; // of one instruction
constexpr unsigned globalSpace = 1, sharedSpace = 3;

} // namespace

LogicalResult DispatchWriter::writeWarpgroupTile(linalg::LinalgOp op, const Loops &loops,
                                                 const Product &product, Value position,
                                                 KernelWriter &kernel) {
  Positions at(kernel);
  ImplicitLocOpBuilder &b = kernel.builder();
  const Number rowCount = loops.sizes[product.rows[0]],
               columnCount = loops.sizes[product.columns[0]],
               depthCount = loops.sizes[product.depth[0]];
  Value depth = kernel.word(depthCount), thread = kernel.threadId();
  Type element = views.find(product.left->get())->element;

  // Eight tiles below each other before the next ones beside them: workgroups that run at once share more of both operands.
  constexpr int64_t neighbours = 8;
  auto tilesIn = [&](Number count, int64_t side) {
    return numbers.apply(Kind::CeilDivide, count, numbers.constant(side));
  };
  const Number tilesDown = tilesIn(rowCount, tileRows),
               tilesBeside = tilesIn(columnCount, tileColumns);
  SmallVector<Value> of =
      kernel.delinearize(position, {numbers.product(loops.sizesOf(product.batch)),
                                    numbers.apply(Kind::Multiply, tilesDown, tilesBeside)});
  Value perBand =
      kernel.word(numbers.apply(Kind::Multiply, tilesBeside, numbers.constant(neighbours)));
  Value firstOfBand = at.times(at.quotient(of[1], perBand), neighbours);
  Value inBand = at.remainder(of[1], perBand);
  Value height =
      at.smaller(at.minus(kernel.word(tilesDown), firstOfBand), kernel.index(neighbours));
  Value tileRow = at.plus(firstOfBand, at.remainder(inBand, height)),
        tileColumn = at.quotient(inBand, height);

  SmallVector<Value> positions(loops.sizes.size(), kernel.index(0));
  for (auto [loop, value] :
       llvm::zip_equal(product.batch, kernel.delinearize(of[0], loops.sizesOf(product.batch))))
    positions[loop] = value;

  struct Share : MatrixOperand {
    Value source;    // the invocation's first piece at depth 0, where it is aligned
    Value outerStep; // elements between two of the other dimension
  };
  auto behind = [&](Value pointer, Value elements) {
    return kernel.behind(pointer, element, elements);
  };
  // How the invocations share a stage: each has a piece in every so manieth row.
  auto piecesOfRow = [](const Share &share) {
    return share.isDepthInner ? slice / piece : share.side / piece;
  };
  auto indices = [&](const Share &share, Value across, Value k) {
    SmallVector<Value> own = positions;
    own[share.across] = across;
    own[product.depth[0]] = k;
    return indicesOf(share.map, own, kernel);
  };
  auto share = [&](OpOperand *operand, Value number, int64_t side) {
    Share result{
        matrixOperand(op, loops, product, operand, number, side, stages * side * slice, kernel),
        {},
        {}};
    if (!result.isAligned)
      return result;
    const unsigned outer = result.isDepthInner ? result.across : product.depth[0];
    for (unsigned i = 0; i + 1 < result.map.getNumResults(); ++i)
      if (result.map.getDimPosition(i) == outer)
        result.outerStep = kernel.word(result.view->strides[i]);
    const int64_t pieces = piecesOfRow(result);
    Value row = at.quotient(thread, pieces), column = at.times(at.remainder(thread, pieces), piece);
    Value a = at.plus(result.first, result.isDepthInner ? row : column);
    Value zero = kernel.index(0);
    a = at.choose(at.isBelow(a, result.extent), a, zero);
    result.source = kernel.address(*result.view, indices(result, a, zero), globalSpace);
    // Rows (or slices of the depth) and pieces are counted from there, also where `a` is the first one instead: those are not read.
    result.source = result.isDepthInner ? behind(result.source, column)
                                        : behind(result.source, at.times(row, result.outerStep));
    return result;
  };
  Share left = share(product.left, tileRow, tileRows),
        right = share(product.right, tileColumn, tileColumns);

  auto i32 = [&](int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(value)))
        .getResult();
  };
  /// Where element (row, column) of a stage is: rows of the operand's memory.
  auto placeInStage = [&](Value row, Value column, int64_t rowsOfBlock) {
    Value block = at.quotient(column, width), own = at.remainder(column, width);
    Value exchanged = at.exclusiveOr(at.quotient(own, piece), at.remainder(row, 8));
    return at.plus(at.plus(at.times(block, rowsOfBlock * width), at.times(row, width)),
                   at.plus(at.times(exchanged, piece), at.remainder(own, piece)));
  };
  /// Starts to copy the slice that begins at `begin` to a stage. What is outside of the operand is zero.
  auto copy = [&](const Share &share, Value begin, Value stage) {
    Value base = at.times(stage, share.side * slice);
    const int64_t rowsOfBlock = share.isDepthInner ? share.side : slice;
    auto copyPieces = [&] {
      const int64_t pieces = piecesOfRow(share), step = invocations / pieces;
      Value row = at.quotient(thread, pieces),
            column = at.times(at.remainder(thread, pieces), piece);
      Value source = share.isDepthInner ? behind(share.source, begin)
                                        : behind(share.source, at.times(begin, share.outerStep));
      Value target = at.plus(base, placeInStage(row, column, rowsOfBlock));
      Value a = at.plus(share.first, share.isDepthInner ? row : column),
            k = at.plus(begin, share.isDepthInner ? column : row);
      for (int64_t i = 0; i < rowsOfBlock / step; ++i) {
        // Eight rows on, pieces are exchanged in the same way.
        static_assert(invocations / (256 / piece) % 8 == 0);
        Value moved = at.plus(share.isDepthInner ? a : k, i * step);
        Value isInside = at.both(at.isBelow(share.isDepthInner ? moved : a, share.extent),
                                 at.isBelow(share.isDepthInner ? k : moved, depth));
        Value bytes = at.choose(isInside, i32(16), i32(0));
        Value from = behind(source, at.times(share.outerStep, i * step));
        Value to =
            kernel.sharedAddress(share.memory, at.plus(target, i * step * width), sharedSpace);
        NVVM::CpAsyncOp::create(b, to, from, 16, NVVM::LoadCacheModifierKind::CG, bytes);
      }
    };
    copySlice(
        share, begin, slice, depth, [&](Value a, Value k) { return indices(share, a, k); },
        [&](Value row, Value column) {
          return at.plus(base, placeInStage(row, column, rowsOfBlock));
        },
        copyPieces, kernel);
  };
  auto fill = [&](Value begin, Value stage) {
    copy(left, begin, stage);
    copy(right, begin, stage);
    NVVM::CpAsyncCommitGroupOp::create(b);
  };

  Value warpgroup = at.quotient(thread, 128), warp = at.remainder(at.quotient(thread, 32), 4),
        lane = at.remainder(thread, 32);
  Value firstRow = at.plus(at.plus(left.first, at.times(warpgroup, ownRows)),
                           at.plus(at.times(warp, 16), at.quotient(lane, 4)));
  Value firstColumn = at.plus(right.first, at.times(at.remainder(lane, 4), 2));
  constexpr int64_t sums = tileColumns / 2; // of an invocation
  /// Row and column of sum `n`.
  auto place = [&](int64_t n) {
    positions[product.rows[0]] = at.plus(firstRow, n % 4 / 2 * 8);
    positions[product.columns[0]] = at.plus(firstColumn, n / 4 * 8 + n % 2);
  };
  auto isThere = [&] {
    return at.both(at.isBelow(positions[product.rows[0]], kernel.word(rowCount)),
                   at.isBelow(positions[product.columns[0]], kernel.word(columnCount)));
  };

  FailureOr<SmallVector<Value>> accumulators = beginningsOfTile(
      op, sums, positions,
      [&](int64_t n) {
        place(n);
        return isThere();
      },
      kernel);
  if (failed(accumulators))
    return failure();

  // What the units are told of a stage of an operand, from `first` of its rows or columns on.
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)).getResult();
  };
  auto descriptor = [&](const Share &share, Value stage, Value first) {
    // Where the depth is inner, 64 rows are a block; otherwise 64 of them are beside each other in one.
    const int64_t rowsOfBlock = share.isDepthInner ? share.side : slice;
    Value begin = at.times(stage, share.side * slice);
    begin = at.plus(begin, at.times(first, share.isDepthInner ? width : rowsOfBlock));
    Value address = LLVM::PtrToIntOp::create(
        b, b.getI32Type(), kernel.sharedAddress(share.memory, begin, sharedSpace));
    // In units of 16 bytes: the address, from bit 16 on the distance of blocks, from bit 32 on that of eight rows.
    Value low = arith::ExtUIOp::create(
        b, b.getI64Type(),
        arith::AndIOp::create(b, arith::ShRUIOp::create(b, address, i32(4)), i32(0x3FFF)));
    constexpr int64_t swizzleOf128Bytes = int64_t(1) << 62;
    const int64_t blockStep = share.isDepthInner ? 1 : rowsOfBlock * width * 2 / 16,
                  eightRows = 8 * width * 2 / 16;
    return arith::OrIOp::create(b, low,
                                number(swizzleOf128Bytes | blockStep << 16 | eightRows << 32))
        .getResult();
  };
  SmallVector<Type> sumTypes(size_t(sums), b.getF32Type());
  auto sumType = LLVM::LLVMStructType::getLiteral(b.getContext(), sumTypes);
  auto multiply = [&](Value stage, ValueRange begin) {
    Value all = LLVM::PoisonOp::create(b, sumType);
    for (auto [i, value] : llvm::enumerate(begin))
      all = LLVM::InsertValueOp::create(b, all, value, int64_t(i));
    // The warpgroup's 64 rows are one block deep where rows are beside each other.
    Value a = descriptor(left, stage,
                         left.isDepthInner ? at.times(warpgroup, ownRows)
                                           : at.times(warpgroup, width)),
          c = descriptor(right, stage, kernel.index(0));
    const auto type = element.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
    auto shape =
        NVVM::MMAShapeAttr::get(b.getContext(), int(ownRows), int(tileColumns), int(unitDepth));
    NVVM::WgmmaFenceAlignedOp::create(b);
    for (int64_t k = 0; k < slice; k += unitDepth) {
      auto step = [&](const Share &share) {
        return number(k * (share.isDepthInner ? 1 : width) * 2 / 16);
      };
      all = NVVM::WgmmaMmaAsyncOp::create(
          b, sumType, all, arith::AddIOp::create(b, a, step(left)),
          arith::AddIOp::create(b, c, step(right)), shape, type, type, NVVM::WGMMATypes::f32,
          NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          left.isDepthInner ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          right.isDepthInner ? NVVM::MMALayout::col : NVVM::MMALayout::row, nullptr);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
    SmallVector<Value> results;
    for (int64_t i = 0; i < sums; ++i)
      results.push_back(LLVM::ExtractValueOp::create(b, all, i));
    return results;
  };

  for (int64_t stage = 0; stage + 2 < stages; ++stage)
    fill(kernel.index(stage * slice), kernel.index(stage));
  auto loop = scf::ForOp::create(b, kernel.index(0), depth, kernel.index(slice), *accumulators);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    Value number = at.quotient(begin, slice);
    NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(stages - 3));
    // What this invocation has brought is seen by the units; then what all have brought.
    NVVM::FenceProxyOp::create(
        b, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    kernel.barrier();
    SmallVector<Value> results = multiply(at.remainder(number, stages), loop.getRegionIterArgs());
    // The stage before the last one is read no more: all waited for it before the barrier.
    fill(at.plus(begin, (stages - 2) * slice), at.remainder(at.plus(number, stages - 2), stages));
    NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
    scf::YieldOp::create(b, results);
  }
  NVVM::WgmmaWaitGroupSyncOp::create(b, 0);
  // Copies of slices behind the depth are zeros, but they are on their way.
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
  kernel.barrier();

  auto store = [&](int64_t n) {
    return storeProduct(op, product, positions, loop.getResult(unsigned(n)), kernel);
  };
  /// The sums go through workgroup memory, so that code which is long is there a few times only, and neighbours are read and
  /// written by neighbours.
  auto storeTogether = [&]() -> LogicalResult {
    static_assert(stages * slice * 2 >= tileRows * 4,
                  "the right operand's stages have room for all sums");
    auto placeOf = [&](Value row, Value column) {
      // Eight rows that are written at once are in different banks. In elements of 16 bits.
      Value exchanged = at.exclusiveOr(column, at.times(at.remainder(row, 8), 8));
      return kernel.sharedAddress(
          right.memory, at.times(at.plus(at.times(row, tileColumns), exchanged), 2), sharedSpace);
    };
    Value ownRow = at.minus(firstRow, left.first), ownColumn = at.minus(firstColumn, right.first);
    for (int64_t n = 0; n < sums; ++n)
      LLVM::StoreOp::create(
          b, loop.getResult(unsigned(n)),
          placeOf(at.plus(ownRow, n % 4 / 2 * 8), at.plus(ownColumn, n / 4 * 8 + n % 2)));
    kernel.barrier();
    constexpr int64_t together = 4;
    auto rows = scf::ForOp::create(b, thread, kernel.index(tileRows * tileColumns / together),
                                   kernel.index(invocations));
    b.setInsertionPointToStart(rows.getBody());
    Value row = at.quotient(rows.getInductionVar(), tileColumns / together),
          column = at.times(at.remainder(rows.getInductionVar(), tileColumns / together), together);
    Value resultRow = at.plus(left.first, row), resultColumn = at.plus(right.first, column);
    auto storeAt = [&](int64_t i) {
      positions[product.rows[0]] = resultRow;
      positions[product.columns[0]] = at.plus(resultColumn, i);
      Value sum = LLVM::LoadOp::create(b, b.getF32Type(), placeOf(row, at.plus(column, i)));
      return storeProduct(op, product, positions, sum, kernel);
    };
    Value isRow = at.isBelow(resultRow, left.extent);
    auto all = scf::IfOp::create(
        b, at.both(isRow, at.isBelow(at.plus(resultColumn, together - 1), right.extent)),
        /*withElseRegion=*/true);
    b.setInsertionPointToStart(all.thenBlock());
    for (int64_t i = 0; i < together; ++i)
      if (failed(storeAt(i)))
        return failure();
    b.setInsertionPointToStart(all.elseBlock());
    for (int64_t i = 0; i < together - 1; ++i) {
      auto inside =
          scf::IfOp::create(b, at.both(isRow, at.isBelow(at.plus(resultColumn, i), right.extent)));
      b.setInsertionPointToStart(inside.thenBlock());
      if (failed(storeAt(i)))
        return failure();
      b.setInsertionPointAfter(inside);
    }
    b.setInsertionPointAfter(rows);
    // Before the next tile's slices are copied there.
    kernel.barrier();
    return success();
  };
  auto storeInside = [&]() -> LogicalResult {
    for (int64_t n = 0; n < sums; ++n) {
      place(n);
      auto inside = scf::IfOp::create(b, isThere());
      b.setInsertionPointToStart(inside.thenBlock());
      if (failed(store(n)))
        return failure();
      b.setInsertionPointAfter(inside);
    }
    return success();
  };
  if (product.epilogue)
    return storeTogether();
  // Whole tiles do not ask for each element.
  Value isWhole = at.both(at.isBelow(at.plus(left.first, tileRows - 1), left.extent),
                          at.isBelow(at.plus(right.first, tileColumns - 1), right.extent));
  auto choice = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  for (int64_t n = 0; n < sums; ++n) {
    place(n);
    if (failed(store(n)))
      return failure();
  }
  b.setInsertionPointToStart(choice.elseBlock());
  if (failed(storeInside()))
    return failure();
  b.setInsertionPointAfter(choice);
  return success();
}
