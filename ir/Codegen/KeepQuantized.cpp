#include "ir/Analysis/Destinations.h"
#include "ir/Analysis/FixedValues.h"
#include "ir/Analysis/Products.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Codegen/Host.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMKEEPQUANTIZED
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Rows of a product from which on its weights are worth their memory as floats: panels of those are multiplied with blocks of rows.
constexpr int64_t manyRows = 64;
/// Fewer weights stay in the caches in any case.
constexpr int64_t leastWeights = int64_t(1) << 14;

/// Does it make one tensor, each element of it by itself?
bool makesElements(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 && !op.hasIndexSemantics() && !op->hasAttr(deviceAttr) &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Do all nested ops compute numbers from numbers?
bool isArithmetic(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return inner.getDialect()->getNamespace() == arith::ArithDialect::getDialectNamespace() &&
           isPure(&inner);
  });
}

/// Weights that are made of narrow integers. Each dimension of the product's operand is a row of loops of the op that makes them.
struct Weights {
  linalg::LinalgOp op;
  SmallVector<SmallVector<unsigned>> dimensions;
  unsigned narrow; // its operand with an integer for each weight
};

/// The loops that index an operand, one for each of its dimensions; nothing if it has other indices.
std::optional<SmallVector<unsigned>> loopsOf(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  return llvm::map_to_vector(
      map.getResults(), [](AffineExpr index) { return cast<AffineDimExpr>(index).getPosition(); });
}

/// What makes a tensor, behind copies in another order and reshapes that make one dimension of several.
std::optional<Weights> weightsOf(Value value) {
  const auto rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<SmallVector<unsigned>> dimensions; // of the result of the op that is looked at
  for (int64_t i = 0; i < rank; ++i)
    dimensions.push_back({unsigned(i)});
  auto replace = [&](function_ref<SmallVector<unsigned>(unsigned)> sources) {
    for (SmallVector<unsigned> &each : dimensions) {
      SmallVector<unsigned> next;
      for (unsigned dimension : each)
        llvm::append_range(next, sources(dimension));
      each = std::move(next);
    }
  };
  while (Operation *op = value.getDefiningOp()) {
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      const SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
      replace([&](unsigned dimension) {
        return llvm::map_to_vector(groups[dimension], [](int64_t each) { return unsigned(each); });
      });
      value = collapse.getSrc();
      continue;
    }
    auto maker = dyn_cast<linalg::LinalgOp>(op);
    if (!maker || !makesElements(maker) || hasPinnedResult(maker))
      return std::nullopt;
    const SmallVector<unsigned> written =
        *loopsOf(maker.getMatchingIndexingMap(maker.getDpsInitOperand(0)));
    replace([&](unsigned dimension) { return SmallVector<unsigned>{written[dimension]}; });
    Value made = maker.getBlock()->getTerminator()->getOperand(0);
    OpOperand *first = maker.getDpsInputOperand(0);
    std::optional<SmallVector<unsigned>> read = loopsOf(maker.getMatchingIndexingMap(first));
    if (maker.getNumDpsInputs() == 1 && made == maker.getBlock()->getArgument(0) && read &&
        read->size() == maker.getNumLoops()) {
      replace([&](unsigned loop) {
        return SmallVector<unsigned>{unsigned(llvm::find(*read, loop) - read->begin())};
      });
      value = first->get();
      continue;
    }
    if (!isa<FloatType>(made.getType()) || !isArithmetic(maker))
      return std::nullopt;
    std::optional<unsigned> narrow;
    for (OpOperand *input : maker.getDpsInputOperands()) {
      std::optional<SmallVector<unsigned>> loops = loopsOf(maker.getMatchingIndexingMap(input));
      if (!loops || !isa<RankedTensorType>(input->get().getType()))
        return std::nullopt;
      if (loops->size() < maker.getNumLoops())
        continue;
      if (narrow)
        return std::nullopt;
      narrow = input->getOperandNumber();
    }
    if (!narrow)
      return std::nullopt;
    return Weights{maker, dimensions, *narrow};
  }
  return std::nullopt;
}

