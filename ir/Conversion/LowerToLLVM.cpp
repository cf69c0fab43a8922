#include "ir/Cleanup/Cleanup.h"
#include "ir/Conversion/DotGroups.h"
#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Conversion/StorageFloats.h"

#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

#include <numeric>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMLOWERTOLLVM
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// Upstream calls a function that knows all layouts, unless the length or the offset is known.
struct CopyRow : ConvertOpToLLVMPattern<memref::CopyOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult matchAndRewrite(memref::CopyOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto source = cast<MemRefType>(op.getSource().getType()),
         target = cast<MemRefType>(op.getTarget().getType());
    if (!plim::ir::isRow(source) || !plim::ir::isRow(target))
      return failure();
    const Location loc = op.getLoc();
    MemRefDescriptor from(adaptor.getSource()), to(adaptor.getTarget());
    Value bytes = LLVM::MulOp::create(rewriter, loc, from.size(rewriter, loc, 0),
                                      getSizeInBytes(loc, source.getElementType(), rewriter));
    LLVM::MemcpyOp::create(rewriter, loc, to.bufferPtr(rewriter, loc, *getTypeConverter(), target),
                           from.bufferPtr(rewriter, loc, *getTypeConverter(), source), bytes,
                           /*isVolatile=*/false);
    rewriter.eraseOp(op);
    return success();
  }
};

