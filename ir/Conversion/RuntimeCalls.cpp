#include "ir/Conversion/RuntimeCalls.h"

#include "ir/Conversion/Passes.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace plim::ir;

RuntimeCalls::RuntimeCalls(ModuleOp module, const SymbolTable &functions)
    : module(module), functions(functions), builder(module.getBodyRegion()) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type word = builder.getI64Type(), code = builder.getI32Type();
  Type none = LLVM::LLVMVoidType::get(module.getContext());
  dispatch = declare("plim_rt_dispatch", code, {pointer, pointer, pointer, pointer});
  schedule = declare("plim_rt_schedule", code, {pointer, pointer, pointer});
  allocate = declare("plim_rt_allocate", pointer, {pointer, word, pointer, word});
  allocateResult =
      declare("plim_rt_allocate_result", pointer, {pointer, word, word, pointer, word});
  release = declare("plim_rt_release", none, {pointer, pointer});
  scratch = declare("plim_rt_scratch", pointer, {pointer, word});
  recurse = declare("plim_rt_recurse", code, {pointer, pointer});
  call = declare("plim_rt_call", code, {pointer, pointer, pointer, pointer, pointer});
  launch = declare("plim_rt_launch", code, {pointer, pointer, pointer, pointer, pointer});
  fail = declare("plim_rt_fail", code, {pointer, code, pointer});
  requireFailed = declare("plim_rt_require_failed", none, {pointer, pointer, pointer, word});
  builder.setInsertionPoint(requireFailed); // what the module began with may go
}

LLVM::LLVMFuncOp RuntimeCalls::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, arguments));
}

LLVM::GlobalOp RuntimeCalls::constantString(StringRef text) {
  StringAttr key = builder.getStringAttr(text);
  LLVM::GlobalOp &global = strings[key];
  if (!global) {
    std::string contents = (text + Twine('\0')).str();
    global = LLVM::GlobalOp::create(
        builder, module.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), contents.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, "plim.string." + std::to_string(nextString++),
        builder.getStringAttr(contents));
  }
  return global;
}

Value RuntimeCalls::string(OpBuilder &at, Location loc, StringRef text) {
  return LLVM::AddressOfOp::create(at, loc, constantString(text));
}

Value RuntimeCalls::dispatchDescriptor(OpBuilder &at, Location loc, StringRef function) {
  std::string name = ("plim.descriptor." + function).str();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  LLVM::GlobalOp &global = descriptors[function];
  if (!global) {
    auto body = functions.lookup<func::FuncOp>(function);
    auto type = LLVM::LLVMStructType::getLiteral(
        module.getContext(), {pointer, pointer, pointer, builder.getI64Type(), pointer,
                              builder.getI64Type(), pointer, builder.getI64Type(), pointer});
    global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, Attribute());
    LLVM::GlobalOp label = constantString(function);
    LLVM::GlobalOp place = constantString(locationText(body.getLoc()));
    std::string access;
    for (unsigned i = 0; i < body.getNumArguments(); ++i)
      if (isa<MemRefType>(body.getArgumentTypes()[i])) {
        auto attribute = body.getArgAttrOfType<AccessAttr>(i, accessAttr);
        Access value = attribute ? attribute.getValue() : Access::ReadWrite;
        access += value == Access::ReadOnly    ? abi::accessRead
                  : value == Access::WriteOnly ? abi::accessWrite
                                               : char(abi::accessRead | abi::accessWrite);
      }
    LLVM::GlobalOp accesses = constantString(access);
    LLVM::LLVMFuncOp bytes = byteCount(body);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&global.getInitializerRegion());
    Value value = LLVM::UndefOp::create(builder, loc, type);
    auto field = [&](int64_t position, Value part) {
      value = LLVM::InsertValueOp::create(builder, loc, value, part, position);
    };
    auto addressOf = [&](const Twine &symbol) -> Value {
      return LLVM::AddressOfOp::create(builder, loc, pointer, builder.getStringAttr(symbol.str()));
    };
    field(0, addressOf(dispatchPrefix + function));
    field(1, addressOf(countPrefix + function));
    field(2, LLVM::AddressOfOp::create(builder, loc, label));
    auto cost = body->getAttrOfType<IntegerAttr>(costAttr);
    field(3, constant64(builder, loc, cost ? cost.getInt() : 0));
    field(4, LLVM::AddressOfOp::create(builder, loc, place));
    field(5, constant64(builder, loc, int64_t(access.size())));
    field(6, LLVM::AddressOfOp::create(builder, loc, accesses));
    auto grid = body->getAttrOfType<IntegerAttr>(gridAttr);
    field(7, constant64(builder, loc, grid ? grid.getInt() : 0));
    field(8, LLVM::AddressOfOp::create(builder, loc, bytes));
    LLVM::ReturnOp::create(builder, loc, value);
  }
  return LLVM::AddressOfOp::create(at, loc, global);
}

