#include "jit/ExportBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace plim::jit {

ExportBuilder::ExportBuilder(ModuleOp module, const Artifact &artifact,
                             const targets::DeviceDescription &device, std::string_view name)
    : module(module), artifact(artifact), device(device), name(name),
      structs(exportedStructs(artifact)), symbols(module), builder(module.getBodyRegion()),
      loc(module.getLoc()), pointer(LLVM::LLVMPointerType::get(module.getContext())),
      word(builder.getI64Type()), code(builder.getI32Type()) {}

bool ExportBuilder::isNarrow() { return ir::indexBits(module) == 32; }

SmallVector<LLVM::CallOp> ExportBuilder::callsOf(StringRef symbol) {
  SmallVector<LLVM::CallOp> calls;
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == symbol)
      calls.push_back(call);
  });
  return calls;
}

LLVM::LLVMFuncOp ExportBuilder::function(const Twine &symbol) {
  return symbols.lookup<LLVM::LLVMFuncOp>(symbol.str());
}

Value ExportBuilder::load(OpBuilder &at, Type type, Value base, int32_t offset) {
  return ir::loadAt(at, loc, type, base, offset);
}

void ExportBuilder::fail(OpBuilder &at, Value context, Value status) {
  Value before = ir::loadStatus(at, loc, context);
  Value zero = LLVM::ConstantOp::create(at, loc, at.getI32IntegerAttr(0));
  Value isFirst = LLVM::ICmpOp::create(at, loc, LLVM::ICmpPredicate::eq, before, zero);
  Value now = LLVM::SelectOp::create(at, loc, isFirst, status, before);
  ir::storeAt(at, loc, now, context, ir::abi::contextStatusOffset);
}

LLVM::GlobalOp ExportBuilder::makeBytes(const DataSymbol &symbol, StringRef called,
                                        Attribute value) {
  OpBuilder::InsertionGuard guard(builder);
  Type type = LLVM::LLVMArrayType::get(builder.getI8Type(), uint64_t(symbol.bytes));
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, called, value,
      uint64_t(std::max(symbol.alignment, device.workspaceAlignment)));
  if (!value) {
    builder.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(builder, loc, LLVM::ZeroOp::create(builder, loc, type).getResult());
  }
  return global;
}

/// Of a scalar in memory, where it has a type of its own in C.
static unsigned bitsOf(StringRef element) {
  if (element == "index")
    return 64;
  unsigned bits = 0;
  if (element.consume_front("bf") || element.consume_front("f") || element.consume_front("ui") ||
      element.consume_front("i"))
    (void)element.consumeInteger(10, bits);
  return std::max(8u, unsigned(llvm::PowerOf2Ceil(bits)));
}

int64_t ExportBuilder::elementBytes(const ValueType &value) {
  StringRef element = value.element;
  const bool isPair = element.consume_front("complex<") && element.consume_back(">");
  return int64_t(bitsOf(element)) / 8 * (isPair ? 2 : 1);
}

Type ExportBuilder::typeOf(const ValueType &value) {
  if (value.isShaped)
    return pointer;
  const std::string &element = value.element;
  if (element == "f32")
    return builder.getF32Type();
  if (element == "f64")
    return builder.getF64Type();
  return IntegerType::get(pointer.getContext(), bitsOf(element));
}

Value ExportBuilder::words(int64_t count) {
  // In the first block, where it is part of the frame.
  auto function = builder.getInsertionBlock()->getParentOp();
  OpBuilder frame = OpBuilder::atBlockBegin(&function->getRegion(0).front());
  return LLVM::AllocaOp::create(frame, loc, pointer, word,
                                ir::constant64(frame, loc, std::max<int64_t>(count, 1)));
}

void ExportBuilder::store(Value value, Value base, int64_t slot) {
  ir::storeAt(builder, loc, value, base, int32_t(wordBytes * slot));
}

SmallVector<Value> ExportBuilder::fieldsOf(Value fields, int64_t count) {
  SmallVector<Value> all;
  for (int64_t i = 0; i < count; ++i) {
    Value field = LLVM::GEPOp::create(builder, loc, pointer, pointer, fields,
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    all.push_back(LLVM::LoadOp::create(builder, loc, pointer, field));
  }
  return all;
}

Value ExportBuilder::array(ValueRange values) {
  Value slots = words(int64_t(values.size()));
  for (const auto &[i, value] : llvm::enumerate(values))
    store(value, slots, int64_t(i));
  return slots;
}

void ExportBuilder::refuseNull(ArrayRef<Value> values) {
  Value isNull, null = LLVM::ZeroOp::create(builder, loc, pointer);
  for (Value value : values)
    if (value.getType() == pointer) {
      Value one = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value, null);
      isNull = isNull ? LLVM::OrOp::create(builder, loc, isNull, one).getResult() : one;
    }
  if (isNull)
    refuseIf(isNull);
}

void ExportBuilder::refuseWide(Value index) {
  Type narrow = builder.getI32Type();
  Value same =
      LLVM::SExtOp::create(builder, loc, word, LLVM::TruncOp::create(builder, loc, narrow, index));
  refuseIf(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, same, index));
}

void ExportBuilder::refuseIf(Value condition, int32_t status) {
  Region &body = *builder.getInsertionBlock()->getParent();
  Block *refuse = new Block, *go = new Block;
  body.push_back(refuse);
  body.push_back(go);
  LLVM::CondBrOp::create(builder, loc, condition, refuse, go);
  builder.setInsertionPointToEnd(refuse);
  Value returned = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(status));
  LLVM::ReturnOp::create(builder, loc, returned);
  builder.setInsertionPointToEnd(go);
}

} // namespace plim::jit
