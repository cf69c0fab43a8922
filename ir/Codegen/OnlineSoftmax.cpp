#include "ir/Analysis/Products.h"
#include "ir/Analysis/Reductions.h"
#include "ir/Analysis/RowMaximum.h"
#include "ir/Codegen/ColumnParts.h"
#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMONLINESOFTMAX
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// How a number depends on the maximum of its row.
enum class Kind {
  Free,       // not at all
  Maximum,    // it is that
  Difference, // a free number minus the maximum
  Weight,     // a free number times the exponential of minus the maximum
  Other,
};

/// An accumulator that has an element, or several, for each row.
struct RowResult {
  OpOperand *init;
  Kind kind;                           // Free: of a sum of free numbers
  SmallVector<unsigned> maximumDims{}; // of it, those of the maximum in their order
};

/// The ops of a block that go over the keys of an attention, one after the other, and what they accumulate for each query. Two
/// products, of which one takes rows that the other makes, are an attention without a softmax.
class Attention {
public:
  /// Nothing if `product` is not what takes the weights of one.
  static std::optional<Attention> of(linalg::LinalgOp product) {
    std::optional<Product> its = productOf(product);
    if (!its || its->depthLoops.size() != 1 || !mayBeCut(product))
      return std::nullopt;
    Attention attention(product);
    if (!attention.collect(its->depthLoops.front()) || !attention.isClosed() ||
        !attention.classify())
      return std::nullopt;
    return attention;
  }

  ColumnLoops loops; // in the order of the block
  llvm::MapVector<Value, RowResult> rows;
  Value maximum;                    // none of products alone
  Operation *combiner = nullptr;    // of the maximum
  Operation *exponential = nullptr; // one of them; all are of the same kind

private:
  explicit Attention(linalg::LinalgOp product) : product(product) {}

  /// All ops that are connected by tensors with columns.
  bool collect(unsigned loop) {
    SmallVector<std::pair<Operation *, unsigned>> open{{product, loop}};
    while (!open.empty()) {
      auto [op, its] = open.pop_back_val();
      if (auto [entry, isNew] = loops.insert({op, its}); !isNew) {
        if (entry->second != its)
          return false;
        continue;
      }
      auto linalgOp = cast<linalg::LinalgOp>(op);
      for (OpOperand &operand : op->getOpOperands())
        if (std::optional<unsigned> dimension =
                dimensionOf(linalgOp.getMatchingIndexingMap(&operand), its))
          if (auto producer = operand.get().getDefiningOp<linalg::LinalgOp>()) {
            if (producer->getBlock() != product->getBlock() || !mayBeCut(producer))
              return false;
            OpOperand *init =
                producer.getDpsInitOperand(cast<OpResult>(operand.get()).getResultNumber());
            open.emplace_back(producer, loopOf(producer.getMatchingIndexingMap(init), *dimension));
          }
      for (OpOperand &init : linalgOp.getDpsInitsMutable())
        if (std::optional<unsigned> dimension =
                dimensionOf(linalgOp.getMatchingIndexingMap(&init), its))
          for (OpOperand &use : linalgOp.getTiedOpResult(&init).getUses()) {
            auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
            if (!user || user->getBlock() != product->getBlock() || !mayBeCut(user))
              return false;
            open.emplace_back(user, loopOf(user.getMatchingIndexingMap(&use), *dimension));
          }
    }
    auto sorted = loops.takeVector();
    llvm::sort(sorted, [](auto &a, auto &b) { return a.first->isBeforeInBlock(b.first); });
    for (auto [op, its] : sorted)
      loops[op] = its;
    return true;
  }