LLVM::LLVMFuncOp RuntimeCalls::byteCount(func::FuncOp dispatch) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = dispatch.getLoc();
  Type word = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto function = LLVM::LLVMFuncOp::create(builder, loc, (bytesPrefix + dispatch.getName()).str(),
                                           LLVM::LLVMFunctionType::get(word, {pointer}),
                                           LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  int64_t fixed = 0;
  SmallVector<std::pair<int64_t, unsigned>> varying; // a factor, and how many extents come with it
  unsigned extents = 0;
  for (unsigned i = 0; i < dispatch.getNumArguments(); ++i) {
    auto recorded = dispatch.getArgAttrOfType<TypeAttr>(i, shapeAttr);
    if (!recorded)
      continue;
    auto shape = cast<ShapedType>(recorded.getValue());
    auto access = dispatch.getArgAttrOfType<AccessAttr>(i, accessAttr);
    bool isBoth = !access || access.getValue() == Access::ReadWrite;
    int64_t bytes = elementBytes(shape.getElementType()) * (isBoth ? 2 : 1);
    unsigned dynamic = 0;
    for (int64_t extent : shape.getShape())
      if (ShapedType::isDynamic(extent))
        ++dynamic;
      else
        bytes *= extent;
    if (dynamic == 0)
      fixed += bytes;
    else
      varying.emplace_back(bytes, dynamic);
    extents += dynamic;
  }
  // They stand last among the scalars.
  auto isScalar = [](Type type) { return !isa<MemRefType>(type); };
  auto scalars =
      unsigned(llvm::count_if(dispatch.getArgumentTypes().drop_front().drop_back(2), isScalar));
  unsigned next = scalars - extents;
  Value sum = constant64(builder, loc, fixed);
  for (auto [bytes, count] : varying) {
    Value product = constant64(builder, loc, bytes);
    for (unsigned i = 0; i < count; ++i, ++next)
      product = LLVM::MulOp::create(
          builder, loc, product,
          loadAt(builder, loc, word, function.getArgument(0), int32_t(8 * next)));
    sum = LLVM::AddOp::create(builder, loc, sum, product);
  }
  LLVM::ReturnOp::create(builder, loc, sum);
  return function;
}

Value RuntimeCalls::scheduleTable(OpBuilder &at, Location loc, ArrayRef<uint64_t> predecessors) {
  OpBuilder::InsertionGuard guard(builder);
  Type word = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(module.getContext());
  std::string name = "plim.schedule." + std::to_string(nextSchedule++);
  LLVM::GlobalOp sets;
  if (llvm::any_of(predecessors, [](uint64_t set) { return set != 0; })) {
    SmallVector<APInt> words;
    for (uint64_t set : predecessors)
      words.emplace_back(64, set);
    auto count = static_cast<int64_t>(words.size());
    sets =
        LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(word, unsigned(count)),
                               /*isConstant=*/true, LLVM::Linkage::Internal, name + ".predecessors",
                               DenseElementsAttr::get(RankedTensorType::get(count, word), words));
  }
  auto type = LLVM::LLVMStructType::getLiteral(module.getContext(), {word, pointer});
  auto table = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::Internal, name, Attribute());
  builder.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, type);
  Value count = constant64(builder, loc, int64_t(predecessors.size()));
  value = LLVM::InsertValueOp::create(builder, loc, value, count, ArrayRef<int64_t>{0});
  Value array;
  if (sets)
    array = LLVM::AddressOfOp::create(builder, loc, sets);
  else
    array = LLVM::ZeroOp::create(builder, loc, pointer);
  value = LLVM::InsertValueOp::create(builder, loc, value, array, ArrayRef<int64_t>{1});
  LLVM::ReturnOp::create(builder, loc, value);
  return LLVM::AddressOfOp::create(at, loc, table);
}

Value RuntimeCalls::external(OpBuilder &at, Location loc, StringRef function) {
  std::string name = (externalPrefix + function).str();
  LLVM::GlobalOp &global = externals[function];
  if (!global)
    global =
        LLVM::GlobalOp::create(builder, module.getLoc(), builder.getI8Type(),
                               /*isConstant=*/true, LLVM::Linkage::External, name, Attribute());
  return LLVM::AddressOfOp::create(at, loc, global);
}