/// Is each element of an integer tensor a number of 8 bits without a sign, in a wider type?
bool hasBytes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic->getNumResults() != 1)
      return false;
    Operation *made = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    if (auto extension = dyn_cast_or_null<arith::ExtUIOp>(made))
      return extension.getIn().getType().getIntOrFloatBitWidth() <= 8;
    APInt mask;
    return isa_and_nonnull<arith::AndIOp>(made) &&
           matchPattern(made->getOperand(1), m_ConstantInt(&mask)) && mask.isIntN(8);
  }
  return false;
}

struct KeepQuantized : plim::ir::impl::PlimKeepQuantizedBase<KeepQuantized> {
  void runOnOperation() override {
    host = hostOf(getOperation());
    FixedValues fixed(getOperation());
    SmallVector<linalg::LinalgOp> products;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](linalg::LinalgOp op) {
        if (op.hasPureTensorSemantics() && !op->hasAttr(deviceAttr) &&
            llvm::none_of(op.getDpsInits(), constrainedAllocation) && productOf(op))
          products.push_back(op);
      });
    SmallVector<Operation *> reshapes;
    for (linalg::LinalgOp op : products)
      if (tensor::CollapseShapeOp result = rewrite(op, fixed)) {
        reshapes.push_back(result);
        ++kept;
      }
    if (!reshapes.empty() && failed(sinkReshapes()))
      signalPassFailure();
  }

  /// What the product is with its weights as they are stored, in the shape that it had before; null where it stays.
  tensor::CollapseShapeOp rewrite(linalg::LinalgOp op, FixedValues &fixed) const {
    const Product product = *productOf(op);
    OpOperand &panel = op->getOpOperand(product.panel);
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const std::optional<int64_t> rows = iterations(op, product.rowLoops);
    if (product.columnLoops.size() != 1 || product.depthLoops.size() != 1 ||
        !product.batchLoops.empty() || (rows && *rows >= manyRows) || !fixed.isFixed(panel.get()) ||
        fixed.isFixed(op))
      return {};
    const unsigned column = product.column, depth = product.depthLoops[0];
    const std::optional<SmallVector<unsigned>> ofPanel = loopsOf(op.getMatchingIndexingMap(&panel)),
                                               ofRows = loopsOf(op.getMatchingIndexingMap(
                                                   &op->getOpOperand(product.rows))),
                                               ofResult = loopsOf(op.getMatchingIndexingMap(
                                                   op.getDpsInitOperand(0)));
    auto panelType = cast<RankedTensorType>(panel.get().getType());
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    if (!ofPanel || ofPanel->size() != 2 || !ofRows || !ofResult || !panelType.hasStaticShape() ||
        panelType.getNumElements() < leastWeights || !resultType.getElementType().isF32())
      return {};
    const int64_t lanes = host.lanes(resultType), width = 2 * lanes;
    if (lanes == 1 || sizes[column] % width != 0)
      return {};
    std::optional<Weights> weights = weightsOf(panel.get());
    if (!weights)
      return {};
    linalg::LinalgOp source = weights->op;
    const SmallVector<unsigned> &ofColumn = weights->dimensions[(*ofPanel)[0] == column ? 0 : 1],
                                &ofDepth = weights->dimensions[(*ofPanel)[0] == column ? 1 : 0];
    OpOperand &narrow = source->getOpOperand(weights->narrow);
    auto narrowType = cast<RankedTensorType>(narrow.get().getType());
    if (ofColumn.size() != 1 || ofDepth.empty() || ofDepth.size() > 2 ||
        source.getNumLoops() != 1 + ofDepth.size() || !narrowType.getElementType().isInteger())
      return {};
    // What is the same for a block of weights is read once for it.
    for (OpOperand *input : source.getDpsInputOperands())
      if (input != &narrow && source.getMatchingIndexingMap(input).isFunctionOfDim(ofDepth.back()))
        return {};
    const bool isWide = narrowType.getElementTypeBitWidth() > 8;
    if (narrowType.getElementTypeBitWidth() < 8 || (isWide && !hasBytes(narrow.get())))
      return {};

    OpBuilder builder(op);
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    // Loops: the rows, then panels, columns of a panel, and the depth in one or two.
    SmallVector<unsigned> place(op.getNumLoops()); // of a loop of the rows
    for (auto [position, loop] : llvm::enumerate(product.rowLoops))
      place[loop] = unsigned(position);
    const auto rowCount = unsigned(product.rowLoops.size());
    const unsigned panels = rowCount, columns = rowCount + 1, depths = rowCount + 2,
                   loopCount = depths + unsigned(ofDepth.size());
    auto loop = [&](unsigned position) { return getAffineDimExpr(position, context); };
    auto mapOf = [&](ArrayRef<AffineExpr> indices) {
      return AffineMap::get(loopCount, 0, indices, context);
    };
    // An operand of the op that makes weights, with its panels outermost and their columns innermost.
    auto arranged = [&](OpOperand &operand, Value value,
                        SmallVector<AffineExpr> &indices) -> Value {
      const SmallVector<unsigned> loops = *loopsOf(source.getMatchingIndexingMap(&operand));
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<ReassociationIndices> groups;
      SmallVector<int64_t> shape;
      int64_t outer = -1, inner = -1;
      SmallVector<int64_t> ofDepths(ofDepth.size(), -1);
      for (auto [dimension, each] : llvm::enumerate(loops)) {
        groups.push_back({int64_t(shape.size())});
        if (each != ofColumn[0]) {
          ofDepths[size_t(llvm::find(ofDepth, each) - ofDepth.begin())] = int64_t(shape.size());
          shape.push_back(type.getDimSize(int64_t(dimension)));
          continue;
        }
        outer = int64_t(shape.size());
        inner = outer + 1;
        groups.back().push_back(inner);
        shape.push_back(type.getDimSize(int64_t(dimension)) / width);
        shape.push_back(width);
      }
      SmallVector<int64_t> order;
      auto add = [&](int64_t dimension, unsigned position) {
        if (dimension < 0)
          return;
        order.push_back(dimension);
        indices.push_back(loop(position));
      };
      add(outer, panels);
      for (auto [position, dimension] : llvm::enumerate(ofDepths))
        add(dimension, depths + unsigned(position));
      add(inner, columns);
      if (inner >= 0)
        value = tensor::ExpandShapeOp::create(
            builder, loc, RankedTensorType::get(shape, type.getElementType()), value, groups);
      if (llvm::is_sorted(order))
        return value;
      Value empty = tensor::EmptyOp::create(
          builder, loc,
          llvm::map_to_vector(order, [&](int64_t dimension) { return shape[size_t(dimension)]; }),
          type.getElementType());
      return linalg::TransposeOp::create(builder, loc, value, empty, order)->getResult(0);
    };

    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    { // the other operand
      Value value = op->getOperand(product.rows);
      SmallVector<AffineExpr> indices;
      SmallVector<ReassociationIndices> groups;
      SmallVector<int64_t> shape;
      auto type = cast<RankedTensorType>(value.getType());
      for (auto [dimension, each] : llvm::enumerate(*ofRows)) {
        groups.push_back({int64_t(shape.size())});
        if (each != depth) {
          indices.push_back(loop(place[each]));
          shape.push_back(type.getDimSize(int64_t(dimension)));
          continue;
        }
        for (auto [position, part] : llvm::enumerate(ofDepth)) {
          if (position > 0)
            groups.back().push_back(int64_t(shape.size()));
          indices.push_back(loop(depths + unsigned(position)));
          shape.push_back(source.getStaticLoopRanges()[part]);
        }
      }
      if (ofDepth.size() > 1)
        value = tensor::ExpandShapeOp::create(
            builder, loc, RankedTensorType::get(shape, type.getElementType()), value, groups);
      inputs.push_back(value);
      maps.push_back(mapOf(indices));
    }
    for (OpOperand *input : source.getDpsInputOperands()) {
      Value value = input->get();
      if (input == &narrow && isWide)
        value = truncated(builder, loc, value);
      SmallVector<AffineExpr> indices;
      inputs.push_back(arranged(*input, value, indices));
      maps.push_back(mapOf(indices));
    }
    // The result has its panels and their columns apart.
    SmallVector<AffineExpr> indices;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    for (unsigned each : *ofResult) {
      groups.push_back({int64_t(shape.size())});
      if (each != column) {
        indices.push_back(loop(place[each]));
        shape.push_back(resultType.getDimSize(int64_t(groups.size()) - 1));
        continue;
      }
      groups.back().push_back(int64_t(shape.size()) + 1);
      indices.append({loop(panels), loop(columns)});
      shape.append({sizes[column] / width, width});
    }
    maps.push_back(mapOf(indices));
    auto expanded = RankedTensorType::get(shape, resultType.getElementType());
    Value init = expandedInit(builder, op, expanded, groups);
    SmallVector<utils::IteratorType> kinds(depths, utils::IteratorType::parallel);
    kinds.resize(loopCount, utils::IteratorType::reduction);
    auto kept = linalg::GenericOp::create(
        builder, loc, expanded, inputs, init, maps, kinds,
        [&](OpBuilder &inside, Location at, ValueRange arguments) {
          IRMapping mapping;
          for (auto [input, argument] :
               llvm::zip(source.getDpsInputOperands(), arguments.drop_front().drop_back())) {
            Value element = argument;
            if (input == &narrow && isWide)
              element = arith::ExtUIOp::create(inside, at, narrowType.getElementType(), element);
            mapping.map(source.getMatchingBlockArgument(input), element);
          }
          for (Operation &inner : source.getBlock()->without_terminator())
            inside.clone(inner, mapping);
          Value weight = mapping.lookupOrDefault(source.getBlock()->getTerminator()->getOperand(0));
          mapping.map(op.getBlock()->getArgument(product.panel), weight);
          mapping.map(op.getBlock()->getArgument(product.rows), arguments.front());
          mapping.map(op.getRegionOutputArgs()[0], arguments.back());
          for (Operation &inner : *op.getBlock())
            inside.clone(inner, mapping);
        });
    auto result =
        tensor::CollapseShapeOp::create(builder, loc, resultType, kept.getResult(0), groups);
    op->replaceAllUsesWith(result);
    op->erase();
    return result;
  }

  /// What the op starts from, in the shape of `type`.
  static Value expandedInit(OpBuilder &builder, linalg::LinalgOp op, RankedTensorType type,
                            ArrayRef<ReassociationIndices> groups) {
    Location loc = op.getLoc();
    Value init = op.getDpsInits()[0];
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill)
      return tensor::ExpandShapeOp::create(builder, loc, type, init, groups);
    SmallVector<OpFoldResult> sizes;
    const SmallVector<OpFoldResult> whole = tensor::getMixedSizes(builder, loc, init);
    for (auto [dimension, group] : llvm::enumerate(groups))
      for (int64_t each : group)
        sizes.push_back(group.size() == 1 ? whole[dimension]
                                          : builder.getIndexAttr(type.getDimSize(each)));
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    return linalg::FillOp::create(builder, loc, fill.getInputs()[0], empty).getResult(0);
  }

  static Value truncated(OpBuilder &builder, Location loc, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), builder.getI8Type());
    const AffineMap map = builder.getMultiDimIdentityMap(unsigned(type.getRank()));
    return linalg::GenericOp::create(
               builder, loc, empty.getType(), value, empty, {map, map},
               SmallVector<utils::IteratorType>(size_t(type.getRank()),
                                                utils::IteratorType::parallel),
               [](OpBuilder &inside, Location at, ValueRange arguments) {
                 Value byte = arith::TruncIOp::create(inside, at, inside.getI8Type(), arguments[0]);
                 linalg::YieldOp::create(inside, at, byte);
               })
        .getResult(0);
  }

  /// Elementwise ops take the shape of what they read, so that they can be fused with it.
  LogicalResult sinkReshapes() {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
      if (!consumer || !reshape || !makesElements(consumer) || hasPinnedResult(consumer))
        return false;
      auto producer = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
      return producer && (makesElements(producer) || producer.getNumDpsInputs() > 2);
    });
    return applySoundPatternsInFunctions(getOperation(), std::move(patterns));
  }

  Host host;
};

} // namespace
