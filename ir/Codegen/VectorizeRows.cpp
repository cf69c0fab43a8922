#include "ir/Analysis/Reductions.h"
#include "ir/Codegen/Passes.h"
#include "ir/Codegen/RowVectors.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMVECTORIZEROWS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// A reduction along rows by a combiner for each result.
class RowReduction {
public:
  /// Nothing if the op is none, or if its sums have to be in the order of the source.
  static std::optional<RowReduction> of(linalg::GenericOp generic, const Host &host, bool strict) {
    auto op = cast<linalg::LinalgOp>(generic.getOperation());
    std::optional<RowVectors> vectors = RowVectors::ofReduction(op, host);
    if (!vectors || !mayReorderReduction(op))
      return std::nullopt;
    RowReduction reduction(*vectors, host.multipliesAndAdds);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      reduction.combiners.push_back(nullptr);
      reduction.neutral.emplace_back();
      if (hasElementOfEach(op, init))
        continue;
      Operation *combiner = op.getMatchingYieldValue(&init)->get().getDefiningOp();
      const bool isFloat = isa<FloatType>(combiner->getResult(0).getType());
      if (strict && isFloat && isa<arith::AddFOp, arith::MulFOp>(combiner))
        return std::nullopt;
      reduction.combiners.back() = combiner;
      reduction.neutral.back() = neutralElement(combiner);
      if (!reduction.neutral.back() ||
          op.getMatchingIndexingMap(&init).isFunctionOfDim(vectors->loop))
        return std::nullopt;
    }
    return reduction;
  }

  /// Replaces the op.
  void vectorize(IRRewriter &rewriter) {
    rows.replaceByRows(rewriter, [&](OpBuilder &b, ValueRange outer, ValueRange results) {
      return row(b, outer, results);
    });
  }

