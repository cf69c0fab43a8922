#include "ir/Analysis/Arrangement.h"
#include "ir/Analysis/Products.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Codegen/ShortRows.h"
#include "ir/Codegen/Strategy.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVECTORIZEELEMENTWISE
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Operations of a body that is worth a mask: what a mask costs is less than the body once more.
constexpr int64_t operationsWorthMask = 8;
/// The fewest bytes of a row that is copied as a whole: by two vectors in a row, more of them, or a
/// call, as LLVM sees fit.
constexpr int64_t leastCopiedBytes = 128;
/// The fewest bytes of a row that are written past the caches: what is in front of the first line,
/// and behind the last, costs more.
constexpr int64_t leastStreamedBytes = 1024;

/// Does an op on buffers read none?
bool isFill(linalg::LinalgOp op) {
  return llvm::none_of(op.getDpsInputs(),
                       [](Value input) { return isa<MemRefType>(input.getType()); });
}

/// An op on buffers that makes elements from elements.
class ElementwiseRows {
public:
  static std::optional<ElementwiseRows> of(linalg::GenericOp generic, const Host &host,
                                           bool mayBeShort) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    std::optional<RowVectors> rows =
        RowVectors::of(op, host, mayBeShort ? 2 : RowVectors::leastElements);
    // Each iteration writes elements of its own, and reads none that others write. (An operand may
    // be in the place of the result.)
    if (!rows || !llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
          return op.getMatchingIndexingMap(&init).isPermutation();
        }))
      return std::nullopt;
    // LLVM takes several short rows together.
    const int64_t length = op.getStaticLoopRanges()[rows->loop];
    if (!mayBeShort && !ShapedType::isDynamic(length) && 2 * length < rows->lanes)
      return std::nullopt;
    return ElementwiseRows(*rows);
  }

  /// Replaces the op. `pastCaches` is the operand whose lines need not stay in the caches, or null.
  void vectorize(IRRewriter &rewriter, OpOperand *pastCaches) {
    streamed = pastCaches;
    // Iterations depend on nothing: of many operations a few vectors fill the processor, and are
    // less to compile.
    if (isLong(op))
      rows.width = std::min(rows.width, 2 * rows.lanes);
    rows.replaceByRows(rewriter, [&](OpBuilder &b, ValueRange outer, ValueRange) {
      row(b, outer);
      return scf::ValueVector();
    });
  }

  /// Is it the processor that it waits for, not memory?
  static bool isLong(linalg::LinalgOp op) {
    return llvm::range_size(*op.getBlock()) > operationsWorthMask;
  }

