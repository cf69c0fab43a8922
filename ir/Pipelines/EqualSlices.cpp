#include "ir/Pipelines/EqualSlices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

using namespace mlir;

namespace {

enum class Sameness { Same, Different, Unknown };

/// Of values as they stand there.
Sameness compare(ArrayRef<OpFoldResult> left, ArrayRef<OpFoldResult> right) {
  if (left.size() != right.size())
    return Sameness::Different;
  Sameness all = Sameness::Same;
  for (auto [one, other] : llvm::zip_equal(left, right)) {
    if (one == other)
      continue;
    std::optional<int64_t> constant = getConstantIntValue(one);
    std::optional<int64_t> otherConstant = getConstantIntValue(other);
    if (!constant || !otherConstant)
      all = Sameness::Unknown;
    else if (*constant != *otherConstant)
      return Sameness::Different;
  }
  return all;
}

Sameness compare(const HyperrectangularSlice &left, const HyperrectangularSlice &right) {
  Sameness all = Sameness::Same;
  for (Sameness each : {compare(left.getMixedOffsets(), right.getMixedOffsets()),
                        compare(left.getMixedSizes(), right.getMixedSizes()),
                        compare(left.getMixedStrides(), right.getMixedStrides())}) {
    if (each == Sameness::Different)
      return each;
    if (each == Sameness::Unknown)
      all = each;
  }
  return all;
}

HyperrectangularSlice sliceOf(OffsetSizeAndStrideOpInterface op) {
  return HyperrectangularSlice(op);
}

HyperrectangularSlice sliceOf(VectorTransferOpInterface op) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : op.getTransferChunkAccessed())
    sizes.push_back(Builder(op.getContext()).getIndexAttr(size));
  return HyperrectangularSlice(getAsOpFoldResult(op.getIndices()), sizes);
}

template <typename Op> struct Subset : SubsetOpInterface::ExternalModel<Subset<Op>, Op> {
  FailureOr<HyperrectangularSlice> getAccessedHyperrectangularSlice(Operation *op) const {
    return sliceOf(cast<Op>(op));
  }

  bool operatesOnEquivalentSubset(Operation *op, SubsetOpInterface candidate,
                                  function_ref<bool(Value, Value)> areEquivalent) const {
    FailureOr<HyperrectangularSlice> slice = candidate.getAccessedHyperrectangularSlice();
    if (failed(slice))
      return false;
    switch (compare(sliceOf(cast<Op>(op)), *slice)) {
    case Sameness::Different:
      return false;
    case Sameness::Same:
      return areEquivalent(cast<SubsetOpInterface>(op).getTensorContainer(),
                           candidate.getTensorContainer());
    case Sameness::Unknown:
      return mlir::detail::defaultOperatesOnEquivalentSubset(op, candidate, areEquivalent);
    }
    llvm_unreachable("unknown sameness");
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<Subset<Ops>>(*context), ...);
}

} // namespace

void plim::ir::registerEqualSlices(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    attach<vector::TransferReadOp, vector::TransferWriteOp>(context);
  });
}
