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

/// Does it write all elements of one tensor, each once?
bool writesElements(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Does it make them of those of its inputs alone?
bool makesElements(linalg::LinalgOp op) {
  return writesElements(op) && !op.hasIndexSemantics() && !op->hasAttr(deviceAttr) &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
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
    if (!maker || !makesElements(maker) || hasPinnedResult(maker) || maker.getNumDpsInputs() == 0)
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

/// The integers that a number may be.
struct Range {
  int64_t least, most;
  bool isOfBytes() const { return (least >= -128 && most < 128) || (least >= 0 && most < 256); }
};

/// Of integers that floats of 32 bits have, too; nothing for others.
std::optional<Range> exactly(int64_t least, int64_t most) {
  constexpr int64_t furthest = int64_t(1) << 24;
  return least >= -furthest && most <= furthest ? std::optional(Range{least, most}) : std::nullopt;
}

/// Of the elements of an integer tensor, as what makes them says.
std::optional<Range> rangeOfElements(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !writesElements(generic))
      return std::nullopt;
    Operation *made = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    if (auto extension = dyn_cast_or_null<arith::ExtUIOp>(made);
        extension && extension.getIn().getType().getIntOrFloatBitWidth() <= 8)
      return Range{0, (1 << extension.getIn().getType().getIntOrFloatBitWidth()) - 1};
    APInt mask;
    if (isa_and_nonnull<arith::AndIOp>(made) &&
        matchPattern(made->getOperand(1), m_ConstantInt(&mask)) && mask.isIntN(8))
      return Range{0, int64_t(mask.getZExtValue())};
    return std::nullopt;
  }
  return std::nullopt;
}

/// Of a number in the body of an op that makes weights, if it is an integer, as an integer of more than 8 bits or as a float of 32 or more.
/// Bytes have a sign only where they are widened.
std::optional<Range> rangeOf(linalg::LinalgOp op, Value value) {
  if (isa<FloatType>(value.getType()) && value.getType().getIntOrFloatBitWidth() < 32)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock() || argument.getArgNumber() >= op.getNumDpsInputs() ||
        !argument.getType().isInteger() || argument.getType().getIntOrFloatBitWidth() <= 8)
      return std::nullopt;
    return rangeOfElements(op->getOperand(argument.getArgNumber()));
  }
  Operation *made = value.getDefiningOp();
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)))
    return integer.isSignedIntN(32) ? exactly(integer.getSExtValue(), integer.getSExtValue())
                                    : std::nullopt;
  APFloat number(0.0F);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    APSInt exact(32, /*isUnsigned=*/false);
    bool isExact = false;
    if (number.convertToInteger(exact, APFloat::rmTowardZero, &isExact) != APFloat::opOK ||
        !isExact)
      return std::nullopt;
    return exactly(exact.getExtValue(), exact.getExtValue());
  }
  if (isa<arith::ExtSIOp, arith::SIToFPOp, arith::ExtUIOp, arith::UIToFPOp>(made)) {
    const bool isSigned = isa<arith::ExtSIOp, arith::SIToFPOp>(made);
    Value narrow = made->getOperand(0);
    if (const unsigned bits = narrow.getType().getIntOrFloatBitWidth();
        bits <= 8 && isa<BlockArgument>(narrow))
      return isSigned ? Range{-(1 << (bits - 1)), (1 << (bits - 1)) - 1}
                      : Range{0, (1 << bits) - 1};
    std::optional<Range> range = rangeOf(op, narrow);
    return range && (isSigned || range->least >= 0) ? range : std::nullopt;
  }
  const bool isSum = isa<arith::AddIOp, arith::AddFOp>(made);
  if (!isSum && !isa<arith::SubIOp, arith::SubFOp>(made))
    return std::nullopt;
  std::optional<Range> left = rangeOf(op, made->getOperand(0)),
                       right = rangeOf(op, made->getOperand(1));
  // Narrower integers wrap.
  if (!left || !right ||
      (value.getType().isInteger() && value.getType().getIntOrFloatBitWidth() < 32))
    return std::nullopt;
  return isSum ? exactly(left->least + right->least, left->most + right->most)
               : exactly(left->least - right->most, left->most - right->least);
}

