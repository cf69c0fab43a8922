#include "ir/Import/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMCHECKOPERATIONS
#include "ir/Import/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using plim::ir::isStorageFloat;

namespace {

/// What nothing here can run, and why; empty for all that something can.
StringRef reasonAgainst(Operation *op) {
  if (isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
    return "the llvm dialect is what the compiler makes, not what it takes";
  if (op->getName().getDialectNamespace() == "quant")
    return "quantised types have no meaning here; tosa.rescale works on integers";
  if (isa<UnrealizedConversionCastOp>(op))
    return "it says nothing of what is converted";
  if (isa<vector::VectorScaleOp, vector::ScalableInsertOp, vector::ScalableExtractOp>(op))
    return "vectors have a size that the module says";
  if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op))
    return "scales are of type f8E8M0FNU, which is not known";
  if (isa<vector::PrintOp>(op))
    return "a function returns what it computes, and the host application prints it";
  if (isa<affine::AffineDmaStartOp, affine::AffineDmaWaitOp, memref::DmaStartOp, memref::DmaWaitOp>(
          op))
    return "no memory here is copied beside the program; memref.copy copies";
  if (auto atomic = dyn_cast<memref::GenericAtomicRMWOp>(op);
      atomic && isa<FloatType>(atomic.getType()))
    return "it exchanges integers only; memref.atomic_rmw adds and compares floats";
  if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op))
    if (llvm::is_contained({arith::AtomicRMWKind::mulf, arith::AtomicRMWKind::muli},
                           atomic.getKind()))
      return "no machine has atomic products; memref.generic_atomic_rmw makes one of integers";
  if (isa<bufferization::DeallocOp>(op))
    return "who owns a buffer the compiler finds out";
  if (isa<ml_program::TokenOp, ml_program::GlobalLoadGraphOp, ml_program::GlobalStoreGraphOp>(op))
    return "operations are in the order of the source; use ml_program.global_load and "
           "ml_program.global_store";
  if (isa<ml_program::FuncOp, ml_program::SubgraphOp>(op))
    return "functions are func.func";
  if (isa<tosa::CustomOp>(op))
    return "a function of the host application is a private func.func without a body";
  if (isa<tosa::CastFromBlockScaledOp, tosa::CastToBlockScaledOp, tosa::MatmulTBlockScaledOp>(op))
    return "block-scaled numbers are not known";
  // A constant shape is all that conversions look at.
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<tosa::shapeType>) &&
      !isa<tosa::ConstShapeOp>(op))
    return "a shape must be a tosa.const_shape; use tensor.dim and arith for one that only a run "
           "knows";
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op); toTensor && !toTensor.getRestrict())
    return "without 'restrict' it could share its memory with another tensor";
  if (isa<linalg::SoftmaxOp, linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
          linalg::WinogradOutputTransformOp>(op) &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return "it works on tensors, not on memrefs";
  return {};
}

/// The float in it that nothing knows: conversions to and from it have no code.
FloatType unknownFloat(Type type) {
  while (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  auto complex = dyn_cast<ComplexType>(type);
  auto element = dyn_cast<FloatType>(complex ? complex.getElementType() : type);
  bool isKnown = !element || isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
                 (isStorageFloat(element) && !complex);
  return isKnown ? FloatType() : element;
}

/// Why an operation cannot work on numbers that are only stored; empty if it can.
StringRef reasonAgainstStorage(Operation *op) {
  if (isa<vector::ContractionOp, vector::FMAOp, vector::MultiDimReductionOp, vector::OuterProductOp,
          vector::ReductionOp, vector::ScanOp, memref::AtomicRMWOp>(op))
    return "what combines numbers does so in f32; convert them with arith.extf";
  if (isa<tosa::MaxPool2dOp>(op))
    return "pooling begins with the smallest f16 or f32; convert with tosa.cast";
  if (auto truncation = dyn_cast<arith::TruncFOp>(op);
      truncation && truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
                        arith::RoundingMode::to_nearest_even)
    return "conversions round to nearest even";
  return {};
}

/// Upstream keeps attributes that it does not know. So a misspelt attribute would do nothing: an
/// unknown name is refused if it is nearly that of one which is missing.
LogicalResult checkSpelling(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName().getValue();
    if (name.contains('.')) // of a dialect
      continue;
    for (StringAttr known : op->getName().getAttributeNames()) {
      const bool isMissing = !op->getInherentAttr(known.getValue()).value_or(Attribute());
      const unsigned most = unsigned(std::min<size_t>(2, known.size() / 3));
      if (isMissing &&
          name.edit_distance(known.getValue(), /*AllowReplacements=*/true, most) <= most)
        return op->emitOpError() << "has no attribute '" << name << "'; is it '" << known.getValue()
                                 << "'?";
    }
  }
  return success();
}

LogicalResult check(Operation *op) {
  if (StringRef reason = reasonAgainst(op); !reason.empty())
    return op->emitError() << "'" << op->getName() << "' is not supported: " << reason;
  if (failed(checkSpelling(op)))
    return failure();
  auto checkTypes = [&](TypeRange types) -> LogicalResult {
    for (Type type : types) {
      if (FloatType unknown = unknownFloat(type))
        return op->emitError() << "'" << op->getName() << "' is not supported on " << unknown
                               << ": floats are f8E4M3FN, f8E5M2, f16, bf16, f32 and f64";
      Type element = getElementTypeOrSelf(type);
      if (StringRef reason = isStorageFloat(element) ? reasonAgainstStorage(op) : StringRef();
          !reason.empty())
        return op->emitError() << "'" << op->getName() << "' is not supported on " << element
                               << ": " << reason;
    }
    return success();
  };
  if (failed(checkTypes(op->getResultTypes())))
    return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      // Those of a function have a message of their own.
      if (!isa<func::FuncOp>(op) && failed(checkTypes(block.getArgumentTypes())))
        return failure();
  return success();
}

struct CheckOperations : plim::ir::impl::PlimCheckOperationsBase<CheckOperations> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ++checked;
      return succeeded(check(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
