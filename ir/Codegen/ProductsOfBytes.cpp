// Products of quantised weights whose rows are rounded to bytes. For each block of the reduction
// with a scale of its own,
//
//   sum(x * (w - zero) * scale) ~ (sum(q * u) - (zero - least) * sum(q)) * (scale * step)
//
// where `u = w - least` has no sign, `step` is the largest |x| of the block by 127, and `q =
// round(x / step)`. Processors add four products of such bytes at a time (`plim.dot_groups`), or
// two of 16 bits. Weights of 2 and 4 bits lie in words of 32, and take a shift and a mask for each
// group.
#include "ir/Codegen/QuantizedProducts.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// The most weights of a block that the body of a product has written out: registers hold the
/// groups of a vector of columns.
constexpr int64_t longestBlock = 64;

/// Bits of the integers that the host multiplies and adds in groups; 0 where it has no instruction.
unsigned bitsOfGroups(ModuleOp module) {
  for (unsigned bits : {8U, 16U})
    if (widthOfDotGroups(module, IntegerType::get(module.getContext(), bits)) != 0)
      return bits;
  return 0;
}

/// The longest block of weights, of at most `longestBlock`, that divides `size` and fills words; 0
/// if there is none.
int64_t blockOf(int64_t size, int64_t inWord) {
  for (int64_t block = longestBlock; block >= inWord; block -= inWord)
    if (size % block == 0)
      return block;
  return 0;
}

Value integer(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, int32_t(uint32_t(value)), 32);
}

Value number(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantFloatOp::create(builder, loc, builder.getF32Type(), APFloat(value));
}

Value asFloat(OpBuilder &builder, Location loc, Value value) {
  return isa<FloatType>(value.getType())
             ? value
             : arith::SIToFPOp::create(builder, loc, builder.getF32Type(), value).getResult();
}

/// The elements of an op's body to one.
using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// An op that makes a tensor with a loop for each of its dimensions.
Value elementwise(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes, Type element,
                  ValueRange inputs, ArrayRef<AffineMap> inputMaps, Body body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(unsigned(sizes.size())));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), inputs, empty, maps,
             SmallVector<utils::IteratorType>(sizes.size(), utils::IteratorType::parallel),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inside, at, body(inside, at, arguments.drop_back()));
             })
      .getResult(0);
}

/// Reduces a dimension; the body has an element and what there is of the result.
Value reduce(OpBuilder &builder, Location loc, Value value, unsigned dimension, Value init,
             Body body) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  const AffineMap whole = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
  SmallVector<utils::IteratorType> kinds(sizes.size(), utils::IteratorType::parallel);
  kinds[dimension] = utils::IteratorType::reduction;
  sizes.erase(sizes.begin() + dimension);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, init.getType());
  Value fill = linalg::FillOp::create(builder, loc, init, empty).getResult(0);
  return linalg::GenericOp::create(
             builder, loc, fill.getType(), value, fill, {whole, whole.dropResult(dimension)}, kinds,
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inside, at, body(inside, at, arguments));
             })
      .getResult(0);
}

/// Words of `count` elements each that lie one after the other along a dimension. The body has
/// these, and an element of `other`, if there is one, which lacks the dimension.
Value wordsOf(OpBuilder &builder, Location loc, Value value, unsigned dimension, int64_t count,
              Value other, Body body) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  const int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dimension);
  sizes[dimension] = builder.getIndexAttr(extent / count);
  const AffineMap whole = builder.getMultiDimIdentityMap(unsigned(sizes.size()));
  SmallVector<Value> inputs(size_t(count), value);
  SmallVector<AffineMap> maps;
  for (int64_t element = 0; element < count; ++element) {
    SmallVector<AffineExpr> indices(whole.getResults());
    indices[dimension] = indices[dimension] * count + element;
    maps.push_back(AffineMap::get(whole.getNumDims(), 0, indices, builder.getContext()));
  }
  if (other) {
    inputs.push_back(other);
    maps.push_back(whole.dropResult(dimension));
  }
  return elementwise(builder, loc, sizes, builder.getI32Type(), inputs, maps, body);
}

