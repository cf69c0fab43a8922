#include "ir/Gpu/DispatchWriter.h"
#include "ir/Gpu/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;
using Kind = Numbers::Kind;

// Products on the matrix units of NVIDIA's devices (mma.sync, from sm_80 on). A workgroup of eight subgroups computes a tile of 128
// by 128 (or 64 by 64), two rows and four columns of subgroups, each with 64 by 32 (32 by 16). Slices of both operands, 32 of the depth, go through three
// stages of workgroup memory: two are on their way while the units read the third. They lie there as in memory of the device,
// and are turned, where that is needed, on the way to registers (ldmatrix). Pieces of 16 bytes lie in an order in which
// eight rows of a matrix of eight by eight are in different banks.
//
// Which lane has which elements of a fragment: PTX ISA, "Matrix Fragments for mma.m16n8k16".

namespace {

constexpr int64_t slice = 32, stages = 3;
constexpr int64_t piece = 8; // elements of 16 bytes
constexpr int64_t invocations = 256;
constexpr unsigned globalSpace = 1, sharedSpace = 3;

/// Does the body add the product of two narrow floats, taken as f32, to the accumulator?
bool addsProduct(linalg::LinalgOp op, OpOperand *left, OpOperand *right) {
  auto sum = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum.getType().isF32())
    return false;
  BlockArgument accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Value term = sum.getLhs() == accumulator   ? sum.getRhs()
               : sum.getRhs() == accumulator ? sum.getLhs()
                                             : Value();
  auto product = term ? term.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!product)
    return false;
  auto isWidened = [](Value value, BlockArgument argument) {
    auto extend = value.getDefiningOp<arith::ExtFOp>();
    return extend && extend.getIn() == argument;
  };
  BlockArgument a = op.getMatchingBlockArgument(left), c = op.getMatchingBlockArgument(right);
  return (isWidened(product.getLhs(), a) && isWidened(product.getRhs(), c)) ||
         (isWidened(product.getLhs(), c) && isWidened(product.getRhs(), a));
}

/// Where element (row, column) of a stage is, rows of `width` elements.
Value swizzled(Positions &at, Value row, Value column, int64_t width) {
  Value chunk = at.quotient(column, piece);
  // Rows of 64 bytes repeat their banks every second row, longer ones in each.
  Value turn = width == slice ? at.remainder(at.quotient(row, 2), 4) : at.remainder(row, 8);
  return at.plus(at.plus(at.times(row, width), at.times(at.exclusiveOr(chunk, turn), piece)),
                 at.remainder(column, piece));
}

} // namespace

bool DispatchWriter::isForMatrixUnits(linalg::LinalgOp op, const Product &product) {
  if (!options.hasMatrixUnits || options.strict || op.getNumDpsInputs() != 2 ||
      product.rows.size() != 1 || product.columns.size() != 1 || product.depth.size() != 1)
    return false;
  Type left = views.find(product.left->get())->element,
       right = views.find(product.right->get())->element;
  return left == right && (left.isF16() || left.isBF16()) &&
         views.find(op.getDpsInits()[0])->element.isF32() &&
         addsProduct(op, product.left, product.right);
}

Number DispatchWriter::misalignment(const View &view, unsigned inner) {
  // A sum of what is left of each: zero if nothing is.
  auto rest = [&](Number number) {
    return numbers.apply(Kind::Remainder, number, numbers.constant(piece));
  };
  Number sum = rest(view.offset);
  for (unsigned i = 0; i < view.sizes.size(); ++i)
    sum = numbers.apply(Kind::Add, sum, rest(i == inner ? view.sizes[i] : view.strides[i]));
  return sum;
}

Value DispatchWriter::isAtPiece(const View &view, KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  SmallVector<Value> begin(view.sizes.size(), kernel.index(0));
  Value address =
      LLVM::PtrToIntOp::create(b, b.getI64Type(), kernel.address(view, begin, globalSpace));
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)).getResult();
  };
  Value rest = arith::AndIOp::create(b, address, number(15));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, number(0));
}