Value plim::ir::constant64(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

unsigned plim::ir::indexBits(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module->hasAttr(DLTIDialect::kDataLayoutAttrName))
    return 64;
  return unsigned(DataLayout(module).getTypeSizeInBits(IndexType::get(op->getContext())));
}

Value plim::ir::makeMemref(OpBuilder &builder, Location loc, MemRefType type, Value base,
                           ValueRange dynamicSizes, ValueRange dynamicStrides) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type word = builder.getIntegerType(indexBits(builder.getInsertionBlock()->getParentOp()));
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(word, value));
  };
  auto narrowed = [&](Value value) -> Value {
    return value.getType() == word ? value : LLVM::TruncOp::create(builder, loc, word, value);
  };
  int64_t rank = type.getRank();
  SmallVector<Type> fields = {pointer, pointer, word};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(word, rank));
  auto descriptorType = LLVM::LLVMStructType::getLiteral(context, fields);
  Value descriptor = LLVM::PoisonOp::create(builder, loc, descriptorType);
  auto insert = [&](Value part, ArrayRef<int64_t> position) {
    descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, part, position);
  };
  insert(base, 0);
  insert(base, 1);
  insert(constant(0), 2);
  SmallVector<Value> sizes;
  auto dynamic = dynamicSizes.begin();
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent) ? narrowed(*dynamic++) : constant(extent));
  for (int64_t i = 0; i < rank; ++i)
    insert(sizes[i], {3, i});
  if (!type.getLayout().isIdentity()) {
    auto dynamicStride = dynamicStrides.begin();
    for (auto [i, stride] : llvm::enumerate(type.getStridesAndOffset().first))
      insert(ShapedType::isDynamic(stride) ? narrowed(*dynamicStride++) : constant(stride),
             {4, int64_t(i)});
    return UnrealizedConversionCastOp::create(builder, loc, type, descriptor).getResult(0);
  }
  Value stride = constant(1);
  for (int64_t i = rank; i-- > 0;) {
    insert(stride, {4, i});
    if (i > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[i]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor).getResult(0);
}

Value plim::ir::pointerOf(OpBuilder &builder, Location loc, Value memref) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  auto type = cast<MemRefType>(memref.getType());
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (layout && layout.getOffset() != 0) {
    Value offset =
        ShapedType::isDynamic(layout.getOffset())
            ? Value(memref::ExtractStridedMetadataOp::create(builder, loc, memref).getOffset())
            : arith::ConstantIndexOp::create(builder, loc, layout.getOffset());
    Value size = arith::ConstantIndexOp::create(builder, loc, elementBytes(type.getElementType()));
    address = arith::AddIOp::create(builder, loc, address,
                                    arith::MulIOp::create(builder, loc, offset, size));
  }
  Value word = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                  word);
}

Value plim::ir::toWord(OpBuilder &builder, Location loc, Value scalar) {
  Type word = builder.getI64Type(), type = scalar.getType();
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, word, scalar);
  if (isa<FloatType>(type)) {
    Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
    scalar = arith::BitcastOp::create(builder, loc, bits, scalar);
  }
  if (scalar.getType() == word)
    return scalar;
  return arith::ExtUIOp::create(builder, loc, word, scalar);
}

Value plim::ir::fromWord(OpBuilder &builder, Location loc, Type type, Value word) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, word);
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (bits != word.getType())
    word = arith::TruncIOp::create(builder, loc, bits, word);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(builder, loc, type, word);
  return word;
}

Value plim::ir::loadAt(OpBuilder &builder, Location loc, Type type, Value base, int32_t offset) {
  Value address = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(builder, loc, type, address);
}

void plim::ir::storeAt(OpBuilder &builder, Location loc, Value value, Value base, int32_t offset) {
  Value address = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{offset});
  LLVM::StoreOp::create(builder, loc, value, address);
}

Value plim::ir::loadStatus(OpBuilder &builder, Location loc, Value context) {
  return loadAt(builder, loc, builder.getI32Type(), context, abi::contextStatusOffset);
}

Value plim::ir::areApart(OpBuilder &builder, Location loc, Value context) {
  Type word = builder.getI32Type();
  Value flags = loadAt(builder, loc, word, context, abi::contextFlagsOffset);
  Value mask = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(abi::callApart));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value bit = arith::AndIOp::create(builder, loc, flags, mask);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, zero);
}

