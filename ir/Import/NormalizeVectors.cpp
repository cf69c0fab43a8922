#include "ir/Import/NormalizeVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using vector::CombiningKind;

namespace {

/// What `kind` ignores, of the type of the elements of `type`.
TypedAttr neutralElement(Builder &builder, CombiningKind kind, Type type) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (kind) {
    case CombiningKind::ADD: // 0 + -0 is 0.
      return builder.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    case CombiningKind::MUL:
      return builder.getFloatAttr(type, APFloat::getOne(semantics));
    case CombiningKind::MINIMUMF:
      return builder.getFloatAttr(type, APFloat::getInf(semantics));
    case CombiningKind::MAXIMUMF:
      return builder.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    default: // minnum and maxnum
      return builder.getFloatAttr(type, APFloat::getQNaN(semantics));
    }
  }
  unsigned width =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  switch (kind) {
  case CombiningKind::MUL:
    return builder.getIntegerAttr(type, APInt(width, 1));
  case CombiningKind::AND:
  case CombiningKind::MINUI:
    return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  case CombiningKind::MINSI:
    return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  case CombiningKind::MAXSI:
    return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
  default: // addition, or, xor, maxui
    return builder.getIntegerAttr(type, APInt::getZero(width));
  }
}

Value keepLanes(ImplicitLocOpBuilder &b, Value mask, Value source, CombiningKind kind) {
  auto type = cast<VectorType>(source.getType());
  Attribute neutral = neutralElement(b, kind, type.getElementType());
  Value others = arith::ConstantOp::create(b, DenseElementsAttr::get(type, neutral));
  return arith::SelectOp::create(b, mask, source, others);
}

Value transpose(ImplicitLocOpBuilder &b, Value vector, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, int64_t(permutation.size()))))
    return vector;
  return vector::TransposeOp::create(b, vector, permutation);
}

/// Where each of `values`, of which no two are equal, is when they are sorted; and the way back.
struct Order {
  explicit Order(ArrayRef<int64_t> values)
      : sorted(llvm::to_vector(llvm::seq<int64_t>(0, int64_t(values.size())))) {
    llvm::sort(sorted, [&](int64_t a, int64_t b) { return values[size_t(a)] < values[size_t(b)]; });
    back.resize(values.size());
    for (auto [place, of] : llvm::enumerate(sorted))
      back[size_t(of)] = int64_t(place);
  }
  SmallVector<int64_t> sorted, back;
};

/// The mask of a read, which goes along the memory, along the vector that it makes.
Value asRead(ImplicitLocOpBuilder &b, Value mask, vector::TransferReadOp op) {
  VectorType type = op.getVectorType();
  if (type.getRank() == 0)
    return vector::ExtractOp::create(b, mask, 0);
  auto from = [&](int64_t dim) { // of the memory; what is repeated is of none
    auto named = dyn_cast<AffineDimExpr>(op.getPermutationMap().getResult(unsigned(dim)));
    return std::pair(named ? int64_t(named.getPosition()) : -1, dim);
  };
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  llvm::sort(dims, [&](int64_t a, int64_t b) { return from(a) < from(b); });
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(type.getDimSize(unsigned(dim)));
  auto all = VectorType::get(shape, b.getI1Type());
  if (mask.getType() != all)
    mask = vector::BroadcastOp::create(b, all, mask);
  return transpose(b, mask, Order(dims).sorted);
}

/// The products of a contraction, one for each iteration, in the order of its loops.
struct Products {
  Products(ImplicitLocOpBuilder &b, vector::ContractionOp op) : b(b) {
    op.getIterationBounds(bounds);
    Type element = getElementTypeOrSelf(op.getResultType());
    Value left = spread(op.getLhs(), op.getIndexingMapsArray()[0], element);
    Value right = spread(op.getRhs(), op.getIndexingMapsArray()[1], element);
    value = isa<FloatType>(element) ? arith::MulFOp::create(b, left, right).getResult()
                                    : arith::MulIOp::create(b, left, right).getResult();
  }

