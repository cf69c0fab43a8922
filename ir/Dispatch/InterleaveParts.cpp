#include "ir/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINTERLEAVEPARTS
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// As many parts as rows have elements that are made many rows at a time (plim-vectorize-elementwise).
constexpr int64_t mostParts = 8;

/// Which element of each of the rows of `sizes` is inserted; nothing if it is more, less or not known.
std::optional<int64_t> partOf(tensor::InsertSliceOp insert, ArrayRef<OpFoldResult> sizes) {
  const size_t last = sizes.size() - 1;
  // Which dimension of one a source leaves out has to be certain.
  const bool isWhole = insert.getSourceType().getRank() == int64_t(sizes.size());
  if (!insert.hasUnitStride() || insert.getStaticSizes()[last] != 1 ||
      (!isWhole && insert.getSourceType().getRank() != int64_t(last)))
    return std::nullopt;
  for (size_t d = 0; d < last; ++d)
    if (insert.getStaticOffsets()[d] != 0 ||
        !isEqualConstantIntOrValue(insert.getMixedSizes()[d], sizes[d]) ||
        (!isWhole && isOneInteger(sizes[d])))
      return std::nullopt;
  const int64_t part = insert.getStaticOffsets()[last];
  return ShapedType::isDynamic(part) ? std::nullopt : std::optional(part);
}

struct InterleaveParts : plim::ir::impl::PlimInterleavePartsBase<InterleaveParts> {
  void runOnOperation() override {
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation().walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
    IRRewriter rewriter(&getContext());
    for (tensor::InsertSliceOp insert : inserts)
      if (std::optional<SmallVector<Value>> parts = partsOf(insert)) {
        interleave(rewriter, insert, *parts);
        ++interleaved;
      }
  }

  static tensor::EmptyOp memoryOf(tensor::InsertSliceOp insert) {
    Value memory = insert.getDest();
    while (auto before = memory.getDefiningOp<tensor::InsertSliceOp>())
      memory = before.getDest();
    return memory.getDefiningOp<tensor::EmptyOp>();
  }

  /// What all elements of each row are, if the insertion is the last of those that make rows.
  static std::optional<SmallVector<Value>> partsOf(tensor::InsertSliceOp last) {
    const ArrayRef<int64_t> shape = last.getDestType().getShape();
    if (shape.size() < 2 || shape.back() < 2 || shape.back() > mostParts)
      return std::nullopt;
    tensor::EmptyOp memory = memoryOf(last);
    if (!memory)
      return std::nullopt;
    SmallVector<Value> parts{size_t(shape.back())};
    for (tensor::InsertSliceOp insert = last; insert;
         insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
      const std::optional<int64_t> part = partOf(insert, memory.getMixedSizes());
      if (!part || parts[size_t(*part)] || (insert != last && !insert->hasOneUse()))
        return std::nullopt;
      parts[size_t(*part)] = insert.getSource();
    }
    return llvm::all_of(parts, [](Value part) { return bool(part); }) ? std::optional(parts)
                                                                      : std::nullopt;
  }

  static void interleave(RewriterBase &rewriter, tensor::InsertSliceOp last,
                         ArrayRef<Value> parts) {
    const Location loc = last.getLoc();
    const RankedTensorType type = last.getDestType();
    const unsigned rank = unsigned(type.getRank());
    rewriter.setInsertionPoint(last);
    SmallVector<ReassociationIndices> rows;
    for (unsigned d = 0; d + 1 < rank; ++d)
      rows.push_back({int64_t(d)});
    rows.back().push_back(rank - 1);
    SmallVector<Value> inputs;
    for (Value part : parts)
      inputs.push_back(cast<RankedTensorType>(part.getType()).getRank() == int64_t(rank)
                           ? tensor::CollapseShapeOp::create(rewriter, loc, part, rows).getResult()
                           : part);
    SmallVector<AffineMap> maps(
        parts.size(),
        AffineMap::getMultiDimIdentityMap(rank, rewriter.getContext()).dropResult(rank - 1));
    maps.push_back(AffineMap::getMultiDimIdentityMap(rank, rewriter.getContext()));
    auto whole = linalg::GenericOp::create(
        rewriter, loc, type, inputs, memoryOf(last).getResult(), maps,
        SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
        [&](OpBuilder &body, Location, ValueRange elements) {
          Value place = linalg::IndexOp::create(body, loc, rank - 1);
          Value element = elements[parts.size() - 1];
          for (size_t part = parts.size() - 1; part-- > 0;) {
            Value isHere =
                arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq, place,
                                      arith::ConstantIndexOp::create(body, loc, int64_t(part)));
            element = arith::SelectOp::create(body, loc, isHere, elements[part], element);
          }
          linalg::YieldOp::create(body, loc, element);
        });
    rewriter.replaceOp(last, whole);
  }
};

} // namespace
