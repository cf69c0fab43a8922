#include "ir/Codegen/TiledOps.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ValueBounds.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Do constraints of ops say that a dimension of `tensor` is `size`?
bool hasExtent(Value tensor, int64_t dimension, OpFoldResult size) {
  FailureOr<bool> isEqual =
      ValueBoundsConstraintSet::areEqual(ValueBoundsConstraintSet::Variable(tensor, dimension),
                                         ValueBoundsConstraintSet::Variable(size));
  return succeeded(isEqual) && *isEqual;
}

/// Is a dimension of `tensor` known to be `size`? What a loop carries is, if what goes in is and what each iteration yields.
bool isExtent(Value tensor, int64_t dimension, OpFoldResult size) {
  while (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      break;
    Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
    if (yielded != argument && !hasExtent(yielded, dimension, size))
      break;
    tensor = init->get();
  }
  return hasExtent(tensor, dimension, size);
}

/// A slice that is put in the place of all of a tensor is what the tensor then is, and all of a tensor, taken as a slice, is
/// the tensor. Upstream folds both where the shape is static. Otherwise only one may be folded, which leaves bufferization with a
/// copy, or with a loop that carries a tensor and yields the slice: it then knows no stride of the loop's buffer, not even that
/// between columns.
template <typename SliceT> struct SliceOfWhole : OpRewritePattern<SliceT> {
  using OpRewritePattern<SliceT>::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceT op, PatternRewriter &rewriter) const override {
    Value whole;
    if constexpr (std::is_same_v<SliceT, tensor::InsertSliceOp>)
      whole = op.getDest();
    else
      whole = op.getSource();
    auto type = cast<RankedTensorType>(whole.getType());
    if (op.getSourceType() != op.getType() || !op.hasUnitStride() || !op.hasZeroOffset())
      return failure();
    for (auto [dimension, size] : llvm::enumerate(op.getMixedSizes()))
      if (type.isDynamicDim(dimension) && !isExtent(whole, int64_t(dimension), size))
        return failure();
    rewriter.replaceOp(op, op.getSource());
    return success();
  }
};

} // namespace

LogicalResult plim::ir::simplifyTiles(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineMinOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  context->getOrLoadDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  // Casts to sizes that are known go into all ops with destinations.
  context->getOrLoadDialect<tensor::TensorDialect>()->getCanonicalizationPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  patterns.add<SliceOfWhole<tensor::ExtractSliceOp>, SliceOfWhole<tensor::InsertSliceOp>>(context);
  return applySoundPatterns(function, std::move(patterns));
}

/// Does the op give each element of its destination a value that does not depend on what was there?
static bool isInitializer(linalg::LinalgOp op) {
  return op && op->getNumResults() == 1 && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

void plim::ir::fuseInitializer(RewriterBase &rewriter, linalg::LinalgOp tiled,
                               MutableArrayRef<LoopLikeOpInterface> loops) {
  auto slice = tiled.getDpsInits()[0].getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return;
  Value source = slice.getSource();
  OpOperand *init = nullptr; // of the outermost loop
  while (auto argument = dyn_cast<BlockArgument>(source)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || !llvm::is_contained(loops, cast<LoopLikeOpInterface>(loop.getOperation())))
      return;
    init = loop.getTiedLoopInit(argument);
    source = init->get();
  }
  auto initializer = source.getDefiningOp<linalg::LinalgOp>();
  if (!isInitializer(initializer) || !init ||
      llvm::count_if(source.getUsers(),
                     [](Operation *user) { return !isa<tensor::DimOp>(user); }) != 1)
    return;
  // Every tile is written, so that what was there before does not matter.
  if (scf::tileAndFuseProducerOfSlice(rewriter, slice, loops))
    rewriter.modifyOpInPlace(init->getOwner(), [&] { init->set(initializer.getDpsInits()[0]); });
}

linalg::LinalgOp plim::ir::writtenBy(func::FuncOp function) {
  llvm::SetVector<Operation *> sources;
  function.walk([&](bufferization::MaterializeInDestinationOp write) {
    Operation *source = write.getSource().getDefiningOp();
    // Computed where it is inserted (plim-form-dispatches).
    if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(source))
      source = insert.getSource().getDefiningOp();
    sources.insert(source);
  });
  return sources.size() == 1 ? dyn_cast_or_null<linalg::LinalgOp>(sources.front())
                             : linalg::LinalgOp();
}

scf::ParallelOp plim::ir::outerLoop(func::FuncOp function) {
  auto loops = function.getOps<scf::ParallelOp>();
  return function->hasAttr(dispatchFunctionAttr) && llvm::hasSingleElement(loops)
             ? *loops.begin()
             : scf::ParallelOp();
}

linalg::LinalgOp plim::ir::takeMarked(func::FuncOp function, StringRef attribute) {
  linalg::LinalgOp found;
  function.walk([&](linalg::LinalgOp op) {
    if (!op->removeAttr(attribute))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

Value plim::ir::enclosing(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? init->get() : Value();
  }
  Operation *definition = tensor.getDefiningOp();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(definition))
    return slice.getSource();
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(definition))
    return slice.getDest();
  if (auto view = dyn_cast<tensor::CastOp>(definition))
    return view.getSource();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(definition))
    return loop.getInits()[cast<OpResult>(tensor).getResultNumber()];
  if (auto written = dyn_cast<DestinationStyleOpInterface>(definition))
    return written.getTiedOpOperand(cast<OpResult>(tensor))->get();
  return {};
}