private:
  explicit ElementwiseRows(const RowVectors &rows) : rows(rows), op(rows.op) {}

  void row(OpBuilder &b, ValueRange outer) {
    rows.loadInFront(b, outer);
    auto along = [&](Value from, Value to, int64_t most, int64_t size, bool isMasked,
                     bool isAligned) {
      SmallVector<Value> carried;
      rows.buildLoop(b, outer, from, to, most, size, isMasked, carried,
                     [&](OpBuilder &body, ValueRange indices, int64_t, Value mask, ValueRange) {
                       iteration(body, indices, size, mask, isAligned);
                       return SmallVector<Value>();
                     });
    };
    auto alongRest = [&](Value from, Value to, int64_t most) {
      if (rows.hasMasks)
        return along(from, to, most, rows.lanes, /*isMasked=*/true, /*isAligned=*/false);
      along(from, to, most, 0, /*isMasked=*/false, /*isAligned=*/false);
    };
    Value start = rows.number(b, 0);
    if (streamed) {
      Value line = startOfLine(b, outer);
      alongRest(start, line, cacheLineBytes / elementBytes(getElementTypeOrSelf(streamed->get())));
      start = line;
    }
    Value end = rows.endOfParts(b, start, rows.width);
    along(start, end, 0, rows.width, /*isMasked=*/false, /*isAligned=*/streamed != nullptr);
    const std::optional<int64_t> length = getConstantIntValue(rows.end);
    if (length && !streamed &&
        !(rows.hasMasks && isLong(op) && llvm::popcount(uint64_t(*length % rows.lanes)) > 1)) {
      // The rest is known: each half of what is left of it, down to single elements.
      for (int64_t size = rows.lanes; size >= 1; size /= 2) {
        Value next = rows.endOfParts(b, start, size);
        along(end, next, 0, size == 1 ? 0 : size, /*isMasked=*/false, /*isAligned=*/false);
        end = next;
      }
      return;
    }
    if (!rows.hasMasks) {
      Value next = rows.endOfParts(b, start, rows.lanes);
      along(end, next, rows.width - rows.lanes, rows.lanes, /*isMasked=*/false,
            /*isAligned=*/false);
      end = next;
    }
    alongRest(end, rows.end, rows.hasMasks ? rows.width - 1 : rows.lanes - 1);
  }

  /// The first element of the row that a line of the caches begins with, or the end of the row.
  Value startOfLine(OpBuilder &builder, ValueRange outer) {
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    auto number = [&](int64_t value) { return rows.number(b, value); };
    const int64_t bytes = elementBytes(getElementTypeOrSelf(streamed->get()));
    auto metadata = memref::ExtractStridedMetadataOp::create(b, streamed->get());
    Value element = metadata.getOffset();
    for (auto [index, stride] :
         llvm::zip(rows.positionInRow(b, *streamed, outer), metadata.getStrides()))
      element = arith::AddIOp::create(b, element, arith::MulIOp::create(b, index, stride));
    Value address =
        arith::AddIOp::create(b, memref::ExtractAlignedPointerAsIndexOp::create(b, streamed->get()),
                              arith::MulIOp::create(b, element, number(bytes)));
    // Elements are aligned to their size: buffers that are not are refused.
    Value toLine = arith::AndIOp::create(b, arith::SubIOp::create(b, number(0), address),
                                         number(cacheLineBytes - 1));
    return arith::MinUIOp::create(b, arith::DivUIOp::create(b, toLine, number(bytes)), rows.end);
  }

  void iteration(OpBuilder &b, ValueRange indices, int64_t size, Value mask, bool isAligned) {
    const Location at = op.getLoc();
    IRMapping values =
        rows.buildBody(b, indices, size, mask, ValueRange(), [](Operation *) { return false; });
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value value = values.lookupOrDefault(op.getMatchingYieldValue(&init)->get());
      const SmallVector<Value> place = rows.position(b, init, indices);
      if (size == 0) {
        memref::StoreOp::create(b, at, value, init.get(), place);
        continue;
      }
      value = rows.widen(b, value, size);
      if (isAligned && &init == streamed) {
        auto store = vector::StoreOp::create(b, at, value, init.get(), place, /*nontemporal=*/true);
        store.setAlignment(
            std::min(cacheLineBytes, size * elementBytes(getElementTypeOrSelf(init.get()))));
        continue;
      }
      vector::TransferWriteOp::create(b, at, value, init.get(), place, innermostOf(b, place.size()),
                                      mask, b.getBoolArrayAttr({true}));
    }
  }

  RowVectors rows;
  linalg::LinalgOp op;
  OpOperand *streamed = nullptr;
};

/// An op that makes each element of several that lie side by side: their bits behind each other, of
/// which it may flip some.
class GroupRows {
public:
  static std::optional<GroupRows> of(linalg::GenericOp generic, const Host &host) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    const int64_t size = op.getNumDpsInputs();
    if (op.getNumLoops() == 0 || size < 2 || !llvm::all_equal(op.getDpsInputs()))
      return std::nullopt;
    GroupRows groups(op);
    Value value = op.getBlock()->getTerminator()->getOperand(0);
    if (auto flip = value.getDefiningOp<arith::XOrIOp>();
        flip && matchPattern(flip.getRhs(), m_ConstantInt(&groups.flipped)))
      value = flip.getLhs();
    if (!llvm::equal(inputsSideBySide(op, value), llvm::seq<int>(0, int(size))))
      return std::nullopt;
    OpOperand &source = *op.getDpsInputOperand(0), &target = *op.getDpsInitOperand(0);
    auto read = dyn_cast<MemRefType>(source.get().getType()),
         written = cast<MemRefType>(target.get().getType());
    const AffineMap map = op.getMatchingIndexingMap(&target);
    if (!read || !fillsItsBytes(read.getElementType()) ||
        !fillsItsBytes(written.getElementType()) || !written.getElementType().isInteger() ||
        read.getElementTypeBitWidth() * size != written.getElementTypeBitWidth() ||
        !map.isPermutation() || !isContiguousAlong(map, groups.rows.loop) ||
        !written.areTrailingDimsContiguous(1) || !read.areTrailingDimsContiguous(1))
      return std::nullopt;
    for (auto [position, input] : llvm::enumerate(op.getDpsInputOperands()))
      if (!groups.isElement(op.getMatchingIndexingMap(input), int64_t(position)))
        return std::nullopt;
    groups.rows.lanes = host.vectorBits / written.getElementTypeBitWidth();
    return groups.rows.lanes >= 1 ? std::optional(groups) : std::nullopt;
  }

  void vectorize(IRRewriter &rewriter) {
    rows.replaceByRows(rewriter, [&](OpBuilder &b, ValueRange outer, ValueRange) {
      // Vectors, then each half of what is left, where that is known, or single groups.
      const bool isKnown = getConstantIntValue(rows.end).has_value();
      Value done = rows.number(b, 0);
      for (int64_t width = rows.lanes; width >= 1; width = isKnown     ? width / 2
                                                           : width > 1 ? 1
                                                                       : 0) {
        Value end = rows.endOfParts(b, done, width);
        SmallVector<Value> carried;
        rows.buildLoop(b, outer, done, end, 0, width, /*isMasked=*/false, carried,
                       [&](OpBuilder &body, ValueRange indices, int64_t, Value, ValueRange) {
                         iteration(body, indices, width);
                         return SmallVector<Value>();
                       });
        done = end;
      }
      return scf::ValueVector();
    });
  }