  /// Takes nothing between the ops what they compute? Then it is there in front of the loop, or comes behind it.
  bool isClosed() {
    for (Operation *op = loops.front().first; op != loops.back().first; op = op->getNextNode())
      if (!loops.contains(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
            return loops.contains(operand.getDefiningOp());
          }))
        return false;
    return true;
  }

  bool classify() {
    DenseMap<Value, Kind> kinds;
    DenseMap<Value, SmallVector<unsigned>> maximumDims; // of weights
    for (auto [each, columns] : loops) {
      auto op = cast<linalg::LinalgOp>(each);
      // The loops that the dimensions of the maximum are to this op.
      std::optional<SmallVector<unsigned>> maximumLoops;
      DenseMap<Value, Kind> body;
      for (OpOperand &operand : each->getOpOperands()) {
        auto found = kinds.find(operand.get());
        const Kind kind = found == kinds.end() ? Kind::Free : found->second;
        body[op.getMatchingBlockArgument(&operand)] = kind;
        if (kind == Kind::Free)
          continue;
        const AffineMap map = op.getMatchingIndexingMap(&operand);
        SmallVector<unsigned> its;
        if (kind == Kind::Maximum)
          for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
            its.push_back(loopOf(map, dimension));
        else
          for (unsigned dimension : maximumDims[operand.get()])
            its.push_back(loopOf(map, dimension));
        if (maximumLoops && *maximumLoops != its)
          return false;
        maximumLoops = its;
      }
      for (Operation &inner : op.getBlock()->without_terminator()) {
        const Kind kind = kindOf(inner, body);
        for (Value result : inner.getResults())
          body[result] = kind;
      }
      Operation *yield = op.getBlock()->getTerminator();
      for (OpOperand &init : op.getDpsInitsMutable()) {
        OpResult result = op.getTiedOpResult(&init);
        const AffineMap map = op.getMatchingIndexingMap(&init);
        Value value = yield->getOperand(result.getResultNumber());
        const bool hasColumns = dimensionOf(map, columns).has_value();
        const Kind kind = hasColumns ? kindIn(body, value)
                                     : accumulated(value, op.getMatchingBlockArgument(&init), body);
        SmallVector<unsigned> dims;
        if (kind == Kind::Weight) {
          for (unsigned loop : *maximumLoops) {
            std::optional<unsigned> dimension = dimensionOf(map, loop);
            if (!dimension)
              return false;
            dims.push_back(*dimension);
          }
        } else if (kind == Kind::Maximum) {
          if (hasColumns || maximum)
            return false;
          maximum = result;
          combiner = value.getDefiningOp();
        } else if (kind != Kind::Free) {
          return false;
        }
        kinds[result] = kind;
        if (hasColumns) {
          maximumDims[result] = dims;
          continue;
        }
        auto fill = init.get().getDefiningOp<linalg::FillOp>();
        if (!fill || (kind == Kind::Weight && !matchPattern(fill.getInputs()[0], m_AnyZeroFloat())))
          return false;
        rows[result] = RowResult{&init, kind, dims};
      }
    }
    // What is accumulated is not known before all columns have been seen.
    for (auto &[result, row] : rows)
      if (row.kind != Kind::Maximum && llvm::any_of(result.getUsers(), [&](Operation *user) {
            return loops.contains(product->getBlock()->findAncestorOpInBlock(*user));
          }))
        return false;
    if (!maximum)
      return llvm::any_of(llvm::make_first_range(loops), [&](Operation *op) {
        return op != product && productOf(cast<linalg::LinalgOp>(op));
      });
    // A maximum of nothing is -inf here, whatever it starts from, of which exponentials see nothing.
    APFloat start(0.0);
    auto fill = rows.find(maximum)->second.init->get().getDefiningOp<linalg::FillOp>();
    if (!exponential ||
        !llvm::all_of(maximum.getUsers(), [&](Operation *user) { return loops.contains(user); }) ||
        !matchPattern(fill.getInputs()[0], m_ConstantFloat(&start)) ||
        (start.isInfinity() && !start.isNegative()))
      return false;
    return llvm::all_of(rows, [&](auto &row) {
      return row.second.kind != Kind::Weight || (getElementTypeOrSelf(row.first.getType()) ==
                                                     getElementTypeOrSelf(maximum.getType()) &&
                                                 isOnlyDivided(row.first));
    });
  }

  /// Is a sum of weights a quotient of two of them wherever it is used? In a row of which nothing but -inf is seen weights are NaN,
  /// and zero here: quotients are NaN.
  bool isOnlyDivided(Value sum) {
    return llvm::all_of(sum.getUses(), [&](OpOperand &use) {
      auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
      return op && llvm::all_of(op.getMatchingBlockArgument(&use).getUsers(), [&](Operation *user) {
               // Where there are no columns at all, a sum stays what it is (plim-divide-products).
               if (auto select = dyn_cast<arith::SelectOp>(user))
                 return select.getCondition().getParentRegion() != &op.getRegion();
               auto division = dyn_cast<arith::DivFOp>(user);
               return division && isSum(op, division.getLhs()) && isSum(op, division.getRhs());
             });
    });
  }

  bool isSum(linalg::GenericOp op, Value element) {
    auto argument = dyn_cast<BlockArgument>(element);
    if (!argument || argument.getOwner() != op.getBody())
      return false;
    auto row = rows.find(op->getOperand(argument.getArgNumber()));
    return row != rows.end() && row->second.kind == Kind::Weight;
  }

  static Kind kindIn(const DenseMap<Value, Kind> &body, Value value) {
    auto found = body.find(value);
    return found == body.end() ? Kind::Free : found->second;
  }

  Kind kindOf(Operation &op, const DenseMap<Value, Kind> &body) {
    SmallVector<Kind> operands;
    for (Value operand : op.getOperands())
      operands.push_back(kindIn(body, operand));
    if (llvm::all_of(operands, [](Kind kind) { return kind == Kind::Free; }))
      return op.getNumRegions() == 0 ? Kind::Free : Kind::Other;
    auto are = [&](Kind first, Kind second) {
      return operands.size() == 2 && operands[0] == first && operands[1] == second;
    };
    // Of the maximum of the very elements: exponentials that are at most 1 in each block.
    auto generic = dyn_cast<linalg::GenericOp>(op.getParentOp());
    if (auto difference = dyn_cast<arith::SubFOp>(op); difference && generic &&
                                                       are(Kind::Free, Kind::Maximum) &&
                                                       subtractsRowMaximum(generic, difference))
      return Kind::Difference;
    if (isa<math::ExpOp, math::Exp2Op>(op) && operands[0] == Kind::Difference) {
      if (exponential && exponential->getName() != op.getName())
        return Kind::Other;
      exponential = &op;
      return Kind::Weight;
    }
    const bool isWeight = isa<arith::MulFOp>(op)
                              ? are(Kind::Weight, Kind::Free) || are(Kind::Free, Kind::Weight)
                          : isa<arith::DivFOp>(op)                  ? are(Kind::Weight, Kind::Free)
                          : isa<arith::ExtFOp, arith::TruncFOp>(op) ? operands[0] == Kind::Weight
                          : isa<arith::AddFOp>(op) ? are(Kind::Weight, Kind::Weight)
                                                   : false;
    return isWeight ? Kind::Weight : Kind::Other;
  }

  /// The kind of an accumulator to which `value` is yielded.
  static Kind accumulated(Value value, BlockArgument accumulator,
                          const DenseMap<Value, Kind> &body) {
    const std::optional<Combination> its = combinationOf(value, accumulator);
    const Kind element = its ? kindIn(body, its->element) : Kind::Other;
    if (element == Kind::Free && isa<arith::MaximumFOp, arith::MaxNumFOp>(its->combiner))
      return Kind::Maximum;
    if ((element == Kind::Free || element == Kind::Weight) && isa<arith::AddFOp>(its->combiner))
      return element;
    return Kind::Other;
  }

  linalg::LinalgOp product;
};