  /// `operand` repeated over the loops that its map does not name.
  Value spread(Value operand, AffineMap map, Type element) {
    auto type = cast<VectorType>(operand.getType());
    if (type.getElementType() != element) {
      auto wide = VectorType::get(type.getShape(), element);
      operand = isa<FloatType>(element) ? arith::ExtFOp::create(b, wide, operand).getResult()
                                        : arith::ExtSIOp::create(b, wide, operand).getResult();
    }
    SmallVector<int64_t> loops;
    for (unsigned loop = 0; loop < bounds.size(); ++loop)
      if (!map.isFunctionOfDim(loop))
        loops.push_back(loop);
    for (unsigned result = 0; result < map.getNumResults(); ++result)
      loops.push_back(map.getDimPosition(result));
    SmallVector<int64_t> shape;
    for (int64_t loop : loops)
      shape.push_back(bounds[size_t(loop)]);
    Value all = vector::BroadcastOp::create(b, VectorType::get(shape, element), operand);
    return transpose(b, all, Order(loops).sorted);
  }

  ImplicitLocOpBuilder &b;
  SmallVector<int64_t> bounds;
  Value value;
};

struct Normalizer {
  explicit Normalizer(Operation *root) {
    SmallVector<vector::MaskOp> masks;
    root->walk([&](vector::MaskOp op) { masks.push_back(op); });
    for (vector::MaskOp mask : masks)
      unmask(mask);
    SmallVector<Operation *> ops;
    root->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](vector::LoadOp op) { accessRows(op, op.getBase()); })
          .Case([&](vector::StoreOp op) { accessRows(op, op.getBase()); })
          .Case([&](vector::MaskedLoadOp op) { accessRows(op, op.getBase()); })
          .Case([&](vector::MaskedStoreOp op) { accessRows(op, op.getBase()); })
          .Case([&](arith::AddUIExtendedOp op) { carry(op); })
          .Case<math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::IsNaNOp,
                math::SincosOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(
              [&](auto op) { flatten(op); });
    ops.clear();
    root->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](vector::MultiDimReductionOp op) { combineOnly(op); })
          .Case([&](vector::ContractionOp op) { contract(op); })
          .Case([&](vector::TransferReadOp op) { orderLanes(op); })
          .Case([&](vector::TransferWriteOp op) { orderLanes(op); });
  }

  template <typename OpT> void replace(OpT op, ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    ++replaced;
  }

  void unmask(vector::MaskOp mask) {
    Operation *op = mask.getMaskableOp();
    if (!op)
      return;
    ImplicitLocOpBuilder b(op->getLoc(), mask);
    Value lanes = mask.getMask();
    Value result =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case([&](vector::ReductionOp op) {
              return vector::ReductionOp::create(b, op.getType(), op.getKind(),
                                                 keepLanes(b, lanes, op.getVector(), op.getKind()),
                                                 op.getAcc(), op.getFastmath());
            })
            .Case([&](vector::MultiDimReductionOp op) {
              Value source = keepLanes(b, lanes, op.getSource(), op.getKind());
              return vector::MultiDimReductionOp::create(b, op.getType(), op.getKindAttr(), source,
                                                         op.getAcc(), op.getReductionDimsAttr());
            })
            .Case([&](vector::ContractionOp op) {
              return op.getKind() == CombiningKind::ADD ? Value() : reduceProducts(b, op, lanes);
            })
            .Case<vector::GatherOp, vector::TransferReadOp, vector::TransferWriteOp>([&](auto op) {
              Value both = lanes;
              if (Value own = op.getMask())
                both = arith::AndIOp::create(b, lanes, own);
              Operation *moved = b.clone(*op);
              cast<decltype(op)>(moved).getMaskMutable().assign(both);
              return moved->getNumResults() ? moved->getResult(0) : Value();
            })
            .Default([](Operation *) { return Value(); });
    if (!result && !isa<vector::TransferWriteOp>(op))
      return;
    if (Value others = mask.getPassthru()) // upstream lets reads alone have it
      result = arith::SelectOp::create(b, asRead(b, lanes, cast<vector::TransferReadOp>(op)),
                                       result, others);
    replace(mask, result ? ValueRange(result) : ValueRange());
  }

  static Type flat(Type type) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      return type;
    return VectorType::get({vector.getNumElements()}, vector.getElementType());
  }

  /// Their conversion to LLVM takes vectors of one dimension only.
  void flatten(Operation *op) {
    auto type = dyn_cast<VectorType>(op->getOperand(0).getType());
    if (!type || type.getRank() == 1)
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Operation *flatOp = b.clone(*op);
    b.setInsertionPoint(flatOp);
    for (OpOperand &operand : flatOp->getOpOperands())
      operand.set(vector::ShapeCastOp::create(b, flat(operand.get().getType()), operand.get()));
    b.setInsertionPointAfter(flatOp);
    SmallVector<Value> results;
    for (OpResult result : flatOp->getResults()) {
      Type whole = result.getType();
      result.setType(flat(whole));
      results.push_back(vector::ShapeCastOp::create(b, whole, result));
    }
    replace(op, results);
  }

  /// A sum that wraps is less than what was added. The conversion to LLVM takes neither indices nor vectors without
  /// a dimension.
  void carry(arith::AddUIExtendedOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value sum = arith::AddIOp::create(b, op.getLhs(), op.getRhs());
    Value carry = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, sum, op.getLhs());
    replace(op, {sum, carry});
  }

  /// Loads and stores of several rows are transfers.
  template <typename OpT> void accessRows(OpT op, Value memory) {
    VectorType type = op.getVectorType();
    auto memref = cast<MemRefType>(memory.getType());
    if (type.getRank() < 2 || memref.getElementType() != type.getElementType())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto map = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        unsigned(memref.getRank()), unsigned(type.getRank()), op.getContext()));
    ArrayAttr inBounds = b.getBoolArrayAttr(SmallVector<bool>(size_t(type.getRank()), true));
    constexpr bool isMasked =
        std::is_same_v<OpT, vector::MaskedLoadOp> || std::is_same_v<OpT, vector::MaskedStoreOp>;
    Value mask;
    if constexpr (isMasked)
      mask = op.getMask();
    if constexpr (std::is_same_v<OpT, vector::StoreOp> ||
                  std::is_same_v<OpT, vector::MaskedStoreOp>) {
      vector::TransferWriteOp::create(b, op.getValueToStore(), memory, op.getIndices(), map, mask,
                                      inBounds);
      replace(op, ValueRange());
    } else {
      Value padding = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
      Value read = vector::TransferReadOp::create(b, type, memory, op.getIndices(), map, padding,
                                                  mask, inBounds);
      if constexpr (isMasked)
        read = arith::SelectOp::create(b, mask, read, op.getPassThru());
      replace(op, read);
    }
  }

  /// Over no dimension each element is combined with its accumulator.
  void combineOnly(vector::MultiDimReductionOp op) {
    if (!op.getReductionDims().empty())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    replace(op,
            vector::makeArithReduction(b, op.getLoc(), op.getKind(), op.getSource(), op.getAcc()));
  }

  void contract(vector::ContractionOp op) {
    if (op.getKind() == CombiningKind::ADD)
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    replace(op, reduceProducts(b, op, Value()));
  }

  static Value reduceProducts(ImplicitLocOpBuilder &b, vector::ContractionOp op, Value lanes) {
    Value products = Products(b, op).value;
    if (lanes)
      products = keepLanes(b, lanes, products, op.getKind());
    AffineMap map = op.getIndexingMapsArray()[2];
    SmallVector<bool> isReduced;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      isReduced.push_back(!map.isFunctionOfDim(loop));
    SmallVector<int64_t> kept;
    for (unsigned result = 0; result < map.getNumResults(); ++result)
      kept.push_back(map.getDimPosition(result));
    if (kept.empty())
      return vector::MultiDimReductionOp::create(b, products, op.getAcc(), isReduced, op.getKind());
    Order order(kept);
    Value start = transpose(b, op.getAcc(), order.sorted);
    Value result = vector::MultiDimReductionOp::create(b, products, start, isReduced, op.getKind());
    return transpose(b, result, order.back);
  }

  /// The dimensions of a transfer with a mask in the order of the memory, from the first one that it names to the last
  /// one of all: those that it does not name have a size of one.
  struct Lanes {
    template <typename OpT> explicit Lanes(OpT op) {
      AffineMap map = op.getPermutationMap();
      VectorType type = op.getVectorType();
      SmallVector<bool> stated = op.getInBoundsValues();
      for (auto [i, result] : llvm::enumerate(map.getResults()))
        if (auto dimension = dyn_cast<AffineDimExpr>(result)) {
          named.push_back(int64_t(i));
          memory.push_back(dimension.getPosition());
        } else {
          repeated.push_back(int64_t(i));
        }
      if (memory.empty())
        return;
      unsigned rank = map.getNumDims();
      auto first = unsigned(*llvm::min_element(memory));
      shape.assign(rank - first, 1);
      inBounds.assign(rank - first, true);
      for (auto [i, dimension] : llvm::zip(named, memory)) {
        shape[size_t(dimension - first)] = type.getDimSize(unsigned(i));
        inBounds[size_t(dimension - first)] = stated[size_t(i)];
      }
      minorIdentity = AffineMap::getMinorIdentityMap(rank, rank - first, op.getContext());
      mask = VectorType::get(shape, cast<VectorType>(op.getMask().getType()).getElementType());
      whole = VectorType::get(shape, type.getElementType());
    }

    SmallVector<int64_t> named, repeated; // dimensions of the vector
    SmallVector<int64_t> memory;          // what each named one is in the memory
    SmallVector<int64_t> shape;
    SmallVector<bool> inBounds;
    AffineMap minorIdentity;
    VectorType mask, whole;
  };

  template <typename OpT> static bool isOrdered(OpT op) {
    AffineMap map = op.getPermutationMap();
    return !op.getMask() || map.isMinorIdentity() ||
           llvm::none_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
  }

  void orderLanes(vector::TransferReadOp op) {
    if (isOrdered(op))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Lanes lanes(op);
    Value mask = vector::ShapeCastOp::create(b, lanes.mask, op.getMask());
    Value read = vector::TransferReadOp::create(
        b, lanes.whole, op.getBase(), op.getIndices(), AffineMapAttr::get(lanes.minorIdentity),
        op.getPadding(), mask, b.getBoolArrayAttr(lanes.inBounds));
    VectorType type = op.getVectorType();
    Order order(lanes.memory);
    SmallVector<int64_t> sizes, places, all(lanes.repeated);
    for (int64_t at : order.sorted) {
      places.push_back(lanes.named[size_t(at)]);
      sizes.push_back(type.getDimSize(unsigned(places.back())));
    }
    read = vector::ShapeCastOp::create(b, VectorType::get(sizes, type.getElementType()), read);
    llvm::append_range(all, places);
    SmallVector<int64_t> repeated;
    for (int64_t i : all)
      repeated.push_back(type.getDimSize(unsigned(i)));
    read = vector::BroadcastOp::create(b, VectorType::get(repeated, type.getElementType()), read);
    replace(op, transpose(b, read, Order(all).sorted));
  }

  void orderLanes(vector::TransferWriteOp op) {
    if (isOrdered(op))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Lanes lanes(op);
    Value mask = vector::ShapeCastOp::create(b, lanes.mask, op.getMask());
    Value value = transpose(b, op.getVector(), Order(lanes.memory).sorted);
    value = vector::ShapeCastOp::create(b, lanes.whole, value);
    auto write = vector::TransferWriteOp::create(b, value, op.getBase(), op.getIndices(),
                                                 AffineMapAttr::get(lanes.minorIdentity), mask,
                                                 b.getBoolArrayAttr(lanes.inBounds));
    replace(op, write->getResults());
  }

  unsigned replaced = 0;
};

} // namespace

unsigned plim::ir::normalizeVectors(Operation *root) { return Normalizer(root).replaced; }
