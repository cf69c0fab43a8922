#include "ir/Codegen/Passes.h"
#include "ir/Codegen/VectorPositions.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMEXPANDTRANSFERS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// A read of rows: the vector's last dimension is one element repeated, or the memory along it is
/// not contiguous.
bool isScalarRead(vector::TransferReadOp read) {
  if (read.getMask() || !isa<MemRefType>(read.getBase().getType()) || read.hasOutOfBoundsDim())
    return false;
  AffineMap map = read.getPermutationMap();
  unsigned rank = read.getVectorType().getRank();
  if (rank == 0 || rank > 2)
    return false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last)
    return true;
  return last.getPosition() + 1 != map.getNumDims();
}

struct ExpandTransfers : plim::ir::impl::PlimExpandTransfersBase<ExpandTransfers> {
  void runOnOperation() override {
    // Before transfers are taken apart: upstream merges them with insertions.
    if (failed(expandVectorPositions(getOperation())))
      return signalPassFailure();
    SmallVector<vector::TransferReadOp> reads;
    getOperation().walk([&](vector::TransferReadOp read) {
      if (isScalarRead(read))
        reads.push_back(read);
    });
    for (vector::TransferReadOp read : reads) {
      OpBuilder builder(read);
      read.replaceAllUsesWith(expand(builder, read));
      read.erase();
      ++expanded;
    }
  }

  /// Builds the vector from one load for each distinct element.
  static Value expand(OpBuilder &builder, vector::TransferReadOp read) {
    Location loc = read.getLoc();
    VectorType type = read.getVectorType();
    AffineMap map = read.getPermutationMap();
    auto load = [&](ArrayRef<int64_t> position) -> Value {
      SmallVector<Value> indices(read.getIndices());
      for (auto [result, shift] : llvm::zip(map.getResults(), position)) {
        auto dim = dyn_cast<AffineDimExpr>(result);
        if (!dim || shift == 0)
          continue;
        Value by = arith::ConstantIndexOp::create(builder, loc, shift);
        indices[dim.getPosition()] =
            arith::AddIOp::create(builder, loc, indices[dim.getPosition()], by);
      }
      return memref::LoadOp::create(builder, loc, read.getBase(), indices);
    };
    auto isBroadcast = [&](unsigned dimension) {
      return !isa<AffineDimExpr>(map.getResult(dimension));
    };
    auto row = [&](VectorType rowType, SmallVector<int64_t> position) -> Value {
      unsigned last = type.getRank() - 1;
      position.push_back(0);
      if (isBroadcast(last))
        return vector::BroadcastOp::create(builder, loc, rowType, load(position));
      SmallVector<Value> elements;
      for (int64_t i = 0; i < rowType.getDimSize(0); ++i) {
        position.back() = i;
        elements.push_back(load(position));
      }
      return vector::FromElementsOp::create(builder, loc, rowType, elements);
    };
    if (type.getRank() == 1)
      return row(type, {});
    auto rowType = VectorType::get({type.getDimSize(1)}, type.getElementType());
    if (isBroadcast(0))
      return vector::BroadcastOp::create(builder, loc, type, row(rowType, {0}));
    Value result = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    for (int64_t i = 0; i < type.getDimSize(0); ++i)
      result =
          vector::InsertOp::create(builder, loc, row(rowType, {i}), result, ArrayRef<int64_t>(i));
    return result;
  }
};

} // namespace
