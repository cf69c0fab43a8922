#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/MaskBounds.h"
#include "ir/Analysis/Products.h"
#include "ir/Dispatch/Apart.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

#include <set>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMFORMDISPATCHES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// The most columns of a product whose rows are computed where they are used: one workgroup takes
/// all columns of its rows.
constexpr int64_t mostColumnsOfRows = 256;
/// The most iterations of a reduction that computes such rows: the deeper it is, the less is it
/// worth that they stay in the caches, against workgroups of fewer rows, for each of which the
/// other operand is loaded again.
constexpr int64_t mostDepthOfRows = 256;
/// The fewest such rows of all workgroups together, so that there is work for several; any number if a workgroup that has them
/// leaves out what is masked.
constexpr int64_t leastRows = 48;
/// Bytes of the smallest image with a border that is made once for all workgroups.
constexpr int64_t leastSharedImage = 64 << 10;

/// For each loop of an op of a cluster: the loop of the root that it runs along with, or none.
using LoopMap = SmallVector<std::optional<unsigned>>;

struct Cluster {
  Operation *root = nullptr;
  /// Root first; an op stands after all the ops of the cluster that use it.
  llvm::SetVector<Operation *> ops;
  DenseMap<Operation *, LoopMap> loops;
  /// Parallel loops of the root that can be tiled without computing anything twice.
  llvm::SmallBitVector tileable;
  /// Where the root's result is inserted, if it is computed there.
  tensor::InsertSliceOp insert;
  /// What was looked at and is not in it, and why.
  DenseMap<Operation *, Apart> apart;
};

bool isContraction(linalg::LinalgOp op) {
  return linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op);
}

/// What a cluster computes, for the name of its dispatch: its heaviest op says it.
StringRef kindOf(const Cluster &cluster) {
  StringRef kind = cluster.root->getName().stripDialect();
  int weight = -1;
  for (Operation *member : cluster.ops) {
    auto op = dyn_cast<linalg::LinalgOp>(member);
    if (!op)
      continue;
    auto [name, heavy] = linalg::isaContractionOpInterface(op)   ? std::pair("contraction", 3)
                         : linalg::isaConvolutionOpInterface(op) ? std::pair("convolution", 3)
                         : op.getNumReductionLoops() > 0         ? std::pair("reduction", 2)
                         : isa<linalg::FillOp>(member)           ? std::pair("fill", 0)
                         : isa<linalg::CopyOp>(member)           ? std::pair("copy", 0)
                                                                 : std::pair("elementwise", 1);
    if (heavy > weight) {
      kind = name;
      weight = heavy;
    }
  }
  return kind;
}

/// Do only dispatches use the value, or ops that will be some, by whatever shape?
bool isForDispatches(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return (op && op.hasPureTensorSemantics()) || isa<DispatchOp>(user) ||
           (isa<tensor::ExpandShapeOp>(user) && isForDispatches(user->getResult(0)));
  });
}

/// Is the slice a view of its source in every op that uses it?
bool isView(tensor::ExtractSliceOp slice) {
  return isDenseSlice(slice, slice.getSourceType()) && isForDispatches(slice);
}

/// Is a copy of the slice worth nothing: do all ops that use it, with more dimensions perhaps, read each of its
/// elements once, or any number of times if its rows lie side by side?
bool isReadInPlace(tensor::ExtractSliceOp slice) {
  const int64_t last = slice.getSourceType().getRank() - 1;
  if (last < 0 || isView(slice))
    return false;
  const bool liesSideBySide = !slice.getDroppedDims().test(unsigned(last)) &&
                              isOneInteger(slice.getMixedStrides()[size_t(last)]);
  auto isReadOnce = [&](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!op || !op.hasPureTensorSemantics() || !op.isDpsInput(&use) || op->hasAttr(deviceAttr))
      return false;
    const AffineMap map = op.getMatchingIndexingMap(&use);
    return (op.getNumReductionLoops() == 0 && map.isPermutation()) ||
           (liesSideBySide && map.isProjectedPermutation());
  };
  return llvm::all_of(slice->getUses(), [&](OpOperand &use) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner()))
      return use == insert.getSourceMutable();
    if (auto expanded = dyn_cast<tensor::ExpandShapeOp>(use.getOwner()))
      return llvm::all_of(expanded->getUses(), isReadOnce);
    return isReadOnce(use);
  });
}