MatrixOperand DispatchWriter::matrixOperand(linalg::LinalgOp op, const Loops &loops,
                                            const Product &product, OpOperand *operand, Value tile,
                                            int64_t side, int64_t stagesElements,
                                            KernelWriter &kernel) {
  Positions of(kernel);
  MatrixOperand result;
  result.view = views.find(operand->get());
  result.map = op.getMatchingIndexingMap(operand);
  result.across = operand == product.left ? product.rows[0] : product.columns[0];
  result.side = side;
  const unsigned inner = result.map.getNumResults() - 1, last = result.map.getDimPosition(inner);
  result.isDepthInner = last == product.depth[0];
  result.memory = kernel.workgroupMemory(result.view->element, stagesElements);
  result.first = of.times(tile, side);
  result.extent = kernel.word(loops.sizes[result.across]);
  if ((result.isDepthInner || last == result.across) &&
      numbers.isConstant(result.view->strides[inner], 1))
    result.isAligned =
        of.both(of.isEqual(kernel.word(misalignment(*result.view, inner)), kernel.index(0)),
                isAtPiece(*result.view, kernel));
  return result;
}

void DispatchWriter::copySlice(const MatrixOperand &operand, Value begin, int64_t slice,
                               Value depth,
                               llvm::function_ref<SmallVector<Value>(Value, Value)> indices,
                               llvm::function_ref<Value(Value, Value)> place,
                               llvm::function_ref<void()> copyPieces, KernelWriter &kernel) {
  ImplicitLocOpBuilder &b = kernel.builder();
  Positions of(kernel);
  auto copyElements = [&] {
    auto loop = scf::ForOp::create(b, kernel.threadId(), kernel.index(operand.side * slice),
                                   kernel.index(invocations));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    const int64_t width = operand.isDepthInner ? slice : operand.side;
    Value row = of.quotient(loop.getInductionVar(), width),
          column = of.remainder(loop.getInductionVar(), width);
    Value a = of.plus(operand.first, operand.isDepthInner ? row : column),
          k = of.plus(begin, operand.isDepthInner ? column : row);
    Value value = kernel.valueIf(of.both(of.isBelow(a, operand.extent), of.isBelow(k, depth)),
                                 operand.view->element,
                                 [&] { return kernel.load(*operand.view, indices(a, k)); });
    kernel.storeShared(value, operand.memory, place(row, column));
  };
  if (!operand.isAligned)
    return copyElements();
  auto choice = scf::IfOp::create(b, operand.isAligned, /*withElseRegion=*/true);
  b.setInsertionPointToStart(choice.thenBlock());
  copyPieces();
  b.setInsertionPointToStart(choice.elseBlock());
  copyElements();
  b.setInsertionPointAfter(choice);
}