class ProductOfBytes final : public QuantizedProduct {
public:
  ProductOfBytes(linalg::LinalgOp op, const Product &product, QuantizedWeights weights,
                 int64_t width, const ScaledWeight &scaled, unsigned groupBits, int64_t block)
      : QuantizedProduct(op, product, std::move(weights), width), scaled(scaled),
        groupBits(groupBits), block(block) {
    // Blocks with a scale are loops of the product as they are, or in shorter ones.
    sums = depth.size() > 1 && extentOf(depth.back()) > block ? 2 : 1;
  }

private:
  int64_t inGroup() const { return 32 / groupBits; }
  int64_t inWord() const { return 32 / scaled.bits; }
  bool isShifted() const { return scaled.zero || scaled.least != 0; }
  /// Does a loop of the product go along blocks shorter than those with a scale?
  bool hasShortBlocks() { return sums == 2 || depth.size() == 1; }

  void readRows(OpBuilder &builder) override {
    const Location loc = op.getLoc();
    SmallVector<int64_t> parts;
    if (depth.size() > 1)
      parts.push_back(extentOf(depth.front()));
    if (hasShortBlocks())
      parts.push_back(extentOf(depth.back()) / block);
    parts.push_back(block);
    const Parts rows = rowsInParts(builder, parts);
    const unsigned inner = rows.first + sums;
    SmallVector<AffineExpr> indices; // of a block
    for (auto [dimension, loop] : llvm::enumerate(rows.loops))
      if (dimension != inner)
        indices.push_back(loop ? rowLoop(*loop) : sumLoop(unsigned(dimension) - rows.first));

    Value largest = reduce(builder, loc, rows.value, inner, number(builder, loc, 0),
                           [](OpBuilder &inside, Location at, ValueRange in) -> Value {
                             Value magnitude = math::AbsFOp::create(inside, at, in[0]);
                             return arith::MaximumFOp::create(inside, at, in[1], magnitude);
                           });
    const SmallVector<OpFoldResult> blocks = tensor::getMixedSizes(builder, loc, largest);
    const AffineMap each = builder.getMultiDimIdentityMap(unsigned(blocks.size()));
    auto ofLargest = [&](Body body) {
      return elementwise(builder, loc, blocks, builder.getF32Type(), largest, each, body);
    };
    Value steps = ofLargest([](OpBuilder &inside, Location at, ValueRange in) -> Value {
      return arith::DivFOp::create(inside, at, in[0], number(inside, at, 127));
    });
    // By 127 apart: the quotient of both overflows for rows that are small, but no denormal numbers.
    // Those count as zero.
    Value inverse = ofLargest([](OpBuilder &inside, Location at, ValueRange in) -> Value {
      const APFloat normal = APFloat::getSmallestNormalized(APFloat::IEEEsingle());
      Value isNormal = arith::CmpFOp::create(inside, at, arith::CmpFPredicate::OGE, in[0],
                                             number(inside, at, normal.convertToFloat()));
      Value quotient = arith::DivFOp::create(inside, at, number(inside, at, 1), in[0]);
      return arith::SelectOp::create(inside, at, isNormal, quotient, number(inside, at, 0));
    });
    Value groups = wordsOf(
        builder, loc, rows.value, inner, inGroup(), inverse,
        [&](OpBuilder &inside, Location at, ValueRange in) {
          Value group;
          for (auto [position, x] : llvm::enumerate(in.drop_back())) {
            Value inSteps = arith::MulFOp::create(
                inside, at, arith::MulFOp::create(inside, at, x, in.back()).getResult(),
                number(inside, at, 127));
            Value rounded = math::RoundEvenOp::create(inside, at, inSteps);
            rounded = arith::FPToSIOp::create(inside, at, inside.getI32Type(), rounded);
            group = joined(inside, at, group, rounded, groupBits, groupBits * int64_t(position));
          }
          return group;
        });
    for (int64_t group = 0; group < block / inGroup(); ++group)
      readPart(groups, indices, inner, group);
    readApart(steps, indices);
    if (!isShifted())
      return;
    Value sum =
        reduce(builder, loc, groups, inner, integer(builder, loc, 0),
               [&](OpBuilder &inside, Location at, ValueRange in) -> Value {
                 Value ones = integer(inside, at, inEach(1));
                 return DotGroupsOp::create(inside, at, ones, in[0], in[1], groupType(inside));
               });
    readApart(sum, indices);
  }