/// What each weight is made of that is an integer of 8 bits: the narrow operand itself, or what a zero point leaves of it.
struct Stored {
  Value value;   // in the body
  bool isSigned; // as a byte; a narrow operand that is read as it is has what the body says
};

std::optional<Stored> storedOf(const Weights &weights) {
  linalg::LinalgOp op = weights.op;
  Value value = op.getBlock()->getArgument(weights.narrow);
  const bool isByte = value.getType().isInteger(8);
  std::optional<Stored> stored;
  if (isByte)
    stored = Stored{value, true};
  else if (std::optional<Range> range = rangeOf(op, value))
    stored = Stored{value, range->least < 0};
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user == op.getBlock()->getTerminator())
      break;
    value = user->getResult(0);
    std::optional<Range> range = rangeOf(op, value);
    if (!range)
      break;
    // What only widens a byte is not stored in its place: bytes are put in order without code.
    const bool isComputed = isa<arith::AddIOp, arith::AddFOp, arith::SubIOp, arith::SubFOp>(user);
    if (range->isOfBytes() && (isComputed || !isByte))
      stored = Stored{value, range->least < 0};
  }
  return stored;
}

/// Those ops of a body that a number of it needs, once `given` is there.
SetVector<Operation *> opsFor(linalg::LinalgOp op, Value number, Value given = {}) {
  SetVector<Operation *> needed;
  SmallVector<Value> open{number};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *made = next.getDefiningOp();
    if (next != given && made && made->getBlock() == op.getBlock() && needed.insert(made))
      llvm::append_range(open, made->getOperands());
  }
  return needed;
}

bool isUsedBy(Value element, const SetVector<Operation *> &ops) {
  return llvm::any_of(element.getUsers(), [&](Operation *user) { return ops.contains(user); });
}

void cloneInto(OpBuilder &builder, linalg::LinalgOp op, const SetVector<Operation *> &ops,
               IRMapping &mapping) {
  for (Operation &inner : op.getBlock()->without_terminator())
    if (ops.contains(&inner))
      builder.clone(inner, mapping);
}

/// A number of the body of an op that makes weights, for each of them, as a byte. The dimensions are its loops.
Value bytesOf(OpBuilder &builder, linalg::LinalgOp op, Value value) {
  const SetVector<Operation *> needed = opsFor(op, value);
  SmallVector<Value> inputs, elements;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value element = op.getMatchingBlockArgument(input);
    if (element != value && !isUsedBy(element, needed))
      continue;
    elements.push_back(element);
    inputs.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input));
  }
  maps.push_back(builder.getMultiDimIdentityMap(op.getNumLoops()));
  Value empty =
      tensor::EmptyOp::create(builder, op.getLoc(), op.getStaticLoopRanges(), builder.getI8Type());
  return linalg::GenericOp::create(
             builder, op.getLoc(), empty.getType(), inputs, empty, maps, op.getIteratorTypesArray(),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               IRMapping mapping;
               mapping.map(elements, arguments.drop_back());
               cloneInto(inside, op, needed, mapping);
               Value number = mapping.lookup(value);
               if (isa<FloatType>(number.getType()))
                 number = arith::FPToSIOp::create(inside, at, inside.getI32Type(), number);
               Value byte = arith::TruncIOp::create(inside, at, inside.getI8Type(), number);
               linalg::YieldOp::create(inside, at, byte);
             })
      .getResult(0);
}

/// The number that a byte is for.
Value widened(OpBuilder &builder, Location loc, Value byte, const Stored &stored) {
  Type type = stored.value.getType();
  if (isa<FloatType>(type))
    return stored.isSigned ? arith::SIToFPOp::create(builder, loc, type, byte).getResult()
                           : arith::UIToFPOp::create(builder, loc, type, byte).getResult();
  return stored.isSigned ? arith::ExtSIOp::create(builder, loc, type, byte).getResult()
                         : arith::ExtUIOp::create(builder, loc, type, byte).getResult();
}