/// An elementwise op on vectors of several dimensions, on their elements in one. Upstream's conversions to LLVM of these ops leave
/// casts behind, or make what LLVM refuses.
template <typename OpT> struct Flatten : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    auto flat = [](Type type) {
      auto vector = cast<VectorType>(type);
      return VectorType::get(vector.getNumElements(), vector.getElementType());
    };
    auto shape = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!shape || shape.getRank() < 2 || shape.isScalable())
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          vector::ShapeCastOp::create(rewriter, op.getLoc(), flat(operand.getType()), operand));
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(flat(type));
    auto made = OpT::create(rewriter, op.getLoc(), types, operands, op->getAttrs());
    SmallVector<Value> results;
    for (auto [result, type] : llvm::zip_equal(made->getResults(), op->getResultTypes()))
      results.push_back(vector::ShapeCastOp::create(rewriter, op.getLoc(), type, result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerToLLVM : plim::ir::impl::PlimLowerToLLVMBase<LowerToLLVM> {
  void runOnOperation() override {
    if (failed(lowerVectors()))
      return signalPassFailure();
    storageFloats += plim::ir::expandStorageFloats(getOperation());
    if (failed(expandComplex()) || failed(callLibrary()) || failed(convert()))
      return signalPassFailure();
    storeSmallIntegersAsBytes();
    loadLastBFloatsAlone();
    endNontemporalStores();
    keepLoopAnnotations();
  }

  /// Vector ops to those that have a direct counterpart in LLVM.
  LogicalResult lowerVectors() {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(patterns,
                                                   vector::VectorContractLowering::OuterProduct);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorScanLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorTransposeLoweringPatterns(patterns,
                                                    vector::VectorTransposeLowering::EltWise);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/false);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorInterleaveLoweringPatterns(patterns);
    vector::populateVectorToFromElementsToShuffleTreePatterns(patterns);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorRankReducingFMAPattern(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::FromElementsOp::getCanonicalizationPatterns(patterns, &getContext());
    patterns.add<Flatten<math::AbsIOp>, Flatten<math::CountLeadingZerosOp>,
                 Flatten<math::CountTrailingZerosOp>, Flatten<math::IsNaNOp>,
                 Flatten<math::IsInfOp>, Flatten<math::IsFiniteOp>, Flatten<math::IsNormalOp>,
                 Flatten<arith::MulSIExtendedOp>, Flatten<arith::MulUIExtendedOp>>(&getContext());
    // The C library has no such function.
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    return plim::ir::applySoundPatternsInFunctions(getOperation(), std::move(patterns));
  }

  /// Complex functions to functions of real numbers. Arithmetic alone has a counterpart in LLVM; the
  /// magnitude too, but its squares overflow.
  LogicalResult expandComplex() {
    // A conversion checks each op and lists it, also where it finds nothing to do.
    const bool hasComplex = getOperation()
                                .walk([](Operation *op) {
                                  return isa<complex::ComplexDialect>(op->getDialect())
                                             ? WalkResult::interrupt()
                                             : WalkResult::advance();
                                })
                                .wasInterrupted();
    if (!hasComplex)
      return success();
    RewritePatternSet patterns(&getContext());
    populateComplexToStandardConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalDialect<complex::ComplexDialect>();
    target
        .addLegalOp<complex::AddOp, complex::BitcastOp, complex::ConstantOp, complex::CreateOp,
                    complex::DivOp, complex::ImOp, complex::MulOp, complex::ReOp, complex::SubOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// Functions that LLVM has no intrinsic for, or for which upstream's expansion cancels near zero
  /// (log1p, expm1), become calls of the C library; LLVM's vectoriser finds their vector versions.
  LogicalResult callLibrary() {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalOp<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp, math::ErfOp,
                        math::ErfcOp, math::ExpM1Op, math::Log1pOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    unsigned calls = 0;
    getOperation().walk([&](Operation *op) { calls += target.isIllegal(op); });
    if (calls == 0)
      return success();
    libraryCalls += calls;
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  LogicalResult convert() {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(plim::ir::indexBits(getOperation()));
    LLVMTypeConverter types(&getContext(), options);
    SymbolTableCollection symbols; // to look up callees, which is linear without
    RewritePatternSet patterns(&getContext());
    // f16 and bf16 have no instructions of their own for most functions.
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    // Not upstream's whole set: it takes minima and maxima apart, which LLVM has, and which of two patterns for an op is tried
    // first is not settled.
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    // Quotients whose squares would overflow, or vanish, are right only by the improved range.
    populateComplexToLLVMConversionPatterns(types, patterns, complex::ComplexRangeFlags::improved);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns, &symbols);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    ub::populateUBToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    populateAMXLegalizeForLLVMExportPatterns(types, patterns);
    plim::ir::populateDotGroupsToLLVM(types, patterns, getOperation());
    patterns.add<CopyRow>(types, /*benefit=*/2);

    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    target.addIllegalDialect<amx::AMXDialect>();
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// X86 makes nontemporal stores visible to other threads in any order: not before a function ends.
  void endNontemporalStores() {
    getOperation().walk([](LLVM::LLVMFuncOp function) {
      const bool any =
          function
              .walk([](LLVM::StoreOp store) {
                return store.getNontemporal() ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
      if (any)
        function.walk([](LLVM::ReturnOp end) {
          OpBuilder builder(end);
          LLVM::FenceOp::create(builder, end.getLoc(), LLVM::AtomicOrdering::seq_cst);
        });
    });
  }

  /// What is said of a loop stands on its branch back. Upstream's conversion leaves it where the translation does not look.
  void keepLoopAnnotations() {
    getOperation().walk([](Operation *op) {
      if (auto branch = dyn_cast<LLVM::BrOp>(op))
        if (auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
                op->removeDiscardableAttr("llvm.loop_annotation")))
          branch.setLoopAnnotationAttr(annotation);
    });
  }

  /// What is smaller than a byte, in vectors too, whose bits LLVM would pack: the low bits count, and the others
  /// have the sign, or are zero for booleans.
  void storeSmallIntegersAsBytes() {
    auto isSmall = [](Type element) {
      return element.isInteger() && element.getIntOrFloatBitWidth() < 8;
    };
    auto bytesFor = [&](Type type) -> Type {
      Type byte = IntegerType::get(&getContext(), 8);
      if (isSmall(type))
        return byte;
      auto vector = dyn_cast<VectorType>(type);
      if (vector && isSmall(vector.getElementType()))
        return VectorType::get(vector.getShape(), byte);
      return {};
    };
    getOperation().walk([&](Operation *op) {
      ImplicitLocOpBuilder builder(op->getLoc(), op);
      auto extended = [&](Value value, Type bytes) -> Value {
        return getElementTypeOrSelf(value.getType()).isInteger(1)
                   ? LLVM::ZExtOp::create(builder, bytes, value).getResult()
                   : LLVM::SExtOp::create(builder, bytes, value).getResult();
      };
      Type bytes;
      Value whole;
      if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
        if ((bytes = bytesFor(load.getType())))
          whole = LLVM::LoadOp::create(builder, bytes, load.getAddr(), 1);
      } else if (auto masked = dyn_cast<LLVM::MaskedLoadOp>(op)) {
        if ((bytes = bytesFor(masked.getType()))) {
          Value otherwise = masked.getPassThru();
          whole = LLVM::MaskedLoadOp::create(builder, bytes, masked.getData(), masked.getMask(),
                                             otherwise ? extended(otherwise, bytes) : otherwise,
                                             masked.getAlignmentAttr());
        }
      } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
        if ((bytes = bytesFor(store.getValue().getType())))
          LLVM::StoreOp::create(builder, extended(store.getValue(), bytes), store.getAddr(),
                                unsigned(store.getAlignment().value_or(1)), store.getVolatile_(),
                                store.getNontemporal());
      } else if (auto masked = dyn_cast<LLVM::MaskedStoreOp>(op)) {
        if ((bytes = bytesFor(masked.getValue().getType())))
          LLVM::MaskedStoreOp::create(builder, extended(masked.getValue(), bytes), masked.getData(),
                                      masked.getMask(), masked.getAlignmentAttr());
      }
      if (!bytes)
        return;
      if (whole)
        op->getResult(0).replaceAllUsesWith(
            LLVM::TruncOp::create(builder, op->getResult(0).getType(), whole));
      op->erase();
      ++smallIntegers;
    });
  }

  /// Vectors of bf16 of which eight at a time leave one: LLVM 22 takes the load apart, and ends the process at the last element, for
  /// processors that convert them (AVX512-BF16). Masked ones are widened.
  void loadLastBFloatsAlone() {
    auto breaks = [](Type type) {
      auto vector = dyn_cast<VectorType>(type);
      return vector && vector.getElementType().isBF16() && vector.getNumElements() > 8 &&
             vector.getNumElements() % 8 == 1;
    };
    auto elements = [](int64_t from, int64_t to, int64_t size) {
      SmallVector<int32_t> taken(size_t(size), -1);
      std::iota(taken.begin() + from, taken.begin() + to, int32_t(from));
      return taken;
    };
    getOperation().walk([&](Operation *op) {
      if (!isa<LLVM::LoadOp, LLVM::MaskedLoadOp>(op) || !breaks(op->getResult(0).getType()))
        return;
      ImplicitLocOpBuilder builder(op->getLoc(), op);
      auto type = cast<VectorType>(op->getResult(0).getType());
      const int64_t size = type.getNumElements();
      auto resized = [&](int64_t to, Type element) { return VectorType::get(to, element); };
      auto shuffled = [&](Value vector, ArrayRef<int32_t> taken) -> Value {
        return LLVM::ShuffleVectorOp::create(builder, vector, vector, taken);
      };
      Value whole;
      if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
        Value first = LLVM::LoadOp::create(builder, resized(size - 1, type.getElementType()),
                                           load.getAddr(), load.getAlignment().value_or(2));
        Value address =
            LLVM::GEPOp::create(builder, load.getAddr().getType(), type.getElementType(),
                                load.getAddr(), ArrayRef<LLVM::GEPArg>{int32_t(size - 1)});
        Value last = LLVM::LoadOp::create(builder, type.getElementType(), address, 2);
        Value position = LLVM::ConstantOp::create(builder, builder.getI64IntegerAttr(size - 1));
        whole = LLVM::InsertElementOp::create(builder, shuffled(first, elements(0, size - 1, size)),
                                              last, position);
      } else {
        auto masked = cast<LLVM::MaskedLoadOp>(op);
        const int64_t wide = int64_t(llvm::PowerOf2Ceil(uint64_t(size)));
        Value none = LLVM::ConstantOp::create(
            builder, DenseElementsAttr::get(resized(wide, builder.getI1Type()), false));
        SmallVector<int32_t> taken = elements(0, size, wide);
        for (int64_t lane = size; lane < wide; ++lane)
          taken[size_t(lane)] = int32_t(wide + lane);
        Value mask = LLVM::ShuffleVectorOp::create(
            builder, shuffled(masked.getMask(), elements(0, size, wide)), none, taken);
        Value otherwise = masked.getPassThru();
        if (otherwise)
          otherwise = shuffled(otherwise, elements(0, size, wide));
        Value loaded = LLVM::MaskedLoadOp::create(builder, resized(wide, type.getElementType()),
                                                  masked.getData(), mask, otherwise,
                                                  masked.getAlignment(), masked.getNontemporal());
        whole = shuffled(loaded, elements(0, size, size));
      }
      op->getResult(0).replaceAllUsesWith(whole);
      op->erase();
      ++bfloatLoads;
    });
  }
};

} // namespace