private:
  explicit GroupRows(linalg::LinalgOp op) : rows(op), op(op) {}

  /// Is this where the element of that number in each group is?
  bool isElement(AffineMap map, int64_t number) {
    const AffineMap first = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    const AffineExpr index = map.getResults().back(),
                     along = getAffineDimExpr(rows.loop, op.getContext());
    auto isBy = [&](AffineExpr expression, AffineExpr from, int64_t distance) {
      return simplifyAffineExpr(expression - from, map.getNumDims(), 0) ==
             getAffineConstantExpr(distance, op.getContext());
    };
    return map.getResults().drop_back() == first.getResults().drop_back() &&
           llvm::none_of(map.getResults().drop_back(),
                         [&](AffineExpr each) { return each.isFunctionOfDim(rows.loop); }) &&
           isBy(index, first.getResults().back(), number) &&
           isBy(index.replace(along, along + 1), index, op.getNumDpsInputs());
  }

  void iteration(OpBuilder &builder, ValueRange indices, int64_t width) {
    ImplicitLocOpBuilder b(op.getLoc(), builder);
    OpOperand &source = *op.getDpsInputOperand(0), &target = *op.getDpsInitOperand(0);
    const Type element = getElementTypeOrSelf(source.get());
    const auto type = VectorType::get(width, getElementTypeOrSelf(target.get()));
    const SmallVector<Value> from = rows.position(b, source, indices),
                             to = rows.position(b, target, indices);
    Value padding = arith::ConstantOp::create(b, b.getZeroAttr(element));
    Value value = vector::TransferReadOp::create(
        b, VectorType::get(width * op.getNumDpsInputs(), element), source.get(), from,
        innermostOf(b, from.size()), padding, Value(), b.getBoolArrayAttr({true}));
    value = vector::BitCastOp::create(b, type, value);
    if (!flipped.isZero())
      value = arith::XOrIOp::create(
          b, value, arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, flipped)));
    vector::TransferWriteOp::create(b, value, target.get(), to, innermostOf(b, to.size()), Value(),
                                    b.getBoolArrayAttr({true}));
  }

  RowVectors rows;
  linalg::LinalgOp op;
  APInt flipped = APInt::getZero(32);
};

/// Takes loops together that all operands have one after the other in memory, up to the innermost
/// one: rows become long.
linalg::GenericOp collapseRows(IRRewriter &rewriter, linalg::GenericOp generic) {
  auto op = cast<linalg::LinalgOp>(generic.getOperation());
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // Indices would be divided, and upstream ends the process at other maps.
  if (op.hasIndexSemantics() ||
      !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return generic;
  const unsigned loops = op.getNumLoops();
  auto last = [&](unsigned count) {
    return llvm::to_vector_of<int64_t>(llvm::seq(loops - count, loops));
  };
  auto mayTakeTogether = [&](unsigned count) {
    return linalg::areDimSequencesPreserved(maps, ReassociationIndices(last(count))) &&
           llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
             const AffineMap map = op.getMatchingIndexingMap(&operand);
             auto buffer = dyn_cast<MemRefType>(operand.get().getType());
             return !map.isFunctionOfDim(loops - 1) ||
                    (buffer && isContiguousAlong(map, loops - 1) &&
                     buffer.areTrailingDimsContiguous(count));
           });
  };
  unsigned count = 1;
  while (count < loops && mayTakeTogether(count + 1))
    ++count;
  if (count == 1)
    return generic;
  rewriter.setInsertionPoint(generic);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, ReassociationIndices(last(count)), rewriter);
  if (failed(collapsed))
    return generic;
  rewriter.eraseOp(generic);
  return cast<linalg::GenericOp>(collapsed->collapsedOp.getOperation());
}