/// A product of rows and weights as one that reads what these are made of. Its loops are those of the rows, panels, the columns of a
/// panel, and one or two along what is summed: blocks, and the weights of a block.
class NarrowProduct {
public:
  /// Nothing where the product stays as it is.
  static std::optional<NarrowProduct> of(linalg::LinalgOp op, const Product &product,
                                         const Host &host) {
    OpOperand &panel = op->getOpOperand(product.panel);
    auto panelType = cast<RankedTensorType>(panel.get().getType());
    auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
    const std::optional<int64_t> rows = iterations(op, product.rowLoops);
    if (product.columnLoops.size() != 1 || product.depthLoops.size() != 1 ||
        !product.batchLoops.empty() || (rows && *rows >= manyRows) || !panelType.hasStaticShape() ||
        panelType.getNumElements() < leastWeights || !resultType.getElementType().isF32())
      return std::nullopt;
    const std::optional<SmallVector<unsigned>> ofPanel = loopsOf(op.getMatchingIndexingMap(&panel));
    if (!ofPanel || ofPanel->size() != 2 ||
        !hasExtent(op, op->getOpOperand(product.rows), product.depthLoops[0]) ||
        !hasExtent(op, *op.getDpsInitOperand(0), product.column))
      return std::nullopt;
    const int64_t lanes = host.lanes(resultType), width = 2 * lanes;
    if (lanes == 1 || op.getStaticLoopRanges()[product.column] % width != 0)
      return std::nullopt;
    std::optional<Weights> weights = weightsOf(panel.get());
    if (!weights)
      return std::nullopt;
    std::optional<Stored> stored = storedOf(*weights);
    const bool isColumnFirst = (*ofPanel)[0] == product.column;
    const SmallVector<unsigned> &columns = weights->dimensions[isColumnFirst ? 0 : 1],
                                &depth = weights->dimensions[isColumnFirst ? 1 : 0];
    if (!stored || columns.size() != 1 || depth.empty() || depth.size() > 2 ||
        weights->op.getNumLoops() != 1 + depth.size())
      return std::nullopt;
    Value weight = weights->op.getBlock()->getTerminator()->getOperand(0);
    if (weight != stored->value &&
        !isUsedBy(stored->value, opsFor(weights->op, weight, stored->value)))
      return std::nullopt;
    // What is the same for a block of weights is read once for it.
    for (OpOperand *input : weights->op.getDpsInputOperands())
      if (input->getOperandNumber() != weights->narrow &&
          weights->op.getMatchingIndexingMap(input).isFunctionOfDim(depth.back()))
        return std::nullopt;
    return NarrowProduct(op, product, *weights, *stored, columns[0], depth, width);
  }

  /// Puts it in the place of the product, behind a reshape to the shape that that had.
  linalg::GenericOp rewrite() {
    OpBuilder builder(op);
    readRows(builder);
    readWeights(builder);
    const auto [type, groups] = writeResult();
    Value init = initOf(builder, type, groups);
    SmallVector<utils::IteratorType> kinds(panels + 2, utils::IteratorType::parallel);
    kinds.append(depth.size(), utils::IteratorType::reduction);
    auto narrow =
        linalg::GenericOp::create(builder, op.getLoc(), type, inputs, init, maps, kinds,
                                  [&](OpBuilder &inside, Location at, ValueRange arguments) {
                                    computeIn(inside, at, arguments);
                                  });
    narrow->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto result = tensor::CollapseShapeOp::create(builder, op.getLoc(), op->getResult(0).getType(),
                                                  narrow.getResult(0), groups);
    op->replaceAllUsesWith(result);
    op->erase();
    return narrow;
  }

private:
  NarrowProduct(linalg::LinalgOp op, const Product &product, const Weights &weights,
                const Stored &stored, unsigned column, ArrayRef<unsigned> depth, int64_t width)
      : op(op), product(product), source(weights.op), narrow(weights.narrow), stored(stored),
        column(column), depth(depth), width(width), panels(unsigned(product.rowLoops.size())) {
    for (auto [position, loop] : llvm::enumerate(product.rowLoops))
      rowPlaces[loop] = unsigned(position);
  }

  /// Is the operand a tensor with one index for each dimension, of which one is `loop`, along a known extent?
  static bool hasExtent(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    const std::optional<SmallVector<unsigned>> loops = loopsOf(op.getMatchingIndexingMap(&operand));
    return type && loops && llvm::is_contained(*loops, loop) &&
           !type.isDynamicDim(llvm::find(*loops, loop) - loops->begin());
  }