/// Memory that nothing has been written to, as far as the op can tell whose destination it is: what
/// plim-view-slices made part of something larger, too.
bool isMemory(Operation *op) {
  auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
  return slice ? isView(slice) : isa_and_nonnull<tensor::EmptyOp, AllocOp>(op);
}

/// Does the op give a destination its first value? A copy does so where nothing may write to its
/// source (plim-decouple-constant-writes).
bool isInitializer(Operation *op) {
  return isa_and_nonnull<linalg::FillOp, linalg::CopyOp>(op) && !op->hasAttr(deviceAttr) &&
         isMemory(cast<linalg::LinalgOp>(op).getDpsInits()[0].getDefiningOp());
}

/// Has the source of the insertion been computed where it is inserted?
bool isInPlace(tensor::InsertSliceOp insert) {
  auto result = dyn_cast<OpResult>(insert.getSource());
  auto op = result ? dyn_cast<linalg::LinalgOp>(result.getOwner()) : linalg::LinalgOp();
  if (!op)
    return false;
  Operation *memory = op.getTiedOpOperand(result)->get().getDefiningOp();
  if (isInitializer(memory))
    memory = cast<linalg::LinalgOp>(memory).getDpsInits()[0].getDefiningOp();
  auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(memory);
  return slice && isView(slice) && slice.getSource() == insert.getDest() &&
         slice.isSameAs(insert, [](OpFoldResult a, OpFoldResult b) { return a == b; });
}

/// Copied into each dispatch that uses it, instead of being bound: it costs nothing there.
bool isCheap(Operation *op, int64_t inlineConstantBytes) {
  if (isa<tensor::EmptyOp, AllocOp, UnpackPanelsOp>(op) || isInitializer(op))
    return true;
  Attribute value;
  if (!matchPattern(op, m_Constant(&value)))
    return false;
  auto elements = dyn_cast<ElementsAttr>(value);
  return !elements || elements.isSplat() || isInlineConstant(value, inlineConstantBytes);
}

/// Does the op compute, so that it must run inside a dispatch?
bool isRoot(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return !isView(slice);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return !isInPlace(insert);
  return isa<tensor::FromElementsOp>(op);
}

/// A tensor with the elements of a vector.
Value inMemory(OpBuilder &builder, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  Location loc = vector.getLoc();
  Value memory = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<bool> inBounds(size_t(type.getRank()), true);
  return vector::TransferWriteOp::create(builder, loc, vector, memory,
                                         SmallVector<Value>(size_t(type.getRank()), zero),
                                         ArrayRef<bool>(inBounds))
      .getResult();
}

/// The inverse.
Value read(OpBuilder &builder, Value memory) {
  auto type = cast<RankedTensorType>(memory.getType());
  Location loc = memory.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value padding =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  SmallVector<bool> inBounds(size_t(type.getRank()), true);
  return vector::TransferReadOp::create(
      builder, loc, VectorType::get(type.getShape(), type.getElementType()), memory,
      SmallVector<Value>(size_t(type.getRank()), zero), padding, ArrayRef<bool>(inBounds));
}

struct FormDispatches : plim::ir::impl::PlimFormDispatchesBase<FormDispatches> {
  using PlimFormDispatchesBase::PlimFormDispatchesBase;

  /// The dispatches of the function so far.
  FormedDispatches formed;

