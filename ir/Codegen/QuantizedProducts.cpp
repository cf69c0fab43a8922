#include "ir/Codegen/QuantizedProducts.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Rows of a product from which on its weights are worth their memory as floats: panels of those
/// are multiplied with blocks of rows.
constexpr int64_t manyRows = 64;
/// Fewer weights stay in the caches in any case.
constexpr int64_t leastWeights = int64_t(1) << 14;

/// Is the operand a tensor with one index for each dimension, of which one is `loop`, along a known
/// extent?
bool hasExtent(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  const std::optional<SmallVector<unsigned>> loops = loopsOf(op.getMatchingIndexingMap(&operand));
  return type && loops && llvm::is_contained(*loops, loop) &&
         !type.isDynamicDim(llvm::find(*loops, loop) - loops->begin());
}

/// The number that a byte is for.
Value widened(OpBuilder &builder, Location loc, Value byte, const StoredWeight &stored) {
  Type type = stored.value.getType();
  if (isa<FloatType>(type))
    return stored.isSigned ? arith::SIToFPOp::create(builder, loc, type, byte).getResult()
                           : arith::UIToFPOp::create(builder, loc, type, byte).getResult();
  return stored.isSigned ? arith::ExtSIOp::create(builder, loc, type, byte).getResult()
                         : arith::ExtUIOp::create(builder, loc, type, byte).getResult();
}

/// Makes floats of the integers, in the order of the source.
class ProductOfFloats final : public QuantizedProduct {
public:
  ProductOfFloats(linalg::LinalgOp op, const Product &product, QuantizedWeights weights,
                  int64_t width, const StoredWeight &stored)
      : QuantizedProduct(op, product, std::move(weights), width), stored(stored) {}

private:
  void readRows(OpBuilder &builder) override {
    SmallVector<int64_t> parts;
    for (unsigned part : depth)
      parts.push_back(extentOf(part));
    const Parts rows = rowsInParts(builder, parts);
    SmallVector<AffineExpr> indices;
    for (auto [dimension, loop] : llvm::enumerate(rows.loops))
      indices.push_back(loop ? rowLoop(*loop) : sumLoop(unsigned(dimension) - rows.first));
    read(rows.value, indices);
  }

  void readWeights(OpBuilder &builder) override {
    auto [value, indices] = arrangeNumbers(builder, stored.value);
    read(value, indices);
    readOthers(builder, opsFor(source, weights.weight(), stored.value));
  }

  void computeIn(OpBuilder &builder, Location loc, ValueRange arguments) override {
    IRMapping mapping;
    mapping.map(stored.value,
                isAsGiven() ? arguments[1] : widened(builder, loc, arguments[1], stored));
    mapping.map(elements, arguments.drop_front(2).drop_back());
    cloneInto(builder, source, opsFor(source, weights.weight(), stored.value), mapping);
    mapping.map(op.getBlock()->getArgument(product.panel),
                mapping.lookupOrDefault(weights.weight()));
    mapping.map(op.getBlock()->getArgument(product.rows), arguments.front());
    mapping.map(op.getRegionOutputArgs()[0], arguments.back());
    for (Operation &inner : *op.getBlock())
      builder.clone(inner, mapping);
  }

  bool isAsGiven() const { return stored.value.getType().isInteger(8); }

  StoredWeight stored;
};

} // namespace