private:
  RowReduction(const RowVectors &rows, bool multipliesAndAdds)
      : rows(rows), op(rows.op), multipliesAndAdds(multipliesAndAdds) {}

  /// The results after one row.
  scf::ValueVector row(OpBuilder &b, ValueRange outer, ValueRange results) {
    const Location at = op.getLoc();
    SmallVector<Value> carried(results);
    SmallVector<SmallVector<Value>> places;
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      places.push_back(rows.positionInRow(b, init, outer));
      if (combiners[i])
        carried[i] = tensor::ExtractOp::create(b, at, results[i], places[i]);
    }
    const int64_t length = op.getStaticLoopRanges()[rows.loop];
    if (dependsOnOrder(op) && (ShapedType::isDynamic(length) || length > chunkOfRow))
      carried = chunks(b, outer, carried);
    else
      carried = part(b, outer, rows.number(b, 0), carried);
    for (auto [i, value] : llvm::enumerate(carried))
      if (combiners[i])
        value = tensor::InsertOp::create(b, at, value, results[i], places[i]);
    return scf::ValueVector(carried.begin(), carried.end());
  }

  /// What a row adds to accumulators, a chunk at a time.
  SmallVector<Value> chunks(OpBuilder &b, ValueRange outer, ValueRange before) {
    const Location at = op.getLoc();
    const Value whole = rows.end;
    rows.most = chunkOfRow;
    const scf::LoopNest loop = scf::buildLoopNest(
        b, at, rows.number(b, 0), whole, rows.number(b, chunkOfRow), before,
        [&](OpBuilder &body, Location, ValueRange start, ValueRange carried) {
          AffineExpr first, last;
          bindSymbols(body.getContext(), first, last);
          rows.end = getValueOrCreateConstantIndexOp(
              body, at,
              affine::makeComposedFoldedAffineMin(
                  body, at, AffineMap::get(0, 2, {first + chunkOfRow, last}, body.getContext()),
                  getAsOpFoldResult({start[0], whole})));
          const SmallVector<Value> next = part(body, outer, start[0], carried);
          return scf::ValueVector(next.begin(), next.end());
        });
    rows.end = whole;
    return llvm::to_vector_of<Value>(loop.results);
  }

  /// What a row from `start` to `rows.end` adds to accumulators, and other results after it.
  SmallVector<Value> part(OpBuilder &b, ValueRange outer, Value start, ValueRange before) {
    SmallVector<Value> carried(before);
    for (auto [i, value] : llvm::enumerate(carried))
      if (neutral[i])
        value = neutralVector(b, i, rows.width);
    rows.buildAlong(
        b, outer, start, carried,
        [&](OpBuilder &body, ValueRange indices, int64_t size, Value mask, ValueRange values) {
          return iteration(body, indices, size, mask, values);
        },
        [&](OpBuilder &builder, SmallVector<Value> &values, int64_t from, int64_t to) {
          halve(builder, values, from, to);
        });
    for (auto [i, value] : llvm::enumerate(carried))
      if (combiners[i])
        value = combine(b, i, before[i], value);
    return carried;
  }

  /// Accumulators of a result that nothing has been added to.
  Value neutralVector(OpBuilder &b, size_t result, int64_t size) {
    const TypedAttr start = neutral[result];
    return arith::ConstantOp::create(
        b, op.getLoc(), DenseElementsAttr::get(VectorType::get(size, start.getType()), start));
  }

  SmallVector<Value> iteration(OpBuilder &b, ValueRange indices, int64_t size, Value mask,
                               ValueRange carried) {
    const Location at = op.getLoc();
    IRMapping values = rows.buildBody(b, indices, size, mask, carried, [&](Operation *each) {
      return llvm::is_contained(combiners, each);
    });
    SmallVector<Value> next(carried);
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value yielded = op.getMatchingYieldValue(&init)->get();
      if (Operation *combiner = combiners[i]) {
        const unsigned element =
            combiner->getOperand(0) == op.getMatchingBlockArgument(&init) ? 1 : 0;
        Value value = rows.widen(b, values.lookupOrDefault(combiner->getOperand(element)), size);
        auto product = value.getDefiningOp<arith::MulFOp>();
        Value sum = product && multipliesAndAdds && mayContract(product) && mayContract(combiner) &&
                            isa<arith::AddFOp>(combiner)
                        ? math::FmaOp::create(b, at, product.getLhs(), product.getRhs(), carried[i])
                        : combine(b, i, carried[i], value);
        next[i] = mask ? arith::SelectOp::create(b, at, mask, sum, carried[i]).getResult() : sum;
        continue;
      }
      Value value = values.lookupOrDefault(yielded);
      const SmallVector<Value> place = rows.position(b, init, indices);
      if (size == 0)
        next[i] = tensor::InsertOp::create(b, at, value, carried[i], place);
      else
        next[i] = vector::TransferWriteOp::create(b, at, rows.widen(b, value, size), carried[i],
                                                  place, innermostOf(b, place.size()), mask,
                                                  b.getBoolArrayAttr({true}))
                      .getResult();
    }
    return next;
  }

  /// What the combiner of a result makes of two values, in this order and no other. Nothing is contracted by LLVM, which takes in
  /// either of two products where the first of a row is known.
  Value combine(OpBuilder &b, size_t result, Value accumulated, Value element) const {
    Operation *combiner = combiners[result];
    Operation *copy = b.clone(*combiner);
    // LLVM looks for NaN in the first operand of an extreme, which should not be what the next one waits for.
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(copy))
      copy->setOperands({element, accumulated});
    else
      copy->setOperands({accumulated, element});
    copy->getResult(0).setType(accumulated.getType());
    if (auto math = dyn_cast<arith::ArithFastMathInterface>(copy)) {
      const arith::FastMathFlags flags = math.getFastMathFlagsAttr().getValue();
      copy->setAttr(math.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(
                        b.getContext(),
                        flags & ~(arith::FastMathFlags::reassoc | arith::FastMathFlags::contract)));
    }
    return copy->getResult(0);
  }

  static bool mayContract(Operation *op) {
    return arith::bitEnumContainsAll(
        cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue(),
        arith::FastMathFlags::contract);
  }

  /// Combines halves until vectors have `to` elements, one being a scalar.
  void halve(OpBuilder &b, SmallVector<Value> &carried, int64_t from, int64_t to) {
    const Location at = op.getLoc();
    for (auto [i, value] : llvm::enumerate(carried)) {
      if (!combiners[i])
        continue;
      // LLVM makes vpdpbusd and vpsadbw of sums of products and differences of bytes, and loses terms where vectors become shorter on
      // the way (X86ISelLowering counts the steps by the shortest).
      if (isa<arith::AddIOp>(combiners[i])) {
        Value sum = vector::ReductionOp::create(b, at, vector::CombiningKind::ADD, value);
        value = to == 1 ? sum
                        : vector::InsertOp::create(b, at, sum, neutralVector(b, i, to), int64_t(0))
                              .getResult();
        continue;
      }
      for (int64_t size = from; size > to; size /= 2) {
        auto half = [&](int64_t offset) -> Value {
          return vector::ExtractStridedSliceOp::create(b, at, value, offset, size / 2, int64_t(1));
        };
        value = combine(b, i, half(0), half(size / 2));
      }
      if (to == 1)
        value = vector::ExtractOp::create(b, at, value, int64_t(0));
    }
  }

  RowVectors rows;
  linalg::LinalgOp op;
  bool multipliesAndAdds; // in one instruction
  SmallVector<Operation *>
      combiners; // of each result; null where there is an element for each iteration
  SmallVector<TypedAttr> neutral;
};

struct VectorizeRows : plim::ir::impl::PlimVectorizeRowsBase<VectorizeRows> {
  using PlimVectorizeRowsBase::PlimVectorizeRowsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    const Host host = hostOf(function);
    if (host.vectorBits == 0)
      return;
    SmallVector<linalg::GenericOp> ops;
    function.walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      if (std::optional<RowReduction> rows = RowReduction::of(op, host, strict)) {
        rows->vectorize(rewriter);
        ++vectorized;
      } else {
        ++missed;
      }
    }
  }
};

} // namespace
