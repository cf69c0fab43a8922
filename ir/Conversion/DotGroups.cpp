#include "ir/Conversion/DotGroups.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/VectorPattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace {

std::string intrinsicOf(Type element, unsigned width, bool isAArch64) {
  if (isAArch64)
    return element.isBF16() ? "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
                            : "llvm.aarch64.neon.usdot.v4i32.v16i8";
  const std::string bits = std::to_string(width);
  if (element.isBF16())
    return "llvm.x86.avx512bf16.dpbf16ps." + bits;
  if (element.isInteger(8))
    return "llvm.x86.avx512.vpdpbusd." + bits;
  return width == 512   ? "llvm.x86.avx512.pmaddw.d.512"
         : width == 256 ? "llvm.x86.avx2.pmadd.wd"
                        : "llvm.x86.sse2.pmadd.wd";
}

struct DotGroupsToLLVM : ConvertOpToLLVMPattern<plim::ir::DotGroupsOp> {
  DotGroupsToLLVM(const LLVMTypeConverter &types, ModuleOp module) : ConvertOpToLLVMPattern(types) {
    MLIRContext *context = module.getContext();
    for (Type element : {Type(BFloat16Type::get(context)), Type(IntegerType::get(context, 8)),
                         Type(IntegerType::get(context, 16))})
      widths[element] = plim::ir::widthOfDotGroups(module, element);
    isAArch64 = plim::ir::isAArch64(module);
  }

  LogicalResult matchAndRewrite(plim::ir::DotGroupsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto lower = [&](Type, ValueRange operands) {
      return dot(rewriter, op.getLoc(), op.getElement(), operands[0], operands[1], operands[2]);
    };
    if (isa<LLVM::LLVMArrayType>(adaptor.getA().getType()))
      return LLVM::detail::handleMultidimensionalVectors(op, adaptor.getOperands().take_front(3),
                                                         *getTypeConverter(), lower, rewriter);
    rewriter.replaceOp(op, lower({}, adaptor.getOperands()));
    return success();
  }

private:
  /// By instructions, of which the last one may have lanes that nobody reads.
  Value dot(OpBuilder &builder, Location loc, Type element, Value a, Value b, Value sum) const {
    const unsigned width = widths.lookup(element);
    if (width == 0)
      return arithmetic(builder, loc, element, a, b, sum);
    const int64_t lanes = width / 32;
    auto type = dyn_cast<VectorType>(sum.getType());
    if (!type) {
      auto one = [&](Value scalar) -> Value {
        Value vector =
            LLVM::PoisonOp::create(builder, loc, VectorType::get(lanes, scalar.getType()));
        return LLVM::InsertElementOp::create(builder, loc, vector, scalar, first(builder, loc));
      };
      Value next = instruction(builder, loc, element, width, one(a), one(b), one(sum));
      return LLVM::ExtractElementOp::create(builder, loc, next, first(builder, loc));
    }
    const int64_t size = type.getDimSize(0);
    if (size == lanes)
      return instruction(builder, loc, element, width, a, b, sum);
    Value result = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t start = 0; start < size; start += lanes) {
      const int64_t count = std::min(lanes, size - start);
      SmallVector<int32_t> taken(lanes, -1), widened(size, -1), put(size);
      std::iota(taken.begin(), taken.begin() + count, int32_t(start));
      std::iota(put.begin(), put.end(), 0);
      for (int32_t lane = 0; lane < count; ++lane) {
        widened[start + lane] = lane;
        put[start + lane] = int32_t(size) + int32_t(start) + lane;
      }
      auto part = [&](Value vector) -> Value {
        return LLVM::ShuffleVectorOp::create(builder, loc, vector, vector, taken);
      };
      Value next = instruction(builder, loc, element, width, part(a), part(b), part(sum));
      next = LLVM::ShuffleVectorOp::create(builder, loc, next, next, widened);
      result = LLVM::ShuffleVectorOp::create(builder, loc, result, next, put);
    }
    return result;
  }

  static Value first(OpBuilder &builder, Location loc) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  }

  Value instruction(OpBuilder &builder, Location loc, Type element, unsigned width, Value a,
                    Value b, Value sum) const {
    auto numbers = VectorType::get(width / element.getIntOrFloatBitWidth(), element);
    SmallVector<Value> operands;
    for (Value operand : {a, b})
      operands.push_back(LLVM::BitcastOp::create(builder, loc, numbers, operand));
    // LLVM makes one instruction of the products of i16 and of the sum where the processor has that (VNNI).
    const bool addsItself = !element.isInteger(16);
    if (addsItself)
      operands.insert(operands.begin(), sum);
    Value result = LLVM::CallIntrinsicOp::create(
                       builder, loc, sum.getType(),
                       builder.getStringAttr(intrinsicOf(element, width, isAArch64)), operands)
                       .getResult(0);
    return addsItself ? result : LLVM::AddOp::create(builder, loc, sum, result).getResult();
  }

  static Value arithmetic(OpBuilder &builder, Location loc, Type element, Value a, Value b,
                          Value sum) {
    const int64_t bits = element.getIntOrFloatBitWidth();
    auto constant = [&](int64_t value) -> Value {
      TypedAttr attribute = builder.getI32IntegerAttr(int32_t(value));
      if (auto type = dyn_cast<VectorType>(a.getType()))
        attribute = DenseElementsAttr::get(type, Attribute(attribute));
      return LLVM::ConstantOp::create(builder, loc, a.getType(), attribute);
    };
    // A number of a group: the top bits of the group, once it is moved there.
    auto top = [&](Value group, int64_t number) -> Value {
      return LLVM::ShlOp::create(builder, loc, group, constant(32 - bits * (number + 1)));
    };
    for (int64_t number = 0; number < 32 / bits; ++number) {
      Value x = top(a, number), y = top(b, number);
      if (element.isBF16()) {
        Value mask = constant(int32_t(0xffff0000));
        for (Value *factor : {&x, &y})
          *factor = LLVM::BitcastOp::create(builder, loc, sum.getType(),
                                            LLVM::AndOp::create(builder, loc, *factor, mask));
        sum = LLVM::FAddOp::create(builder, loc, sum, LLVM::FMulOp::create(builder, loc, x, y));
        continue;
      }
      const Value distance = constant(32 - bits);
      x = element.isInteger(8) ? LLVM::LShrOp::create(builder, loc, x, distance).getResult()
                               : LLVM::AShrOp::create(builder, loc, x, distance).getResult();
      y = LLVM::AShrOp::create(builder, loc, y, distance);
      sum = LLVM::AddOp::create(builder, loc, sum, LLVM::MulOp::create(builder, loc, x, y));
    }
    return sum;
  }

  llvm::DenseMap<Type, unsigned> widths; // of vectors, by what groups hold
  bool isAArch64 = false;
};

} // namespace

void plim::ir::populateDotGroupsToLLVM(const LLVMTypeConverter &types, RewritePatternSet &patterns,
                                       ModuleOp module) {
  patterns.add<DotGroupsToLLVM>(types, module);
}