std::unique_ptr<QuantizedProduct> QuantizedProduct::of(linalg::LinalgOp op, const Product &product,
                                                       const Host &host, bool strict) {
  OpOperand &panel = op->getOpOperand(product.panel);
  auto panelType = cast<RankedTensorType>(panel.get().getType());
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  if (product.columnLoops.size() != 1 || product.depthLoops.size() != 1 ||
      !product.batchLoops.empty() || !panelType.hasStaticShape() ||
      panelType.getNumElements() < leastWeights || !resultType.getElementType().isF32())
    return nullptr;
  const std::optional<SmallVector<unsigned>> ofPanel = loopsOf(op.getMatchingIndexingMap(&panel));
  if (!ofPanel || ofPanel->size() != 2 ||
      !hasExtent(op, op->getOpOperand(product.rows), product.depthLoops[0]) ||
      !hasExtent(op, *op.getDpsInitOperand(0), product.column))
    return nullptr;
  const int64_t lanes = host.lanes(resultType), width = 2 * lanes;
  if (lanes == 1 || op.getStaticLoopRanges()[product.column] % width != 0)
    return nullptr;
  std::optional<QuantizedWeights> weights = quantizedWeightsOf(panel.get());
  if (!weights)
    return nullptr;
  if ((*ofPanel)[0] != product.column) // columns first
    std::swap(weights->dimensions[0], weights->dimensions[1]);
  const SmallVector<unsigned> &columns = weights->dimensions[0], &depth = weights->dimensions[1];
  if (columns.size() != 1 || depth.empty() || depth.size() > 2 ||
      weights->op.getNumLoops() != 1 + depth.size())
    return nullptr;
  // What is the same for a block of weights is read once for it.
  for (OpOperand *input : weights->op.getDpsInputOperands())
    if (input->getOperandNumber() != weights->narrow &&
        weights->op.getMatchingIndexingMap(input).isFunctionOfDim(depth.back()))
      return nullptr;
  if (!strict && llvm::any_of(op.getBlock()->getOps<arith::MulFOp>(), [](arith::MulFOp factors) {
        return factors->hasAttr(roundRowsAttr);
      }))
    if (std::unique_ptr<QuantizedProduct> bytes = productOfBytes(op, product, *weights, width))
      return bytes;
  const std::optional<int64_t> rows = iterations(op, product.rowLoops);
  if (rows && *rows >= manyRows)
    return nullptr;
  return productOfFloats(op, product, *weights, width);
}

std::unique_ptr<QuantizedProduct> plim::ir::productOfFloats(linalg::LinalgOp op,
                                                            const Product &product,
                                                            QuantizedWeights weights,
                                                            int64_t width) {
  std::optional<StoredWeight> stored = storedWeightOf(weights);
  if (!stored || (weights.weight() != stored->value &&
                  !isUsedBy(stored->value, opsFor(weights.op, weights.weight(), stored->value))))
    return nullptr;
  return std::make_unique<ProductOfFloats>(op, product, weights, width, *stored);
}

QuantizedProduct::QuantizedProduct(linalg::LinalgOp op, const Product &product,
                                   QuantizedWeights weights, int64_t width)
    : op(op), product(product), weights(std::move(weights)), source(this->weights.op),
      column(this->weights.dimensions[0][0]), depth(this->weights.dimensions[1]), width(width),
      panels(unsigned(product.rowLoops.size())), sums(unsigned(depth.size())) {
  for (auto [position, loop] : llvm::enumerate(product.rowLoops))
    rowPlaces[loop] = unsigned(position);
}