  AffineExpr loop(unsigned position) { return getAffineDimExpr(position, op.getContext()); }
  AffineExpr rowLoop(unsigned ofOp) { return loop(rowPlaces.lookup(ofOp)); }
  AffineExpr panelLoop() { return loop(panels); }
  AffineExpr columnLoop() { return loop(panels + 1); }
  AffineExpr depthLoop(unsigned position) { return loop(panels + 2 + position); }
  AffineMap mapOf(ArrayRef<AffineExpr> indices) {
    return AffineMap::get(panels + 2 + unsigned(depth.size()), 0, indices, op.getContext());
  }

  /// The operand without the columns, what is summed in blocks.
  void readRows(OpBuilder &builder) {
    OpOperand &operand = op->getOpOperand(product.rows);
    Value value = operand.get();
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<AffineExpr> indices;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    for (auto [dimension, each] : llvm::enumerate(*loopsOf(op.getMatchingIndexingMap(&operand)))) {
      groups.emplace_back();
      auto add = [&](AffineExpr index, int64_t extent) {
        groups.back().push_back(int64_t(shape.size()));
        indices.push_back(index);
        shape.push_back(extent);
      };
      if (each != product.depthLoops[0])
        add(rowLoop(each), type.getDimSize(int64_t(dimension)));
      else
        for (auto [position, part] : llvm::enumerate(depth))
          add(depthLoop(unsigned(position)), source.getStaticLoopRanges()[part]);
    }
    if (depth.size() > 1)
      value = tensor::ExpandShapeOp::create(
          builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()), value, groups);
    inputs.push_back(value);
    maps.push_back(mapOf(indices));
  }

  /// What is stored of each weight, and what else makes it.
  void readWeights(OpBuilder &builder) {
    auto read = [&](Value element, Value value, ArrayRef<unsigned> loops) {
      elements.push_back(element);
      auto [arranged, map] = arrange(builder, value, loops);
      inputs.push_back(arranged);
      maps.push_back(map);
    };
    OpOperand &given = source->getOpOperand(narrow);
    if (isAsGiven())
      read(stored.value, given.get(), *loopsOf(source.getMatchingIndexingMap(&given)));
    else
      read(stored.value, bytesOf(builder, source, stored.value),
           llvm::to_vector(llvm::seq<unsigned>(0, source.getNumLoops())));
    const SetVector<Operation *> behind = opsFor(source, weight(), stored.value);
    for (OpOperand *input : source.getDpsInputOperands())
      if (Value element = source.getMatchingBlockArgument(input);
          input != &given && isUsedBy(element, behind))
        read(element, input->get(), *loopsOf(source.getMatchingIndexingMap(input)));
  }

  /// What is indexed by some loops of the op that makes weights, with its panels outermost and their columns innermost.
  std::pair<Value, AffineMap> arrange(OpBuilder &builder, Value value, ArrayRef<unsigned> loops) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    std::optional<int64_t> outer, inner;
    SmallVector<std::optional<int64_t>> depths(depth.size());
    for (auto [dimension, each] : llvm::enumerate(loops)) {
      const int64_t extent = type.getDimSize(int64_t(dimension));
      groups.push_back({int64_t(shape.size())});
      if (each != column) {
        depths[size_t(llvm::find(depth, each) - depth.begin())] = int64_t(shape.size());
        shape.push_back(extent);
        continue;
      }
      outer = int64_t(shape.size());
      inner = *outer + 1;
      groups.back().push_back(*inner);
      shape.append({extent / width, width});
    }
    SmallVector<int64_t> order;
    SmallVector<AffineExpr> indices;
    auto add = [&](std::optional<int64_t> dimension, AffineExpr index) {
      if (!dimension)
        return;
      order.push_back(*dimension);
      indices.push_back(index);
    };
    add(outer, panelLoop());
    for (auto [position, dimension] : llvm::enumerate(depths))
      add(dimension, depthLoop(unsigned(position)));
    add(inner, columnLoop());
    if (inner)
      value = tensor::ExpandShapeOp::create(
          builder, loc, RankedTensorType::get(shape, type.getElementType()), value, groups);
    if (!llvm::is_sorted(order)) {
      SmallVector<int64_t> extents;
      for (int64_t dimension : order)
        extents.push_back(shape[size_t(dimension)]);
      Value empty = tensor::EmptyOp::create(builder, loc, extents, type.getElementType());
      value = linalg::TransposeOp::create(builder, loc, value, empty, order)->getResult(0);
    }
    return {value, mapOf(indices)};
  }

  /// The shape of the result with panels and their columns apart, and how the dimensions that it had are made of that.
  std::pair<RankedTensorType, SmallVector<ReassociationIndices>> writeResult() {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<AffineExpr> indices;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    for (auto [dimension, each] :
         llvm::enumerate(*loopsOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0))))) {
      const int64_t extent = type.getDimSize(int64_t(dimension));
      groups.push_back({int64_t(shape.size())});
      if (each != product.column) {
        indices.push_back(rowLoop(each));
        shape.push_back(extent);
        continue;
      }
      groups.back().push_back(int64_t(shape.size()) + 1);
      indices.append({panelLoop(), columnLoop()});
      shape.append({extent / width, width});
    }
    maps.push_back(mapOf(indices));
    return {RankedTensorType::get(shape, type.getElementType()), groups};
  }

  /// What the product starts from, in the shape of `type`.
  Value initOf(OpBuilder &builder, RankedTensorType type, ArrayRef<ReassociationIndices> groups) {
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

  void computeIn(OpBuilder &builder, Location loc, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(elements, arguments.drop_front().drop_back());
    if (!isAsGiven())
      mapping.map(stored.value, widened(builder, loc, arguments[1], stored));
    cloneInto(builder, source, opsFor(source, weight(), stored.value), mapping);
    mapping.map(op.getBlock()->getArgument(product.panel), mapping.lookupOrDefault(weight()));
    mapping.map(op.getBlock()->getArgument(product.rows), arguments.front());
    mapping.map(op.getRegionOutputArgs()[0], arguments.back());
    for (Operation &inner : *op.getBlock())
      builder.clone(inner, mapping);
  }

  bool isAsGiven() { return stored.value.getType().isInteger(8); }
  Value weight() { return source.getBlock()->getTerminator()->getOperand(0); }

  linalg::LinalgOp op;
  Product product;
  linalg::LinalgOp source; // makes the weights
  unsigned narrow;         // its operand with an integer for each
  Stored stored;
  unsigned column;             // its loop along the columns
  SmallVector<unsigned> depth; // its loops along what is summed
  int64_t width;               // columns of a panel
  unsigned panels;             // the loop of panels, behind those of the rows
  llvm::SmallDenseMap<unsigned, unsigned> rowPlaces;

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<Value> elements; // of the body of `source`, for each input but the rows
};

