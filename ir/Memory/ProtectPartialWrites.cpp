#include "ir/Memory/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPROTECTPARTIALWRITES
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct ProtectPartialWrites : plim::ir::impl::PlimProtectPartialWritesBase<ProtectPartialWrites> {
  void runOnOperation() override {
    getOperation()->walk([&](vector::TransferWriteOp write) {
      auto type = dyn_cast<RankedTensorType>(write.getBase().getType());
      if (!type || type.getRank() == write.getVectorType().getRank() || !type.hasStaticShape() ||
          !llvm::all_of(write.getIndices(),
                        [](Value index) { return matchPattern(index, m_Zero()); }) ||
          type.getNumElements() == write.getVectorType().getNumElements())
        return;
      OpBuilder builder(write);
      Value zero = affine::AffineApplyOp::create(builder, write.getLoc(),
                                                 builder.getConstantAffineMap(0), ValueRange());
      write.getIndicesMutable()[0].assign(zero);
      ++protectedWrites;
    });
  }
};

} // namespace
