#include "ir/Codegen/VectorPositions.h"
#include "ir/Cleanup/Cleanup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

/// The place of the first dynamic position that is not in the last of `rank` dimensions.
std::optional<size_t> outerDynamic(ArrayRef<OpFoldResult> positions, int64_t rank) {
  for (auto [i, position] : llvm::enumerate(positions))
    if (isa<Value>(position) && int64_t(i) + 1 < rank)
      return i;
  return std::nullopt;
}

/// The rows that `positions` may mean, whose entry `at` is dynamic: everything in front of it is fixed.
struct Rows {
  Rows(OpBuilder &builder, Location loc, Value vector, ArrayRef<OpFoldResult> positions, size_t at)
      : builder(builder), loc(loc), vector(vector), row(positions.take_front(at + 1)),
        rest(positions.drop_front(at + 1)), position(cast<Value>(positions[at])),
        count(cast<VectorType>(vector.getType()).getDimSize(unsigned(at))) {}

  Value isMeant(int64_t index) const {
    Value other = arith::ConstantIndexOp::create(builder, loc, index);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, position, other);
  }

  /// Where row `index` is.
  ArrayRef<OpFoldResult> place(int64_t index) {
    row.back() = builder.getIndexAttr(index);
    return row;
  }

  Value get(int64_t index) { return vector::ExtractOp::create(builder, loc, vector, place(index)); }

  OpBuilder &builder;
  Location loc;
  Value vector;
  SmallVector<OpFoldResult> row;
  ArrayRef<OpFoldResult> rest;
  Value position;
  int64_t count;
};

struct ExtractAtRow : OpRewritePattern<vector::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ExtractOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> positions = op.getMixedPosition();
    std::optional<size_t> at = outerDynamic(positions, op.getSourceVectorType().getRank());
    if (!at)
      return failure();
    Rows rows(rewriter, op.getLoc(), op.getSource(), positions, *at);
    Value meant = rows.get(0);
    for (int64_t i = 1; i < rows.count; ++i)
      meant = arith::SelectOp::create(rewriter, op.getLoc(), rows.isMeant(i), rows.get(i), meant);
    if (rows.rest.empty())
      rewriter.replaceOp(op, meant);
    else
      rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, meant, rows.rest);
    return success();
  }
};

struct InsertAtRow : OpRewritePattern<vector::InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::InsertOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> positions = op.getMixedPosition();
    std::optional<size_t> at = outerDynamic(positions, op.getDestVectorType().getRank());
    if (!at)
      return failure();
    Location loc = op.getLoc();
    Rows rows(rewriter, loc, op.getDest(), positions, *at);
    Value result = op.getDest();
    for (int64_t i = 0; i < rows.count; ++i) {
      Value row = rows.get(i);
      Value changed = op.getValueToStore();
      if (!rows.rest.empty())
        changed = vector::InsertOp::create(rewriter, loc, changed, row, rows.rest);
      Value kept = arith::SelectOp::create(rewriter, loc, rows.isMeant(i), changed, row);
      result = vector::InsertOp::create(rewriter, loc, kept, result, rows.place(i));
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// An insertion into what is read, for which upstream takes the one of a row that was read: rows are put together anew.
struct InsertIntoRead : OpRewritePattern<vector::InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::InsertOp op, PatternRewriter &rewriter) const override {
    Value read = op.getDest();
    VectorType type = op.getDestVectorType();
    SmallVector<OpFoldResult> positions = op.getMixedPosition();
    if (!read.getDefiningOp<vector::TransferReadOp>() || !read.hasOneUse() || type.getRank() < 2 ||
        positions.empty() || isa<Value>(positions.front()))
      return failure();
    Location loc = op.getLoc();
    ArrayRef<OpFoldResult> rest = ArrayRef(positions).drop_front();
    int64_t at = *getConstantIntValue(positions.front());
    Value result = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      Value row = op.getValueToStore();
      if (i != at || !rest.empty())
        row = vector::ExtractOp::create(rewriter, loc, read, i);
      if (i == at && !rest.empty())
        row = vector::InsertOp::create(rewriter, loc, op.getValueToStore(), row, rest);
      result = vector::InsertOp::create(rewriter, loc, row, result, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

LogicalResult plim::ir::expandVectorPositions(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<vector::ExtractOp, vector::InsertOp>(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  RewritePatternSet patterns(root->getContext());
  patterns.add<ExtractAtRow, InsertAtRow, InsertIntoRead>(root->getContext());
  return applySoundPatterns(ops, std::move(patterns));
}