/// Computes an attention in blocks of columns.
class Blocks {
public:
  Blocks(IRRewriter &rewriter, Attention &attention)
      : rewriter(rewriter), attention(attention), at(attention.loops.back().first->getLoc()) {}

  void build(OpFoldResult extent) {
    SmallVector<Value> inits;
    if (attention.maximum) {
      auto element = cast<FloatType>(getElementTypeOrSelf(attention.maximum));
      least = arith::ConstantOp::create(
          rewriter, at,
          rewriter.getFloatAttr(element, APFloat::getInf(element.getFloatSemantics(), true)));
    }
    for (auto &[result, row] : attention.rows)
      inits.push_back(result == attention.maximum ? filled(least, row.init->get())
                                                  : row.init->get());
    auto loop =
        scf::ForOp::create(rewriter, at, arith::ConstantIndexOp::create(rewriter, at, 0),
                           getValueOrCreateConstantIndexOp(rewriter, at, extent),
                           arith::ConstantIndexOp::create(rewriter, at, blockOfColumns), inits);
    rewriter.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(rewriter, at,
                         block(loop.getInductionVar(), extent, loop.getRegionIterArgs()));
    for (auto [row, result] : llvm::zip(attention.rows, loop.getResults()))
      rewriter.replaceAllUsesWith(row.first, result);
    for (auto [op, columns] : llvm::reverse(attention.loops))
      rewriter.eraseOp(op);
  }

private:
  SmallVector<Value> block(Value begin, OpFoldResult extent, ValueRange accumulators) {
    MLIRContext *context = rewriter.getContext();
    const std::optional<int64_t> known = getConstantIntValue(extent);
    Value count;
    if (known && *known % blockOfColumns == 0) {
      count = arith::ConstantIndexOp::create(rewriter, at, blockOfColumns);
    } else {
      const AffineMap rest =
          AffineMap::get(1, 1,
                         {getAffineConstantExpr(blockOfColumns, context),
                          getAffineSymbolExpr(0, context) - getAffineDimExpr(0, context)},
                         context);
      count = getValueOrCreateConstantIndexOp(
          rewriter, at,
          affine::makeComposedFoldedAffineMin(rewriter, at, rest, {OpFoldResult(begin), extent}));
    }
    ColumnParts parts(rewriter, Columns{begin, count});
    DenseMap<Value, Value> sums;
    for (auto [row, accumulator] : llvm::zip(attention.rows, accumulators))
      sums[row.first] = accumulator;
    Value correction;
    for (auto [each, columns] : attention.loops) {
      auto op = cast<linalg::LinalgOp>(each);
      DenseMap<unsigned, Value> inits;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        Value &now = inits[init.getOperandNumber()];
        if (auto row = attention.rows.find(op.getTiedOpResult(&init)); row != attention.rows.end())
          now = initOf(row->second, sums[row->first], correction);
        else if (isEmpty(init.get()))
          now = makeScratch(init.get(), *dimensionOf(op.getMatchingIndexingMap(&init), columns),
                            count);
      }
      linalg::LinalgOp part = parts.add(op, columns, inits);
      for (auto [whole, result] : llvm::zip(op->getResults(), part->getResults())) {
        if (!attention.rows.contains(whole))
          continue;
        if (whole != attention.maximum) {
          sums[whole] = result;
          continue;
        }
        Value finite;
        std::tie(sums[whole], finite, correction) = correct(sums[whole], result);
        parts.replace(whole, finite);
      }
    }
    SmallVector<Value> yielded;
    for (auto &row : attention.rows)
      yielded.push_back(sums[row.first]);
    return yielded;
  }

  /// Has a tensor, or what it is a part of, no elements yet?
  static bool isEmpty(Value tensor) {
    while (auto part = tensor.getDefiningOp<tensor::ExtractSliceOp>())
      tensor = part.getSource();
    return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
  }

  /// A tensor with room for a block; `count` of its columns.
  Value makeScratch(Value whole, unsigned columns, Value count) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, at, whole),
                              offsets(sizes.size(), rewriter.getIndexAttr(0)),
                              steps(sizes.size(), rewriter.getIndexAttr(1));
    sizes[columns] = rewriter.getIndexAttr(blockOfColumns);
    Value scratch = tensor::EmptyOp::create(rewriter, at, sizes, getElementTypeOrSelf(whole));
    sizes[columns] = getAsOpFoldResult(count);
    return tensor::ExtractSliceOp::create(rewriter, at, scratch, offsets, sizes, steps);
  }

  /// What an accumulator of a block starts from.
  Value initOf(const RowResult &row, Value soFar, Value correction) {
    switch (row.kind) {
    case Kind::Maximum: {
      auto fill = row.init->get().getDefiningOp<linalg::FillOp>();
      return filled(fill.getInputs()[0], fill.getResult(0));
    }
    case Kind::Weight:
      return scaled(soFar, correction, row);
    default:
      return soFar;
    }
  }

  Value emptyLike(Value rows) {
    return tensor::EmptyOp::create(rewriter, at, tensor::getMixedSizes(rewriter, at, rows),
                                   getElementTypeOrSelf(rows));
  }

  Value filled(Value element, Value rows) {
    return linalg::FillOp::create(rewriter, at, element, emptyLike(rows)).getResult(0);
  }

  /// The maximum with that of a block, as it is subtracted, and what sums of exponentials are multiplied by that had the one
  /// before subtracted. Where there was nothing but -inf so far, nothing is subtracted of it: its exponentials are zero.
  std::tuple<Value, Value, Value> correct(Value before, Value ofBlock) {
    auto type = cast<RankedTensorType>(before.getType());
    const AffineMap identity = rewriter.getMultiDimIdentityMap(unsigned(type.getRank()));
    Value rows = attention.rows.find(attention.maximum)->second.init->get();
    Value outs[] = {before, emptyLike(rows), emptyLike(rows)};
    auto op = linalg::GenericOp::create(
        rewriter, at, TypeRange{type, type, type}, ofBlock, outs,
        SmallVector<AffineMap>(4, identity),
        SmallVector<utils::IteratorType>(size_t(type.getRank()), utils::IteratorType::parallel),
        [&](OpBuilder &b, Location, ValueRange arguments) {
          auto element = cast<FloatType>(type.getElementType());
          Operation *most = b.clone(*attention.combiner);
          most->setOperands({arguments[1], arguments[0]});
          Value zero = arith::ConstantOp::create(b, at, b.getZeroAttr(element));
          Value isNone =
              arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, most->getResult(0), least);
          Value finite = arith::SelectOp::create(b, at, isNone, zero, most->getResult(0));
          Value difference = arith::SubFOp::create(b, at, arguments[1], finite);
          Operation *factor = b.clone(*attention.exponential);
          factor->setOperand(0, difference);
          linalg::YieldOp::create(b, at,
                                  ValueRange{most->getResult(0), finite, factor->getResult(0)});
        });
    return {op.getResult(0), op.getResult(1), op.getResult(2)};
  }

  Value scaled(Value sum, Value correction, const RowResult &row) {
    auto type = cast<RankedTensorType>(sum.getType());
    const auto rank = unsigned(type.getRank());
    SmallVector<AffineExpr> dims;
    for (unsigned dimension : row.maximumDims)
      dims.push_back(rewriter.getAffineDimExpr(dimension));
    auto op = linalg::GenericOp::create(
        rewriter, at, type, correction, sum,
        ArrayRef{AffineMap::get(rank, 0, dims, rewriter.getContext()),
                 rewriter.getMultiDimIdentityMap(rank)},
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &b, Location, ValueRange arguments) {
          linalg::YieldOp::create(
              b, at, arith::MulFOp::create(b, at, arguments[1], arguments[0]).getResult());
        });
    return op.getResult(0);
  }

  IRRewriter &rewriter;
  Attention &attention;
  Location at;
  Value least; // -inf
};