linalg::GenericOp QuantizedProduct::rewrite() {
  OpBuilder builder(op);
  readRows(builder);
  readWeights(builder);
  const auto [type, groups] = writeResult();
  Value init = initOf(builder, type, groups);
  SmallVector<utils::IteratorType> kinds(panels + 2, utils::IteratorType::parallel);
  kinds.append(sums, utils::IteratorType::reduction);
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

AffineExpr QuantizedProduct::loop(unsigned position) {
  return getAffineDimExpr(position, source.getContext());
}

AffineMap QuantizedProduct::mapOf(ArrayRef<AffineExpr> indices) {
  return AffineMap::get(panels + 2 + sums, 0, indices, source.getContext());
}

void QuantizedProduct::read(Value value, ArrayRef<AffineExpr> indices) {
  inputs.push_back(value);
  maps.push_back(mapOf(indices));
}

QuantizedProduct::Parts QuantizedProduct::rowsInParts(OpBuilder &builder, ArrayRef<int64_t> parts) {
  OpOperand &operand = op->getOpOperand(product.rows);
  auto type = cast<RankedTensorType>(operand.get().getType());
  Parts rows{operand.get(), {}, 0};
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  for (auto [dimension, each] : llvm::enumerate(*loopsOf(op.getMatchingIndexingMap(&operand)))) {
    groups.emplace_back();
    auto add = [&](std::optional<unsigned> loop, int64_t extent) {
      groups.back().push_back(int64_t(shape.size()));
      rows.loops.push_back(loop);
      shape.push_back(extent);
    };
    if (each != product.depthLoops[0]) {
      add(each, type.getDimSize(int64_t(dimension)));
      continue;
    }
    rows.first = unsigned(shape.size());
    for (int64_t part : parts)
      add(std::nullopt, part);
  }
  if (parts.size() > 1)
    rows.value = tensor::ExpandShapeOp::create(builder, op.getLoc(),
                                               RankedTensorType::get(shape, type.getElementType()),
                                               rows.value, groups);
  return rows;
}

Value QuantizedProduct::bytesOf(OpBuilder &builder, Value value) {
  const SetVector<Operation *> needed = opsFor(source, value);
  SmallVector<Value> inputs, elements;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : source.getDpsInputOperands()) {
    Value element = source.getMatchingBlockArgument(input);
    if (element != value && !isUsedBy(element, needed))
      continue;
    elements.push_back(element);
    inputs.push_back(input->get());
    maps.push_back(source.getMatchingIndexingMap(input));
  }
  maps.push_back(builder.getMultiDimIdentityMap(source.getNumLoops()));
  Value empty = tensor::EmptyOp::create(builder, source.getLoc(), source.getStaticLoopRanges(),
                                        builder.getI8Type());
  return linalg::GenericOp::create(
             builder, source.getLoc(), empty.getType(), inputs, empty, maps,
             source.getIteratorTypesArray(),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               IRMapping mapping;
               mapping.map(elements, arguments.drop_back());
               cloneInto(inside, source, needed, mapping);
               Value number = mapping.lookup(value);
               if (isa<FloatType>(number.getType()))
                 number = arith::FPToSIOp::create(inside, at, inside.getI32Type(), number);
               Value byte = arith::TruncIOp::create(inside, at, inside.getI8Type(), number);
               linalg::YieldOp::create(inside, at, byte);
             })
      .getResult(0);
}

std::pair<Value, SmallVector<AffineExpr>> QuantizedProduct::arrangeNumbers(OpBuilder &builder,
                                                                           Value number) {
  OpOperand &given = source->getOpOperand(weights.narrow);
  if (number == weights.number() && number.getType().getIntOrFloatBitWidth() <= 8)
    return arrange(builder, given.get(), *loopsOf(source.getMatchingIndexingMap(&given)));
  return arrange(builder, bytesOf(builder, number),
                 llvm::to_vector(llvm::seq<unsigned>(0, source.getNumLoops())));
}

void QuantizedProduct::readOthers(OpBuilder &builder, const SetVector<Operation *> &ops,
                                  ValueRange values) {
  for (OpOperand *input : source.getDpsInputOperands()) {
    Value element = source.getMatchingBlockArgument(input);
    if (input->getOperandNumber() == weights.narrow ||
        (!isUsedBy(element, ops) && !llvm::is_contained(values, element)))
      continue;
    elements.push_back(element);
    auto [value, indices] =
        arrange(builder, input->get(), *loopsOf(source.getMatchingIndexingMap(input)));
    read(value, indices);
  }
}

std::pair<Value, SmallVector<AffineExpr>> QuantizedProduct::arrange(OpBuilder &builder, Value value,
                                                                    ArrayRef<unsigned> loops) {
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
    add(dimension, sumLoop(unsigned(position)));
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
  return {value, indices};
}

std::pair<RankedTensorType, SmallVector<ReassociationIndices>> QuantizedProduct::writeResult() {
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

Value QuantizedProduct::initOf(OpBuilder &builder, RankedTensorType type,
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