  void readWeights(OpBuilder &builder) override {
    const Location loc = op.getLoc();
    auto [numbers, indices] = arrangeNumbers(builder, scaled.number);
    const auto inner = unsigned(indices.size()) - 2; // in front of the columns
    Value words = wordsOf(
        builder, loc, numbers, inner, inWord(), {},
        [&](OpBuilder &inside, Location at, ValueRange in) {
          Value word;
          for (auto [position, given] : llvm::enumerate(in)) {
            Value rest =
                scaled.least < 0
                    ? arith::ExtSIOp::create(inside, at, inside.getI32Type(), given).getResult()
                    : arith::ExtUIOp::create(inside, at, inside.getI32Type(), given);
            if (scaled.least != 0)
              rest = arith::SubIOp::create(inside, at, rest, integer(inside, at, scaled.least));
            const auto group = int64_t(position) / inGroup(), place = int64_t(position) % inGroup();
            word = joined(inside, at, word, rest, scaled.bits,
                          groupBits * place + scaled.bits * group);
          }
          return word;
        });
    SmallVector<AffineExpr> ofWords(indices);
    ofWords.erase(ofWords.begin() + inner);
    if (hasShortBlocks()) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(words.getType()).getShape());
      SmallVector<ReassociationIndices> dimensions;
      for (int64_t dimension = 0; dimension < int64_t(shape.size()); ++dimension)
        dimensions.push_back({dimension + (dimension > inner ? 1 : 0)});
      dimensions[inner].push_back(inner + 1);
      shape[inner] = shape[inner] * inWord() / block;
      shape.insert(shape.begin() + inner + 1, block / inWord());
      words = tensor::ExpandShapeOp::create(
          builder, loc, RankedTensorType::get(shape, builder.getI32Type()), words, dimensions);
      ofWords.insert(ofWords.begin() + inner, sumLoop(sums - 1));
    }
    for (int64_t word = 0; word < block / inWord(); ++word)
      readPart(words, ofWords, unsigned(ofWords.size()) - 1, word);
    readOthers(builder, shared(), {scaled.scale, scaled.zero});
  }

  void computeIn(OpBuilder &builder, Location loc, ValueRange arguments) override {
    auto take = [&](int64_t count) {
      ValueRange taken = arguments.take_front(size_t(count));
      arguments = arguments.drop_front(size_t(count));
      return taken;
    };
    const ValueRange rows = take(block / inGroup());
    Value step = take(1).front(), sumOfRows;
    if (isShifted())
      sumOfRows = take(1).front();
    const ValueRange words = take(block / inWord());
    IRMapping mapping;
    mapping.map(elements, arguments.drop_back());
    cloneInto(builder, source, shared(), mapping);

    Value dot = integer(builder, loc, 0);
    const int64_t groups = inWord() / inGroup();
    for (auto [position, row] : llvm::enumerate(rows)) {
      Value group = words[position / size_t(groups)];
      const int64_t place = int64_t(position) % groups;
      if (place > 0)
        group = arith::ShRUIOp::create(builder, loc, group,
                                       integer(builder, loc, place * int64_t(scaled.bits)));
      if (groups > 1)
        group = arith::AndIOp::create(builder, loc, group,
                                      integer(builder, loc, inEach(ones(scaled.bits))));
      dot = DotGroupsOp::create(builder, loc, group, row, dot, groupType(builder));
    }
    Value sum = asFloat(builder, loc, dot);
    if (isShifted()) {
      Value zero = number(builder, loc, 0);
      if (scaled.zero)
        zero = asFloat(builder, loc, mapping.lookupOrDefault(scaled.zero));
      if (scaled.addsZero)
        zero = arith::NegFOp::create(builder, loc, zero);
      if (scaled.least != 0)
        zero = arith::SubFOp::create(builder, loc, zero, number(builder, loc, float(scaled.least)));
      Value less = arith::MulFOp::create(builder, loc, asFloat(builder, loc, sumOfRows), zero);
      sum = arith::SubFOp::create(builder, loc, sum, less);
    }
    Value scale = arith::MulFOp::create(builder, loc, step, mapping.lookupOrDefault(scaled.scale));
    sum = arith::MulFOp::create(builder, loc, sum, scale);
    sum = arith::AddFOp::create(builder, loc, arguments.back(), sum);
    linalg::YieldOp::create(builder, loc, sum);
  }

  /// Reads what is made for all columns, in a dispatch of its own: those of the product are many.
  void readApart(Value value, ArrayRef<AffineExpr> indices) {
    value.getDefiningOp()->setAttr(splitAttr, UnitAttr::get(value.getContext()));
    read(value, indices);
  }

  /// Reads one place of a dimension of `value`, which has the others' indices.
  void readPart(Value value, ArrayRef<AffineExpr> others, unsigned dimension, int64_t place) {
    SmallVector<AffineExpr> indices(others);
    indices.insert(indices.begin() + dimension, getAffineConstantExpr(place, value.getContext()));
    read(value, indices);
  }

  /// What the body needs for a scale and a zero point.
  SetVector<Operation *> shared() {
    SmallVector<Value> values{scaled.scale};
    if (scaled.zero)
      values.push_back(scaled.zero);
    return opsFor(source, values);
  }

  /// `word`, null where it is the first part, with the low bits of `part` at a place where it has
  /// none.
  static Value joined(OpBuilder &builder, Location loc, Value word, Value part, int64_t bits,
                      int64_t place) {
    if (bits + place < 32)
      part = arith::AndIOp::create(builder, loc, part, integer(builder, loc, ones(bits)));
    if (place > 0)
      part = arith::ShLIOp::create(builder, loc, part, integer(builder, loc, place));
    return word ? arith::OrIOp::create(builder, loc, word, part).getResult() : part;
  }

  static int64_t ones(int64_t bits) { return (int64_t(1) << bits) - 1; }
  /// A group with the same bits in each number.
  int64_t inEach(int64_t bits) const {
    int64_t group = 0;
    for (int64_t place = 0; place < 32; place += groupBits)
      group |= bits << place;
    return group;
  }
  Type groupType(OpBuilder &builder) const { return builder.getIntegerType(groupBits); }

  ScaledWeight scaled;
  unsigned groupBits; // of a number in a group
  int64_t block;      // weights that a body has written out
};

} // namespace

std::unique_ptr<QuantizedProduct> plim::ir::productOfBytes(linalg::LinalgOp op,
                                                           const Product &product,
                                                           QuantizedWeights weights,
                                                           int64_t width) {
  const unsigned groupBits = bitsOfGroups(op->getParentOfType<ModuleOp>());
  const std::optional<ScaledWeight> scaled = scaledWeightOf(weights);
  if (groupBits == 0 || !scaled ||
      !getElementTypeOrSelf(op->getOperand(product.rows).getType()).isF32() ||
      !linalg::isaContractionOpInterface(op))
    return nullptr;
  const int64_t size =
      linalg::LinalgOp(weights.op).getStaticLoopRanges()[weights.dimensions[1].back()];
  const int64_t block = blockOf(size, 32 / scaled->bits);
  if (block == 0)
    return nullptr;
  return std::make_unique<ProductOfBytes>(op, product, weights, width, *scaled, groupBits, block);
}