Value plim::ir::loadCallStatus(OpBuilder &builder, Location loc, Value context) {
  Value field = LLVM::GEPOp::create(builder, loc, context.getType(), builder.getI8Type(), context,
                                    ArrayRef<LLVM::GEPArg>{abi::contextCallStatusOffset});
  // Invariant: the field, not what it points at.
  Value address = LLVM::LoadOp::create(builder, loc, context.getType(), field, /*alignment=*/8,
                                       /*isVolatile=*/false, /*isNonTemporal=*/false,
                                       /*isInvariant=*/true);
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address, /*alignment=*/4,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/false, /*isInvariantGroup=*/false,
                              LLVM::AtomicOrdering::monotonic);
}

Value plim::ir::loadScalar(OpBuilder &builder, Location loc, Type type, Value address) {
  // LLVM has no floats of 8 bits.
  if (isStorageFloat(type))
    return arith::BitcastOp::create(
        builder, loc, type, LLVM::LoadOp::create(builder, loc, builder.getI8Type(), address));
  if (!type.isIndex())
    return LLVM::LoadOp::create(builder, loc, type, address);
  Value word = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address);
  return arith::IndexCastOp::create(builder, loc, type, word);
}

void plim::ir::storeScalar(OpBuilder &builder, Location loc, Value value, Value address) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  if (isStorageFloat(value.getType()))
    value = arith::BitcastOp::create(builder, loc, builder.getI8Type(), value);
  LLVM::StoreOp::create(builder, loc, value, address);
}

Value plim::ir::unpackView(OpBuilder &builder, Location loc, Type type, Value views,
                           unsigned index) {
  const int32_t at = abi::viewBytes * int32_t(index);
  Value data = loadAt(builder, loc, views.getType(), views, at);
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return loadScalar(builder, loc, type, data);
  auto load = [&](int32_t field, size_t position) {
    Value array = loadAt(builder, loc, views.getType(), views, at + field);
    return loadAt(builder, loc, builder.getI64Type(), array, int32_t(8 * position));
  };
  SmallVector<Value> sizes, strides;
  for (auto [position, extent] : llvm::enumerate(memref.getShape()))
    if (ShapedType::isDynamic(extent))
      sizes.push_back(load(abi::viewSizesOffset, position));
  if (!memref.getLayout().isIdentity())
    for (auto [position, stride] : llvm::enumerate(memref.getStridesAndOffset().first))
      if (ShapedType::isDynamic(stride))
        strides.push_back(load(abi::viewStridesOffset, position));
  return makeMemref(builder, loc, memref, data, sizes, strides);
}

void plim::ir::packView(OpBuilder &builder, Location loc, Value result, Value views,
                        unsigned index) {
  const int32_t at = abi::viewBytes * int32_t(index);
  auto memref = dyn_cast<MemRefType>(result.getType());
  if (!memref) {
    storeScalar(builder, loc, result, loadAt(builder, loc, views.getType(), views, at));
    return;
  }
  storeAt(builder, loc, pointerOf(builder, loc, result), views, at);
  Value sizes = loadAt(builder, loc, views.getType(), views, at + abi::viewSizesOffset);
  for (int64_t position = 0; position < memref.getRank(); ++position) {
    Value dimension = arith::ConstantIndexOp::create(builder, loc, position);
    Value size = memref::DimOp::create(builder, loc, result, dimension);
    size = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
    storeAt(builder, loc, size, sizes, int32_t(8 * position));
  }
}

Value CallFrame::take(OpBuilder &builder, func::FuncOp function, int64_t words) {
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (words == 0)
    return LLVM::ZeroOp::create(builder, loc, pointer);
  if (!memory) {
    OpBuilder frame = OpBuilder::atBlockBegin(&function.front());
    memory = LLVM::AllocaOp::create(frame, loc, pointer, frame.getI64Type(),
                                    constant64(frame, loc, words));
  }
  const int64_t begin = std::exchange(used, used + words);
  if (used > size) {
    size = used;
    memory.getArraySize().getDefiningOp<LLVM::ConstantOp>().setValueAttr(
        builder.getI64IntegerAttr(size));
  }
  if (begin == 0)
    return memory;
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), memory,
                             ArrayRef<LLVM::GEPArg>{int32_t(begin)});
}

Value CallFrame::array(OpBuilder &builder, func::FuncOp function, ValueRange values) {
  Value array = take(builder, function, int64_t(values.size()));
  for (auto [index, value] : llvm::enumerate(values))
    storeAt(builder, value.getLoc(), value, array, int32_t(8 * index));
  return array;
}
