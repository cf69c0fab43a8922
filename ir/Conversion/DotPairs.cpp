#include "ir/Conversion/DotPairs.h"
#include "ir/Plim/Plim.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/VectorPattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace {

StringRef intrinsicOf(unsigned width) {
  switch (width) {
  case 512:
    return "llvm.x86.avx512.pmaddw.d.512";
  case 256:
    return "llvm.x86.avx2.pmadd.wd";
  case 128:
    return "llvm.x86.sse2.pmadd.wd";
  default:
    return {};
  }
}

struct DotPairsToLLVM : ConvertOpToLLVMPattern<plim::ir::DotPairsOp> {
  DotPairsToLLVM(const LLVMTypeConverter &types, unsigned width)
      : ConvertOpToLLVMPattern(types), width(width) {}

  LogicalResult matchAndRewrite(plim::ir::DotPairsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto lower = [&](Type, ValueRange operands) {
      return dot(rewriter, op.getLoc(), operands[0], operands[1], operands[2]);
    };
    if (isa<LLVM::LLVMArrayType>(adaptor.getA().getType()))
      return LLVM::detail::handleMultidimensionalVectors(op, adaptor.getOperands(),
                                                         *getTypeConverter(), lower, rewriter);
    rewriter.replaceOp(op, lower({}, adaptor.getOperands()));
    return success();
  }

private:
  Value dot(OpBuilder &builder, Location loc, Value a, Value b, Value sum) const {
    // LLVM makes one instruction of it and of the sum where the processor has that (VNNI).
    const StringRef intrinsic = intrinsicOf(width);
    auto type = dyn_cast<VectorType>(sum.getType());
    const int64_t lanes = width / 32;
    if (intrinsic.empty() || !type || type.getDimSize(0) % lanes != 0)
      return arithmetic(builder, loc, a, b, sum);
    auto part = VectorType::get(lanes, builder.getI32Type());
    auto pairs = VectorType::get(2 * lanes, builder.getI16Type());
    Value products = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t first = 0; first < type.getDimSize(0); first += lanes) {
      SmallVector<int32_t> taken(lanes), put(type.getDimSize(0)), all(type.getDimSize(0), -1);
      std::iota(taken.begin(), taken.end(), int32_t(first));
      std::iota(put.begin(), put.end(), 0);
      for (int32_t lane = 0; lane < lanes; ++lane) {
        all[first + lane] = lane;
        put[first + lane] += int32_t(type.getDimSize(0));
      }
      SmallVector<Value> operands;
      for (Value operand : {a, b})
        operands.push_back(LLVM::BitcastOp::create(
            builder, loc, pairs,
            LLVM::ShuffleVectorOp::create(builder, loc, operand, operand, taken)));
      Value product = LLVM::CallIntrinsicOp::create(builder, loc, part,
                                                    builder.getStringAttr(intrinsic), operands)
                          .getResult(0);
      product = LLVM::ShuffleVectorOp::create(builder, loc, product, product, all);
      products = LLVM::ShuffleVectorOp::create(builder, loc, products, product, put);
    }
    return LLVM::AddOp::create(builder, loc, sum, products);
  }

  static Value arithmetic(OpBuilder &builder, Location loc, Value a, Value b, Value sum) {
    TypedAttr bits = builder.getI32IntegerAttr(16);
    if (auto type = dyn_cast<VectorType>(sum.getType()))
      bits = DenseElementsAttr::get(type, Attribute(bits));
    Value sixteen = LLVM::ConstantOp::create(builder, loc, sum.getType(), bits);
    auto first = [&](Value pair) -> Value {
      return LLVM::AShrOp::create(builder, loc, LLVM::ShlOp::create(builder, loc, pair, sixteen),
                                  sixteen);
    };
    auto second = [&](Value pair) -> Value {
      return LLVM::AShrOp::create(builder, loc, pair, sixteen);
    };
    for (auto half :
         {llvm::function_ref<Value(Value)>(first), llvm::function_ref<Value(Value)>(second)})
      sum = LLVM::AddOp::create(builder, loc, sum,
                                LLVM::MulOp::create(builder, loc, half(a), half(b)));
    return sum;
  }

  unsigned width;
};

} // namespace

void plim::ir::populateDotPairsToLLVM(const LLVMTypeConverter &types, RewritePatternSet &patterns,
                                      unsigned width) {
  patterns.add<DotPairsToLLVM>(types, width);
}