  void runOnOperation() override {
    formed = {};
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr) && !function->hasAttr(dispatchFunctionAttr))
        functions.push_back(function);
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : functions)
      formIn(function, symbols);
  }

  void formIn(func::FuncOp function, SymbolTable &symbols) {
    SmallVector<Block *> blocks;
    // Regions of linalg ops and the like are bodies, not places for dispatches.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isRoot(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    unsigned index = 0;
    formed.beginFunction();
    for (Block *block : blocks) {
      SmallVector<Operation *> ops = llvm::map_to_vector(*block, [](Operation &op) { return &op; });
      llvm::SmallPtrSet<Operation *, 16> taken;
      SmallVector<Cluster> clusters;
      for (Operation *op : llvm::reverse(ops)) {
        if (isUnusedCheap(op, taken))
          taken.insert(op); // by those that it is copied into
        if (taken.contains(op) || !isRoot(op))
          continue;
        clusters.push_back(growInto(op));
        taken.insert_range(clusters.back().ops);
        taken.insert(op);
      }
      for (Cluster &cluster : llvm::reverse(clusters))
        outline(function, cluster, index++, symbols);
      // What was copied into dispatches may have no other use.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }

  bool isCheap(Operation *op) const {
    auto expanded = dyn_cast<tensor::ExpandShapeOp>(op);
    auto slice = expanded ? expanded.getSrc().getDefiningOp<tensor::ExtractSliceOp>()
                          : dyn_cast<tensor::ExtractSliceOp>(op);
    return ::isCheap(op, inlineConstantBytes) || (slice && fuseForCaches && isReadInPlace(slice));
  }

  /// A fill that only dispatches use is copied into them and needs none of its own.
  bool isUnusedCheap(Operation *op, const llvm::SmallPtrSet<Operation *, 16> &taken) const {
    return isCheap(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
             return taken.contains(user->getBlock()->getParentOp()) || taken.contains(user) ||
                    (isa<tensor::ExpandShapeOp>(user) && isUnusedCheap(user, taken));
           });
  }

  /// An op whose result is inserted, as parts of rows for example, computes its elements where they
  /// are inserted. It must read nothing of the destination, which would be copied first.
  Cluster growInto(Operation *root) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(root);
    auto source = insert ? sourceOf(insert) : linalg::GenericOp();
    if (!source)
      return grow(root);
    auto apart = [&](Apart reason) {
      Cluster cluster = grow(root);
      cluster.apart[source] = reason;
      return cluster;
    };
    if (!fuseForCaches)
      return apart(Apart::FusionOff);
    if (std::optional<Apart> reason = whyNotInserted(source, insert))
      return apart(*reason);
    llvm::SmallDenseSet<Value> versions = {insert.getDest()};
    Value memory = insert.getDest();
    while (auto before = memory.getDefiningOp<tensor::InsertSliceOp>())
      versions.insert(memory = before.getDest());
    if (Operation *op = memory.getDefiningOp(); op && !isMemory(op) && !isInitializer(op))
      return apart(Apart::InsertedIntoFilled);
    auto isApart = [&](Value value) {
      while (Operation *op = value.getDefiningOp()) {
        if (!isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                 tensor::CastOp>(op))
          break;
        value = op->getOperand(0);
      }
      return !versions.contains(value);
    };
    Cluster cluster = grow(source);
    for (Operation *op : cluster.ops) {
      auto member = dyn_cast<linalg::LinalgOp>(op);
      llvm::SetVector<Value> read;
      read.insert_range(op->getOperands());
      getUsedValuesDefinedAbove(op->getRegions(), read);
      if (!member || isContraction(member) || productOf(member))
        return apart(Apart::InsertedNotElementwise);
      if (!llvm::all_of(read, isApart))
        return apart(Apart::InsertedBesideRead);
    }
    cluster.insert = insert;
    ++fused;
    return cluster;
  }

  /// What computes the elements that are inserted, with more dimensions of one element perhaps.
  static linalg::GenericOp sourceOf(tensor::InsertSliceOp insert) {
    Value value = insert.getSource();
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(value.getDefiningOp()) &&
           value.hasOneUse())
      value = value.getDefiningOp()->getOperand(0);
    return value.getDefiningOp<linalg::GenericOp>();
  }

  /// Why the source is not computed where it is inserted; nothing: it may be.
  static std::optional<Apart> whyNotInserted(linalg::GenericOp source,
                                             tensor::InsertSliceOp insert) {
    auto type = cast<RankedTensorType>(source->getResultTypes().front());
    if (!source.hasPureTensorSemantics() || source->getNumResults() != 1 ||
        source.getNumReductionLoops() > 0)
      return Apart::InsertedNotElementwise;
    if (!source->hasOneUse())
      return Apart::ReadElsewhere;
    if (source->getBlock() != insert->getBlock())
      return Apart::OtherBlock;
    if (source->hasAttr(deviceAttr))
      return Apart::OtherDevice;
    if (!source.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
      return Apart::Pinned;
    // Between types that are not static a reshape may do anything.
    if (source->getResult(0) != insert.getSource() &&
        (!type.hasStaticShape() ||
         isRankReducedType(insert.getSourceType(), type) != SliceVerificationResult::Success))
      return Apart::Reshaped;
    if (!insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank())
      return Apart::InsertedInSteps;
    if (isInitializer(insert.getDest().getDefiningOp()))
      return Apart::InsertedIntoFilled;
    return std::nullopt;
  }

  Cluster grow(Operation *root) {
    Cluster cluster;
    cluster.root = root;
    cluster.ops.insert(root);
    auto rootOp = dyn_cast<linalg::LinalgOp>(root);
    if (!rootOp)
      return cluster;
    unsigned loopCount = rootOp.getNumLoops();
    cluster.tileable.resize(loopCount);
    LoopMap identity;
    for (auto [loop, kind] : llvm::enumerate(rootOp.getIteratorTypesArray())) {
      identity.push_back(loop);
      if (kind == utils::IteratorType::parallel)
        cluster.tileable.set(loop);
    }
    cluster.loops[root] = identity;
    // Who makes what is in the cluster, the last one first: by then all that read it have been
    // looked at.
    auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    std::set<Operation *, decltype(isBefore)> producers(isBefore);
    auto addProducersOf = [&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto producer = operand.getDefiningOp<linalg::LinalgOp>();
            producer && producer->getBlock() == root->getBlock())
          producers.insert(producer);
    };
    addProducersOf(root);
    while (!producers.empty()) {
      auto producer = cast<linalg::LinalgOp>(producers.extract(std::prev(producers.end())).value());
      std::optional<Apart> apart = !fuse                          ? Apart::FusionOff
                                   : cluster.ops.size() >= maxOps ? Apart::TooManyOps
                                                                  : tryFuse(cluster, producer);
      if (apart)
        cluster.apart[producer] = *apart;
      else
        addProducersOf(producer);
    }
    if (fuseForCaches && !root->hasAttr(deviceAttr))
      for (Operation *op : llvm::to_vector(cluster.ops))
        for (OpOperand *input : cast<linalg::LinalgOp>(op).getDpsInputOperands())
          if (auto insert = input->get().getDefiningOp<tensor::InsertSliceOp>()) {
            if (std::optional<Apart> apart = whyNotBorder(*input, insert)) {
              cluster.apart[insert] = *apart;
            } else {
              cluster.ops.insert(insert);
              ++fused;
            }
          }
    return cluster;
  }

  /// Is the operand an image with a border, made for the op alone, of which it reads windows, and
  /// is it cheaper to make parts of it for each workgroup, each for all its filters? If not, why.
  static std::optional<Apart> whyNotBorder(OpOperand &image, tensor::InsertSliceOp insert) {
    auto op = cast<linalg::LinalgOp>(image.getOwner());
    auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
    if (!fill || !isInitializer(fill) || !fill.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
        !insert->hasOneUse() || insert->getBlock() != op->getBlock() || !insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getDestType().getRank() ||
        !insert.getDestType().hasStaticShape() ||
        op.getMatchingIndexingMap(&image).isProjectedPermutation())
      return Apart::NoBorder;
    // The panel of a product is copied anyway, and all of it for a part of the filters. A pooling's
    // window is none.
    std::optional<Product> product = productOf(op);
    if (!product || !op.payloadUsesValueFromOperand(&op->getOpOperand(product->rows)))
      return std::nullopt;
    bool pays = false;
    if (image.getOperandNumber() == product->panel) {
      // Each workgroup of a depthwise convolution reads channels of its own.
      pays = product->rowLoops.empty();
    } else if (!readsFarApart(image)) {
      auto filters = dyn_cast<RankedTensorType>(op->getOperand(product->panel).getType());
      pays = filters && filters.hasStaticShape() &&
             insert.getDestType().getNumElements() >= filters.getNumElements();
    }
    return pays ? std::nullopt : std::optional(Apart::BorderMadeAgain);
  }

  /// Is the image large, and do its windows reach over a quarter of the lines that there are of results, or more, as with large dilations?
  /// Each workgroup would make most of it.
  static bool readsFarApart(OpOperand &image) {
    auto op = cast<linalg::LinalgOp>(image.getOwner());
    const auto type = cast<RankedTensorType>(image.get().getType());
    if (type.getNumElements() * elementBytes(type.getElementType()) < leastSharedImage)
      return false;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (AffineExpr index : op.getMatchingIndexingMap(&image).getResults()) {
      int64_t results = 0, reach = 0;
      for (auto [loop, size, kind] : llvm::enumerate(sizes, kinds)) {
        const int64_t factor = std::abs(factorOf(index, unsigned(loop)).value_or(0));
        (kind == utils::IteratorType::parallel ? results : reach) +=
            factor * (ShapedType::isDynamic(size) ? 0 : size - 1);
      }
      if (results > 0 && reach > 0)
        return 4 * reach >= results;
    }
    return false;
  }

  /// Takes the producer in, or says why not.
  std::optional<Apart> tryFuse(Cluster &cluster, linalg::LinalgOp producer) {
    if (isCheap(producer) || !producer.hasPureTensorSemantics())
      return Apart::Destination; // repeated where it is needed, or no tensor
    if (hasPinnedResult(producer))
      return Apart::Pinned;
    if (producer->getAttr(deviceAttr) != cluster.root->getAttr(deviceAttr))
      return Apart::OtherDevice;
    if (!llvm::all_of(producer->getUsers(),
                      [&](Operation *user) { return cluster.ops.contains(user); }))
      return Apart::ReadElsewhere;
    std::optional<LoopMap> along;
    llvm::SmallBitVector tileable = cluster.tileable;
    for (OpOperand &use : producer->getUses()) {
      LoopMap map;
      if (std::optional<Apart> reason = followUse(cluster, producer, use, map)) {
        ++missed;
        return reason;
      }
      // Loops that two uses see differently can't be tiled; both must agree on the others.
      if (!along) {
        along = map;
        continue;
      }
      for (auto [mine, other] : llvm::zip(*along, map))
        if (mine != other) {
          if (mine)
            tileable.reset(*mine);
          if (other)
            tileable.reset(*other);
          mine.reset();
        }
    }
    llvm::SmallBitVector reached(tileable.size());
    for (std::optional<unsigned> loop : *along)
      if (loop)
        reached.set(*loop);
    tileable &= reached;
    const bool isLeft = tileable.any() || cluster.tileable.none();
    if (!isLeft ||
        (producer->hasAttr(splitAttr) &&
         (tileable != cluster.tileable || tileable.count() < producer.getNumParallelLoops()))) {
      ++missed;
      return isLeft ? Apart::SplitReduction : Apart::NoCommonLoop;
    }
    cluster.tileable = tileable;
    cluster.ops.insert(producer);
    cluster.loops[producer] = *along;
    ++fused;
    return std::nullopt;
  }

  /// Is the operand the rows of a product, larger than its result, which cost less where a
  /// workgroup computes those that it needs than in memory? Like the probabilities of attention.
  static bool isOfRows(OpOperand &use) {
    auto op = cast<linalg::LinalgOp>(use.getOwner());
    std::optional<Product> product = productOf(op);
    if (!product || use.getOperandNumber() != product->rows)
      return false;
    const int64_t columns = iterations(op, product->columnLoops).value_or(INT64_MAX);
    SmallVector<unsigned> parallel = product->batchLoops;
    llvm::append_range(parallel, product->rowLoops);
    return columns <= mostColumnsOfRows &&
           iterations(op, product->depthLoops).value_or(INT64_MAX) / 2 >= columns &&
           (iterations(op, parallel).value_or(INT64_MAX) >= leastRows ||
            isMaskedByPlace(use.get())) &&
           isShallow(use.get());
  }

  /// Are all reductions of products that the value depends on in its block, through what might be
  /// computed along with it, known to be short?
  static bool isShallow(Value rows) {
    llvm::SetVector<Operation *> behind;
    auto add = [&](Value value) {
      auto op = value.getDefiningOp<linalg::LinalgOp>();
      if (op && op.hasPureTensorSemantics() && op->getBlock() == rows.getParentBlock())
        behind.insert(op);
    };
    add(rows);
    for (size_t i = 0; i < behind.size(); ++i) {
      auto op = cast<linalg::LinalgOp>(behind[i]);
      if (!isContraction(op)) {
        llvm::for_each(op.getDpsInputs(), add);
        continue;
      }
      int64_t depth = 1;
      for (auto [size, kind] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction)
          depth =
              ShapedType::isDynamic(size) ? INT64_MAX : checkedMul(depth, size).value_or(INT64_MAX);
      if (depth > mostDepthOfRows)
        return false;
    }
    return true;
  }

  /// Follows one use of a producer: which loop of the root each loop of the producer runs along. If
  /// that cannot be said, or should not be, why.
  std::optional<Apart> followUse(Cluster &cluster, linalg::LinalgOp producer, OpOperand &use,
                                 LoopMap &map) {
    auto consumer = cast<linalg::LinalgOp>(use.getOwner()); // an op of the cluster
    // A destination is handled when the op is outlined.
    if (consumer.isDpsInit(&use))
      return Apart::Destination;
    // An operand of a contraction is read many times: it is worth materialising, if not in the
    // caches.
    if (isContraction(consumer) && !(fuseForCaches && isOfRows(use)))
      return Apart::ReadOften;
    AffineMap read = consumer.getMatchingIndexingMap(&use);
    AffineMap written = producer.getIndexingMapMatchingResult(cast<OpResult>(use.get()));
    if (!read.isProjectedPermutation())
      return Apart::ReadInWindows;
    if (!written.isProjectedPermutation())
      return Apart::WrittenInSteps;
    const LoopMap &consumerLoops = cluster.loops[consumer];
    map.assign(producer.getNumLoops(), std::nullopt);
    for (auto [from, to] : llvm::zip(written.getResults(), read.getResults()))
      map[cast<AffineDimExpr>(from).getPosition()] =
          consumerLoops[cast<AffineDimExpr>(to).getPosition()];
    return std::nullopt;
  }

  /// The value that holds the memory of a destination: initializers are looked through.
  static Value destinationOf(Value init) {
    Operation *op = init.getDefiningOp();
    return isInitializer(op) ? cast<linalg::LinalgOp>(op).getDpsInits()[0] : init;
  }

  /// Copies what `value` needs into the dispatch function, as far as it is cheap.
  void cloneCheap(OpBuilder &builder, Value value, IRMapping &mapping,
                  llvm::function_ref<Value(Value)> bind) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (!op || !isCheap(op)) {
      mapping.map(value, bind(value));
      return;
    }
    for (Value operand : op->getOperands())
      cloneCheap(builder, operand, mapping, bind);
    builder.clone(*op, mapping);
    DenseElementsAttr elements;
    if (matchPattern(op, m_Constant(&elements)) && !elements.isSplat())
      ++inlined;
  }

  void outline(func::FuncOp function, Cluster &cluster, unsigned index, SymbolTable &symbols) {
    Operation *root = cluster.root;
    Location loc = root->getLoc();
    // What the dispatch stands for.
    Operation *written = cluster.insert ? cluster.insert.getOperation() : root;
    OpBuilder builder(written);

    // Destinations: one for each result, from the op's own or fresh.
    SmallVector<Value> outputs;
    auto destinationOp = dyn_cast<DestinationStyleOpInterface>(root);
    for (OpResult result : written->getResults()) {
      if (cluster.insert) {
        outputs.push_back(cluster.insert.getDest());
        continue;
      }
      if (destinationOp) {
        outputs.push_back(destinationOf(destinationOp.getTiedOpOperand(result)->get()));
        continue;
      }
      auto type = cast<RankedTensorType>(result.getType());
      SmallVector<OpFoldResult> sizes;
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(root)) {
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (auto [dimension, size] : llvm::enumerate(slice.getMixedSizes()))
          if (!dropped.test(dimension))
            sizes.push_back(size);
      } else {
        sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
      }
      outputs.push_back(tensor::EmptyOp::create(builder, loc, sizes, type.getElementType()));
    }

    // The body, built in a function whose arguments appear as they are found to be needed.
    OpBuilder moduleBuilder(function);
    auto name = (function.getName() + "_" + kindOf(cluster) + "_" + Twine(index)).str();
    auto body =
        func::FuncOp::create(moduleBuilder, loc, name, moduleBuilder.getFunctionType({}, {}));
    body.setPrivate();
    body->setAttr(dispatchFunctionAttr, builder.getUnitAttr());
    if (Attribute limits = function->getAttr(limitsAttr))
      body->setAttr(limitsAttr, limits);
    SmallVector<int64_t> parallelLoops;
    for (unsigned loop : cluster.tileable.set_bits())
      parallelLoops.push_back(loop);
    body->setAttr(parallelLoopsAttr, builder.getDenseI64ArrayAttr(parallelLoops));
    symbols.insert(body);
    Block *entry = body.addEntryBlock();
    OpBuilder bodyBuilder = OpBuilder::atBlockEnd(entry);
    IRMapping mapping;
    SmallVector<Value> inputs;
    auto bindOne = [&](Value value) -> Value {
      inputs.push_back(value);
      return entry->addArgument(value.getType(), value.getLoc());
    };
    auto bind = [&](Value value) -> Value {
      if (isa<VectorType>(value.getType()))
        return read(bodyBuilder, bindOne(inMemory(builder, value)));
      auto type = dyn_cast<ComplexType>(value.getType());
      if (!type)
        return bindOne(value);
      // A scalar of a dispatch is a word.
      Value real = bindOne(complex::ReOp::create(builder, loc, value));
      Value imaginary = bindOne(complex::ImOp::create(builder, loc, value));
      return complex::CreateOp::create(bodyBuilder, loc, type, real, imaginary);
    };
    SmallVector<Operation *> ordered(cluster.ops.rbegin(), cluster.ops.rend());
    llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

    // Destinations are arguments of their own, behind all inputs: a placeholder stands for each
    // until the inputs are known.
    SmallVector<Value> placeholders;
    for (Operation *op : ordered) {
      llvm::SetVector<Value> needed;
      needed.insert_range(op->getOperands());
      getUsedValuesDefinedAbove(op->getRegions(), needed);
      if (op == root && cluster.insert) {
        for (OpFoldResult number : llvm::concat<OpFoldResult>(cluster.insert.getMixedOffsets(),
                                                              cluster.insert.getMixedSizes()))
          if (auto value = dyn_cast<Value>(number))
            needed.insert(value);
      }
      for (Value value : needed) {
        if (auto *definer = value.getDefiningOp(); definer && cluster.ops.contains(definer))
          continue;
        cloneCheap(bodyBuilder, value, mapping, bind);
      }
      if (op != root) {
        bodyBuilder.clone(*op, mapping)->removeDiscardableAttr(splitAttr);
        continue;
      }
      IRMapping rootMapping = mapping;
      Operation *clone = nullptr;
      if (cluster.insert) {
        placeholders.push_back(placeholderFor(bodyBuilder, loc, outputs[0].getType()));
        auto known = [&](ArrayRef<OpFoldResult> numbers) {
          return llvm::map_to_vector(numbers, [&](OpFoldResult number) -> OpFoldResult {
            auto value = dyn_cast<Value>(number);
            return value ? OpFoldResult(mapping.lookup(value)) : number;
          });
        };
        const SmallVector<OpFoldResult> offsets = known(cluster.insert.getMixedOffsets()),
                                        sizes = known(cluster.insert.getMixedSizes()),
                                        strides = cluster.insert.getMixedStrides();
        Value part = tensor::ExtractSliceOp::create(
            bodyBuilder, loc, cast<RankedTensorType>(root->getResultTypes().front()),
            placeholders[0], offsets, sizes, strides);
        clone = bodyBuilder.clone(*root, rootMapping);
        clone->removeDiscardableAttr(splitAttr);
        cast<DestinationStyleOpInterface>(clone).getDpsInitsMutable()[0].set(part);
        Value whole =
            tensor::InsertSliceOp::create(bodyBuilder, written->getLoc(), clone->getResult(0),
                                          placeholders[0], offsets, sizes, strides);
        func::ReturnOp::create(bodyBuilder, loc, whole);
      } else if (destinationOp) {
        // The destination of the root is the output, refilled if it was filled.
        SmallVector<Value> inits;
        for (auto [result, output] : llvm::zip(root->getResults(), outputs)) {
          Value placeholder = placeholderFor(bodyBuilder, loc, output.getType());
          placeholders.push_back(placeholder);
          Value init = destinationOp.getTiedOpOperand(result)->get();
          if (Operation *initializer = init.getDefiningOp(); isInitializer(initializer)) {
            auto op = cast<linalg::LinalgOp>(initializer);
            Value input = op.getDpsInputOperand(0)->get();
            IRMapping onto; // of its operands only: its body was cloned with `mapping` already
            onto.map(input, mapping.lookup(input));
            onto.map(op.getDpsInits()[0], placeholder);
            inits.push_back(bodyBuilder.clone(*initializer, onto)->getResult(0));
          } else {
            inits.push_back(placeholder);
          }
        }
        clone = bodyBuilder.clone(*root, rootMapping);
        clone->removeDiscardableAttr(splitAttr);
        auto cloneDestination = cast<DestinationStyleOpInterface>(clone);
        for (auto [result, init] : llvm::zip(clone->getResults(), inits))
          cloneDestination.getTiedOpOperand(result)->set(init);
        func::ReturnOp::create(bodyBuilder, loc, clone->getResults());
      } else {
        clone = bodyBuilder.clone(*root, rootMapping);
        Value placeholder = placeholderFor(bodyBuilder, loc, outputs[0].getType());
        placeholders.push_back(placeholder);
        auto copy = linalg::CopyOp::create(bodyBuilder, loc, clone->getResult(0), placeholder);
        func::ReturnOp::create(bodyBuilder, loc, copy.getResults());
      }
    }
    for (auto [output, placeholder] : llvm::zip(outputs, placeholders)) {
      placeholder.replaceAllUsesWith(entry->addArgument(output.getType(), output.getLoc()));
      placeholder.getDefiningOp()->erase();
    }
    dropUnusedInputs(body, inputs);
    body.setFunctionType(
        builder.getFunctionType(entry->getArgumentTypes(), TypeRange(written->getResultTypes())));

    auto dispatch = DispatchOp::create(
        builder, placesOf(loc, body), TypeRange(written->getResultTypes()),
        FlatSymbolRefAttr::get(body.getSymNameAttr()), inputs, outputs, ArrayAttr());
    if (Attribute device = root->getDiscardableAttr(deviceAttr))
      dispatch->setAttr(deviceAttr, device);
    if (isa<linalg::CopyOp>(root))
      dispatch->setAttr(copyAttr, builder.getUnitAttr());
    formed.add(dispatch, cluster.root, written, cluster.ops.getArrayRef(), cluster.apart);
    written->replaceAllUsesWith(dispatch.getResults());
    if (cluster.insert) {
      Operation *reshape = cluster.insert.getSource().getDefiningOp();
      cluster.insert.erase();
      while (reshape != root) {
        Operation *before = reshape->getOperand(0).getDefiningOp();
        reshape->erase();
        reshape = before;
      }
    }
    for (Operation *op : llvm::reverse(ordered))
      op->erase();
    ++dispatches;
  }

  /// Cloned destinations leave their originals behind: binding those would be a lie.
  static void dropUnusedInputs(func::FuncOp body, SmallVector<Value> &inputs) {
    Block &entry = body.front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (unsigned i = inputs.size(); i-- > 0;)
      if (entry.getArgument(i).use_empty()) {
        entry.eraseArgument(i);
        inputs.erase(inputs.begin() + i);
      }
  }

  static Value placeholderFor(OpBuilder &builder, Location loc, Type type) {
    return UnrealizedConversionCastOp::create(builder, loc, type, ValueRange()).getResult(0);
  }
};

} // namespace