LogicalResult DispatchWriter::writeMatrixTile(linalg::LinalgOp op, const Loops &loops,
                                              const Product &product, int64_t side, Value position,
                                              KernelWriter &kernel) {
  const int64_t stageElements = side * slice;
  const int64_t warpRows = side / 2, warpColumns = side / 4;             // of a subgroup
  const int64_t rowTiles = warpRows / 16, columnTiles = warpColumns / 8; // fragments of results
  Positions tiles(kernel);
  ImplicitLocOpBuilder &b = kernel.builder();
  const Number rowCount = loops.sizes[product.rows[0]],
               columnCount = loops.sizes[product.columns[0]],
               depthCount = loops.sizes[product.depth[0]];
  auto tilesIn = [&](Number count) {
    return numbers.apply(Kind::CeilDivide, count, numbers.constant(side));
  };
  SmallVector<Value> at =
      kernel.delinearize(position, {numbers.product(loops.sizesOf(product.batch)),
                                    tilesIn(rowCount), tilesIn(columnCount)});
  SmallVector<Value> positions(loops.sizes.size(), kernel.index(0));
  for (auto [loop, value] :
       llvm::zip_equal(product.batch, kernel.delinearize(at[0], loops.sizesOf(product.batch))))
    positions[loop] = value;

  Type element = views.find(product.left->get())->element;
  auto share = [&](OpOperand *operand, Value number) {
    return matrixOperand(op, loops, product, operand, number, side, stages * stageElements, kernel);
  };
  MatrixOperand left = share(product.left, at[1]), right = share(product.right, at[2]);
  Value depth = kernel.word(depthCount);
  Value thread = kernel.threadId();

  // The elements of an operand at (across, k), and a piece of them.
  auto indices = [&](const MatrixOperand &share, Value across, Value k) {
    SmallVector<Value> own = positions;
    own[share.across] = across;
    own[product.depth[0]] = k;
    return indicesOf(share.map, own, kernel);
  };
  auto i32 = [&](int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(value)))
        .getResult();
  };
  /// Starts to copy the slice that begins at `begin` to a stage. What is outside of the operand is zero.
  auto copy = [&](const MatrixOperand &share, Value begin, Value stage) {
    const int64_t width = share.isDepthInner ? slice : side;
    Value base = tiles.times(stage, stageElements);
    auto copyPieces = [&] {
      for (int64_t i = 0; i < stageElements / piece / invocations; ++i) {
        Value number = tiles.plus(thread, kernel.index(i * invocations));
        Value row = tiles.quotient(number, width / piece),
              column = tiles.times(tiles.remainder(number, width / piece), piece);
        Value a = tiles.plus(share.first, share.isDepthInner ? row : column),
              k = tiles.plus(begin, share.isDepthInner ? column : row);
        Value isInside = tiles.both(tiles.isBelow(a, share.extent), tiles.isBelow(k, depth));
        Value bytes = tiles.choose(isInside, i32(16), i32(0));
        Value zero = kernel.index(0);
        Value source = kernel.address(
            *share.view,
            indices(share, tiles.choose(isInside, a, zero), tiles.choose(isInside, k, zero)),
            globalSpace);
        Value target = kernel.sharedAddress(
            share.memory, tiles.plus(base, swizzled(tiles, row, column, width)), sharedSpace);
        NVVM::CpAsyncOp::create(b, target, source, 16, NVVM::LoadCacheModifierKind::CG, bytes);
      }
    };
    copySlice(
        share, begin, slice, depth, [&](Value a, Value k) { return indices(share, a, k); },
        [&](Value row, Value column) {
          return tiles.plus(base, swizzled(tiles, row, column, width));
        },
        copyPieces, kernel);
  };
  auto fill = [&](Value begin, Value stage) {
    copy(left, begin, stage);
    copy(right, begin, stage);
  };

  Value lane = tiles.remainder(thread, 32), warp = tiles.quotient(thread, 32);
  Value warpRow = tiles.times(tiles.quotient(warp, 4), warpRows),
        warpColumn = tiles.times(tiles.remainder(warp, 4), warpColumns);
  Value group = tiles.quotient(lane, 4), pair = tiles.times(tiles.remainder(lane, 4), 2);

  /// Row and column of accumulator `part` of fragment (i, j).
  auto place = [&](int64_t i, int64_t j, int64_t part) {
    Value row = tiles.plus(tiles.plus(left.first, tiles.plus(warpRow, group)),
                           kernel.index(i * 16 + part / 2 * 8));
    Value column = tiles.plus(tiles.plus(right.first, tiles.plus(warpColumn, pair)),
                              kernel.index(j * 8 + part % 2));
    positions[product.rows[0]] = row;
    positions[product.columns[0]] = column;
    return tiles.both(tiles.isBelow(row, kernel.word(rowCount)),
                      tiles.isBelow(column, kernel.word(columnCount)));
  };

  FailureOr<SmallVector<Value>> accumulators = beginningsOfTile(
      op, rowTiles * columnTiles * 4, positions,
      [&](int64_t n) { return place(n / 4 / columnTiles, n / 4 % columnTiles, n % 4); }, kernel);
  if (failed(accumulators))
    return failure();

  /// Four matrices of eight by eight, at rows or columns `across` and depth `k` of a stage: of the left operand two rows and two
  /// columns of matrices, rows first; of the right one, which is turned, the other way round.
  auto loadFragment = [&](const MatrixOperand &share, Value stage, Value across, int64_t k,
                          bool isLeft) {
    Value matrix = tiles.quotient(lane, 8), own = tiles.remainder(lane, 8);
    Value low = tiles.times(tiles.remainder(matrix, 2), 8),
          high = tiles.times(tiles.quotient(matrix, 2), 8);
    Value acrossStep = isLeft ? low : high, depthStep = isLeft ? high : low;
    Value address;
    if (share.isDepthInner)
      address = swizzled(tiles, tiles.plus(tiles.plus(across, acrossStep), own),
                         tiles.plus(kernel.index(k), depthStep), slice);
    else
      address = swizzled(tiles, tiles.plus(tiles.plus(kernel.index(k), depthStep), own),
                         tiles.plus(across, acrossStep), side);
    Value pointer = kernel.sharedAddress(
        share.memory, tiles.plus(tiles.times(stage, stageElements), address), sharedSpace);
    auto type =
        LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
    Value loaded = NVVM::LdMatrixOp::create(
        b, type, pointer, 4, share.isDepthInner ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> registers;
    for (int64_t i = 0; i < 4; ++i) {
      Value word = LLVM::ExtractValueOp::create(b, loaded, i);
      if (element.isF16())
        word = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), word);
      registers.push_back(word);
    }
    return registers;
  };
  auto sumType =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  std::optional<std::array<NVVM::MMATypes, 2>> types;
  if (element.isBF16())
    types = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  auto multiply = [&](Value stage, SmallVectorImpl<Value> &sums) {
    for (int64_t k = 0; k < slice; k += 16) {
      SmallVector<SmallVector<Value>> rows, columns;
      for (int64_t i = 0; i < rowTiles; ++i)
        rows.push_back(
            loadFragment(left, stage, tiles.plus(warpRow, kernel.index(i * 16)), k, true));
      for (int64_t j = 0; j < columnTiles; j += 2) {
        SmallVector<Value> two =
            loadFragment(right, stage, tiles.plus(warpColumn, kernel.index(j * 8)), k, false);
        columns.push_back({two[0], two[1]});
        columns.push_back({two[2], two[3]});
      }
      for (int64_t i = 0; i < rowTiles; ++i)
        for (int64_t j = 0; j < columnTiles; ++j) {
          MutableArrayRef<Value> own =
              MutableArrayRef<Value>(sums).slice(size_t(i * columnTiles + j) * 4, 4);
          Value made = NVVM::MmaOp::create(
              b, sumType, ValueRange(rows[size_t(i)]), ValueRange(columns[size_t(j)]),
              ValueRange(SmallVector<Value>(own)), ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
              std::nullopt, types,
              std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
          for (auto [part, value] : llvm::enumerate(own))
            value = LLVM::ExtractValueOp::create(b, made, int64_t(part));
        }
    }
  };

  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    fill(kernel.index(stage * slice), kernel.index(stage));
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  auto loop = scf::ForOp::create(b, kernel.index(0), depth, kernel.index(slice), *accumulators);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    Value number = tiles.quotient(begin, slice);
    NVVM::CpAsyncWaitGroupOp::create(b, stages - 2);
    // The stage is there for all, and nobody reads the one before it any more.
    kernel.barrier();
    fill(tiles.plus(begin, kernel.index((stages - 1) * slice)),
         tiles.remainder(tiles.plus(number, kernel.index(stages - 1)), stages));
    NVVM::CpAsyncCommitGroupOp::create(b);
    SmallVector<Value> sums(loop.getRegionIterArgs());
    multiply(tiles.remainder(number, stages), sums);
    scf::YieldOp::create(b, sums);
  }
  // Copies of slices behind the depth are zeros, but they are on their way.
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
  kernel.barrier();

  for (int64_t n = 0; n < rowTiles * columnTiles * 4; ++n) {
    Value isThere = place(n / 4 / columnTiles, n / 4 % columnTiles, n % 4);
    auto inside = scf::IfOp::create(b, isThere);
    b.setInsertionPointToStart(inside.thenBlock());
    if (failed(storeProduct(op, product, positions, loop.getResult(unsigned(n)), kernel)))
      return failure();
    b.setInsertionPointAfter(inside);
  }
  return success();
}