struct VectorizeElementwise : plim::ir::impl::PlimVectorizeElementwiseBase<VectorizeElementwise> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // An op that a kernel's author wrote on buffers may read what it has written.
    if (!function->hasAttr(dispatchFunctionAttr) || function->hasAttr(mayAliasAttr))
      return;
    const Host host = hostOf(function);
    if (host.vectorBits == 0)
      return;
    IRRewriter rewriter(&getContext());
    generalize(rewriter);
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0 && op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    // What is beside a product, which has vectors already, is not worth LLVM's vectoriser.
    const bool hasVectors =
        function
            .walk([](Operation *op) {
              return llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            })
            .wasInterrupted();
    // Stores past the caches hold up those behind them, which computing in between does not hide:
    // of what is next to a sum of a row, and of many operations.
    const bool mayStream = !function
                                .walk([](scf::ForOp loop) {
                                  return loop.getNumRegionIterArgs() > 0 ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
                                })
                                .wasInterrupted();
    int64_t bytes = 0; // of results that are written past the caches
    for (linalg::GenericOp op : ops) {
      if (std::optional<GroupRows> groups = GroupRows::of(op, host)) {
        groups->vectorize(rewriter);
        ++vectorized;
        continue;
      }
      op = collapseRows(rewriter, op);
      if (std::optional<ShortRows> rows =
              hasVectors ? std::nullopt
                         : ShortRows::of(cast<linalg::LinalgOp>(op.getOperation()), host)) {
        rows->vectorize(rewriter);
        ++vectorized;
        continue;
      }
      std::optional<ElementwiseRows> rows =
          ElementwiseRows::of(op, host, /*mayBeShort=*/hasVectors);
      if (!rows) {
        ++missed;
        continue;
      }
      OpOperand *result =
          mayStream && !ElementwiseRows::isLong(op) ? largeResult(op, host) : nullptr;
      if (result)
        bytes = std::max(bytes, bytesOfArgument(result->get()));
      rows->vectorize(rewriter, result);
      ++vectorized;
    }
    if (bytes == 0)
      return;
    ++streamed;
    recordStrategy(
        function,
        StoresAttr::get(&getContext(),
                        (Twine(bytes) + " bytes are more than the last cache keeps").str()));
  }

  /// Fills, and copies of short rows that are not dense, become ops like others. (Dense copies are
  /// calls.)
  void generalize(IRRewriter &rewriter) {
    SmallVector<linalg::LinalgOp> ops;
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](Operation *op) {
      if (auto fill = dyn_cast<linalg::FillOp>(op); fill && fill.hasPureBufferSemantics())
        ops.push_back(fill);
      else if (auto copy = dyn_cast<memref::CopyOp>(op))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies) {
      auto isDense = [](Value buffer) {
        return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
      };
      if (copy.getSource() == copy.getTarget() ||
          (isDense(copy.getSource()) && isDense(copy.getTarget())) || copyByRows(rewriter, copy))
        continue;
      rewriter.setInsertionPoint(copy);
      ops.push_back(
          rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(), copy.getTarget()));
    }
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }

  /// Makes a copy of long rows one of each row, which are straight code or calls: the C library
  /// aligns its stores. So does one of rows of a length that only the call knows, as LLVM would.
  /// False if they are short, or not dense.
  static bool copyByRows(IRRewriter &rewriter, memref::CopyOp copy) {
    auto source = cast<MemRefType>(copy.getSource().getType()),
         target = cast<MemRefType>(copy.getTarget().getType());
    const ArrayRef<int64_t> shape = source.getShape();
    const int64_t rank = source.getRank();
    int64_t inner = 0, bytes = elementBytes(source.getElementType());
    while (inner < rank && source.areTrailingDimsContiguous(inner + 1) &&
           target.areTrailingDimsContiguous(inner + 1)) {
      const std::optional<int64_t> more = ShapedType::isDynamic(shape[rank - inner - 1])
                                              ? std::nullopt
                                              : plim::checkedMul(bytes, shape[rank - inner - 1]);
      if (!more)
        break;
      bytes = *more;
      ++inner;
    }
    const bool isUnknown = inner == 0 && rank > 0 && ShapedType::isDynamic(shape.back()) &&
                           source.areTrailingDimsContiguous(1) &&
                           target.areTrailingDimsContiguous(1);
    if (isUnknown)
      inner = 1;
    else if (inner == 0 || bytes < leastCopiedBytes)
      return false;
    rewriter.setInsertionPoint(copy);
    const Location loc = copy.getLoc();
    const SmallVector<OpFoldResult> extents =
        memref::getMixedSizes(rewriter, loc, copy.getSource());
    SmallVector<Value> from, to, steps;
    for (int64_t d = 0; d < rank - inner; ++d) {
      from.push_back(arith::ConstantIndexOp::create(rewriter, loc, 0));
      to.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, extents[size_t(d)]));
      steps.push_back(arith::ConstantIndexOp::create(rewriter, loc, 1));
    }
    scf::buildLoopNest(rewriter, loc, from, to, steps, [&](OpBuilder &b, Location, ValueRange row) {
      auto rowOf = [&](Value buffer) -> Value {
        SmallVector<OpFoldResult> offsets = getAsOpFoldResult(row), sizes, strides;
        offsets.resize(size_t(rank), b.getIndexAttr(0));
        for (int64_t d = 0; d < rank; ++d) {
          sizes.push_back(d < rank - inner ? b.getIndexAttr(1) : extents[size_t(d)]);
          strides.push_back(b.getIndexAttr(1));
        }
        const MemRefType type = memref::SubViewOp::inferRankReducedResultType(
            shape.take_back(inner), cast<MemRefType>(buffer.getType()), offsets, sizes, strides);
        return memref::SubViewOp::create(b, loc, type, buffer, offsets, sizes, strides);
      };
      memref::CopyOp::create(b, loc, rowOf(copy.getSource()), rowOf(copy.getTarget()));
    });
    rewriter.eraseOp(copy);
    return true;
  }

  /// Does the dispatch read, too, what is in the buffer or in views of it? One that begins sums
  /// with zeros does.
  static bool isRead(Value buffer) {
    return llvm::any_of(buffer.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<ViewLikeOpInterface>(user))
        return isRead(user->getResult(0));
      if (auto op = dyn_cast<linalg::LinalgOp>(user))
        return !op.isDpsInit(&use) || op.payloadUsesValueFromOperand(&use);
      if (auto copy = dyn_cast<memref::CopyOp>(user))
        return use.get() != copy.getTarget();
      return !isa<memref::DimOp, memref::ExtractStridedMetadataOp,
                  memref::ExtractAlignedPointerAsIndexOp, memref::StoreOp, vector::StoreOp,
                  vector::TransferWriteOp>(user);
    });
  }

  /// Bytes of an argument of the dispatch of which the buffer is a view, if it is only written; 0
  /// for others, or where they are not known.
  static int64_t bytesOfArgument(Value buffer) {
    while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
      buffer = view.getViewSource();
    auto argument = dyn_cast<BlockArgument>(buffer);
    auto function =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    if (!function)
      return 0;
    auto access = function.getArgAttrOfType<AccessAttr>(argument.getArgNumber(), accessAttr);
    auto bytes = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), bytesAttr);
    return access && access.getValue() == Access::WriteOnly && bytes && !isRead(argument)
               ? bytes.getInt()
               : 0;
  }

  /// A result that the caches could not keep until somebody reads it: its lines are written past
  /// them, and not read before. X86 has no such stores of halves. Fills gain nothing by it, and are
  /// often written again: a border around an image.
  static OpOperand *largeResult(linalg::LinalgOp op, const Host &host) {
    if (host.lastLevelBytes == 0 || op.getNumDpsInits() != 1 || isFill(op))
      return nullptr;
    OpOperand *init = op.getDpsInitOperand(0);
    const Type element = getElementTypeOrSelf(init->get());
    const bool isHalf = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
    const int64_t length = op.getStaticLoopRanges().back();
    const bool isShort =
        !ShapedType::isDynamic(length) && length * elementBytes(element) < leastStreamedBytes;
    return !isHalf && !isShort && !op.payloadUsesValueFromOperand(init) &&
                   bytesOfArgument(init->get()) > host.lastLevelBytes / 2
               ? init
               : nullptr;
  }
};

} // namespace