struct KeepQuantized : plim::ir::impl::PlimKeepQuantizedBase<KeepQuantized> {
  void runOnOperation() override {
    const Host host = hostOf(getOperation());
    FixedValues fixed(getOperation());
    SmallVector<NarrowProduct, 0> products;
    SmallVector<func::FuncOp> functions; // those with some
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr)) // nothing is computed once for those
        continue;
      const size_t before = products.size();
      function.walk([&](linalg::LinalgOp op) {
        if (!op.hasPureTensorSemantics() || op->hasAttr(deviceAttr) ||
            llvm::any_of(op.getDpsInits(), constrainedAllocation))
          return;
        const std::optional<Product> product = productOf(op);
        if (!product || !fixed.isFixed(op->getOperand(product->panel)) || fixed.isFixed(op))
          return;
        if (std::optional<NarrowProduct> narrow = NarrowProduct::of(op, *product, host))
          products.push_back(std::move(*narrow));
      });
      if (products.size() > before)
        functions.push_back(function);
    }
    llvm::SmallPtrSet<Operation *, 8> narrow;
    for (NarrowProduct &product : products)
      narrow.insert(product.rewrite());
    kept += products.size();
    for (func::FuncOp function : functions)
      if (failed(sinkReshapes(function, narrow)))
        return signalPassFailure();
  }

  /// Elementwise ops behind such products, and behind each other, take the shape of what they read, so that they can be fused with it.
  LogicalResult sinkReshapes(func::FuncOp function,
                             const llvm::SmallPtrSetImpl<Operation *> &narrow) {
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
      auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
      if (!consumer || !reshape || !makesElements(consumer) || hasPinnedResult(consumer))
        return false;
      auto producer = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
      return producer && (makesElements(producer) || narrow.contains(producer));
    });
    return applySoundPatterns(function, std::move(patterns));
  }
};

} // namespace