struct OnlineSoftmax : plim::ir::impl::PlimOnlineSoftmaxBase<OnlineSoftmax> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(dispatchFunctionAttr))
      return;
    SmallVector<linalg::LinalgOp> products;
    function.walk([&](linalg::LinalgOp op) {
      if (productOf(op))
        products.push_back(op);
    });
    // What takes weights comes later than what makes scores.
    for (linalg::LinalgOp product : llvm::reverse(products))
      if (split(product)) {
        ++blocked;
        return;
      }
  }

  static bool split(linalg::LinalgOp product) {
    std::optional<Attention> attention = Attention::of(product);
    if (!attention)
      return false;
    const int64_t columns = product.getStaticLoopRanges()[attention->loops[product]];
    if (!ShapedType::isDynamic(columns) && columns <= blockOfColumns)
      return false;
    // An operand with columns that no op here makes says how many there are.
    for (auto [each, loop] : attention->loops) {
      auto op = cast<linalg::LinalgOp>(each);
      for (OpOperand *input : op.getDpsInputOperands()) {
        std::optional<unsigned> dimension = dimensionOf(op.getMatchingIndexingMap(input), loop);
        if (!dimension || attention->loops.contains(input->get().getDefiningOp()))
          continue;
        IRRewriter rewriter(attention->loops.back().first);
        Blocks(rewriter, *attention)
            .build(tensor::getMixedSize(rewriter, product.getLoc(), input->get(), *dimension));
        return true;
      }
    }
    return false;
  }
};

} // namespace