Value plim::ir::partWithBorder(OpBuilder &builder, tensor::InsertSliceOp insert, Value filling,
                               Value memory, ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  Location loc = insert.getLoc();
  MLIRContext *context = builder.getContext();
  AffineExpr a, b;
  bindSymbols(context, a, b);
  auto difference = [&](OpFoldResult x, OpFoldResult y) {
    return affine::makeComposedFoldedAffineApply(builder, loc, a - b, {x, y});
  };
  auto sum = [&](OpFoldResult x, OpFoldResult y) {
    return affine::makeComposedFoldedAffineApply(builder, loc, a + b, {x, y});
  };
  auto least = [&](ArrayRef<OpFoldResult> of) {
    return affine::makeComposedFoldedAffineMin(
        builder, loc, AffineMap::getMultiDimIdentityMap(unsigned(of.size()), context), of);
  };
  auto most = [&](ArrayRef<OpFoldResult> of) {
    return affine::makeComposedFoldedAffineMax(
        builder, loc, AffineMap::getMultiDimIdentityMap(unsigned(of.size()), context), of);
  };
  const OpFoldResult zero = builder.getIndexAttr(0);
  SmallVector<OpFoldResult> from, some, into, ones(offsets.size(), builder.getIndexAttr(1));
  for (auto [inserted, extent, offset, size] :
       llvm::zip_equal(insert.getMixedOffsets(), insert.getMixedSizes(), offsets, sizes)) {
    // What of the source stands there, if anything does.
    const OpFoldResult first = least({most({difference(offset, inserted), zero}), extent});
    const OpFoldResult end = difference(sum(offset, size), inserted);
    from.push_back(first);
    some.push_back(most({difference(least({end, extent}), first), zero}));
    into.push_back(least({most({difference(sum(first, inserted), offset), zero}), size}));
  }
  Value part = linalg::FillOp::create(builder, loc, filling, memory).getResult(0);
  Value source = tensor::ExtractSliceOp::create(builder, loc, insert.getSource(), from, some, ones);
  return tensor::InsertSliceOp::create(builder, loc, source, part, into, some, ones);
}

std::optional<int64_t> plim::ir::mostIterations(linalg::LinalgOp op, unsigned number,
                                                unsigned loop) {
  if (int64_t size = op.getStaticLoopRanges()[loop]; !ShapedType::isDynamic(size))
    return size;
  std::optional<unsigned> dimension =
      op.getMatchingIndexingMap(&op->getOpOperand(number))
          .getResultPosition(getAffineDimExpr(loop, op.getContext()));
  if (!dimension)
    return std::nullopt;
  std::optional<int64_t> most = greatestKnown({op->getOperand(number), int64_t(*dimension)});
  return most ? std::optional(std::max<int64_t>(1, *most)) : std::nullopt;
}

std::optional<unsigned> plim::ir::columnOf(linalg::LinalgOp op) {
  const AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto column = result.getNumResults() == 0 ? AffineDimExpr(nullptr)
                                            : dyn_cast<AffineDimExpr>(result.getResults().back());
  return column ? std::optional(column.getPosition()) : std::nullopt;
}

bool plim::ir::reducesColumns(linalg::LinalgOp op) {
  const std::optional<unsigned> column = columnOf(op);
  if (op.getNumReductionLoops() == 0 || !column || productOf(op))
    return false;
  SmallVector<unsigned> reduced, parallel;
  op.getReductionDims(reduced);
  op.getParallelDims(parallel);
  bool any = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const AffineMap map = op.getMatchingIndexingMap(input);
    auto has = [&](unsigned loop) { return map.isFunctionOfDim(loop); };
    if (!map.isProjectedPermutation())
      return false;
    if (!isContiguousAlong(map, *column) || llvm::none_of(reduced, has))
      continue;
    any = true;
    if (!llvm::all_of(parallel, has))
      return false;
  }
  return any;
}

std::optional<unsigned> plim::ir::loopReadAcross(linalg::LinalgOp op, unsigned number) {
  const AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  const std::optional<unsigned> column = columnOf(op);
  Type element = getElementTypeOrSelf(op->getOperand(number));
  if (!column || !map.isProjectedPermutation() || map.getNumResults() < 2 ||
      !map.isFunctionOfDim(*column) || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8 || !llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()))
    return std::nullopt;
  const unsigned read = map.getDimPosition(map.getNumResults() - 1);
  return read == *column ? std::nullopt : std::optional(read);
}

bool plim::ir::isDense(linalg::LinalgOp op, OpOperand &operand, ArrayRef<int64_t> loops) {
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(unsigned(loops.front())))
    return true;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  // In all tensors that it is a part of.
  for (Value whole = operand.get(); whole;) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(whole.getType()).getShape();
    if (shape.size() != map.getNumResults())
      return false;
    for (int64_t loop : loops) {
      const unsigned dimension =
          *map.getResultPosition(getAffineDimExpr(unsigned(loop), op.getContext()));
      if (ShapedType::isDynamicShape(shape.drop_front(dimension + 1)) ||
          (loop != loops.front() && shape[dimension] != sizes[unsigned(loop)]))
        return false;
    }
    whole = enclosing(whole);
  }
  return true;
}
