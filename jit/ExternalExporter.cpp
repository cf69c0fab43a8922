#include "jit/ExternalExporter.h"

#include "ir/Conversion/Passes.h"
#include "ir/Plim/Locations.h"

using namespace mlir;

namespace plim::jit {

Status ExternalExporter::callExternals() {
  for (const char *symbol : {"plim_rt_call", "plim_rt_launch"})
    for (LLVM::CallOp call : callsOf(symbol)) {
      StringRef called = call.getOperand(1).getDefiningOp<LLVM::AddressOfOp>().getGlobalName();
      called.consume_front(ir::externalPrefix);
      auto external = llvm::find_if(
          artifact.externals, [&](const ExternalFunction &each) { return each.name == called; });
      const size_t index = size_t(external - artifact.externals.begin());
      if (!external->openResults.empty())
        return unimplementedError(external->location + "'" + external->name +
                                  "' cannot be exported: it makes results itself");
      const ExternalTypes &types = externals[index];
      auto isOpen = [](const ValueType &type) { return openExtents(type) > 0; };
      if (!external->device.empty() &&
          (llvm::any_of(types.arguments, isOpen) || llvm::any_of(types.results, isOpen)))
        return errorAtPlace(StatusCode::Unimplemented,
                            ir::locationText(call.getLoc()) +
                                "this cannot be exported: code for '" + external->device +
                                "' is not told extents that only a call knows");
      OpBuilder at(call);
      Value status = LLVM::CallOp::create(
                         at, call.getLoc(), adapterOf(*external, types),
                         ValueRange{call.getOperand(0), call.getOperand(3), call.getOperand(4)})
                         .getResult();
      call.getResult().replaceAllUsesWith(status);
      call.erase();
    }
  return okStatus();
}

LLVM::LLVMFuncOp ExternalExporter::adapterOf(const ExternalFunction &external,
                                             const ExternalTypes &types) {
  const std::string symbol = (adapterPrefix + external.name).str();
  if (LLVM::LLVMFuncOp known = function(symbol))
    return known;
  builder.setInsertionPointToEnd(module.getBody());
  auto adapter = LLVM::LLVMFuncOp::create(
      builder, loc, symbol, LLVM::LLVMFunctionType::get(code, {pointer, pointer, pointer}));
  symbols.insert(adapter);
  builder.setInsertionPointToStart(adapter.addEntryBlock(builder));
  auto dataOf = [&](unsigned views, size_t index) {
    return load(builder, pointer, adapter.getArgument(views), ir::abi::viewBytes * int32_t(index));
  };
  SmallVector<Value> memory;
  SmallVector<SmallVector<Value>> extents(types.arguments.size());
  for (const auto &[i, type] : llvm::enumerate(types.arguments)) {
    memory.push_back(dataOf(1, i));
    if (openExtents(type) == 0)
      continue;
    Value sizes = load(builder, pointer, adapter.getArgument(1),
                       ir::abi::viewBytes * int32_t(i) + ir::abi::viewSizesOffset);
    for (const auto &[d, extent] : llvm::enumerate(type.shape))
      if (extent == -1)
        extents[i].push_back(load(builder, word, sizes, wordBytes * int32_t(d)));
  }
  SmallVector<bool> isDonated(types.results.size());
  for (const ValueType &argument : types.arguments)
    if (argument.donatedTo)
      isDonated[*argument.donatedTo] = true;
  for (size_t i = 0; i < types.results.size(); ++i)
    if (!isDonated[i])
      memory.push_back(dataOf(2, i));
  Value status = external.device.empty() ? callApplication(external, types, memory, extents)
                                         : runOnDevice(adapter.getArgument(0), external, memory);
  fail(builder, adapter.getArgument(0), status);
  LLVM::ReturnOp::create(builder, loc, status);
  return adapter;
}

Value ExternalExporter::callApplication(const ExternalFunction &external,
                                        const ExternalTypes &types, ArrayRef<Value> memory,
                                        ArrayRef<SmallVector<Value>> extents) {
  SmallVector<Value> given;
  SmallVector<Attribute> attributes;
  const Attribute nothing = builder.getDictionaryAttr({});
  for (const auto &[i, value] : llvm::enumerate(memory)) {
    const bool isScalar = i < types.arguments.size() && !types.arguments[i].isShaped;
    attributes.push_back(isScalar ? extensionOf(types.arguments[i]) : nothing);
    given.push_back(isScalar ? LLVM::LoadOp::create(builder, loc, typeOf(types.arguments[i]), value)
                             : value);
    if (i < extents.size()) {
      llvm::append_range(given, extents[i]);
      attributes.append(extents[i].size(), nothing);
    }
  }
  const SmallVector<Type> taken(ValueRange(given).getTypes());
  const std::string symbol = applicationSymbol(external.name);
  LLVM::LLVMFuncOp callee = function(symbol);
  if (!callee) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = LLVM::LLVMFuncOp::create(top, loc, symbol, LLVM::LLVMFunctionType::get(code, taken));
    callee.setArgAttrsAttr(builder.getArrayAttr(attributes));
    symbols.insert(callee);
  }
  auto call = LLVM::CallOp::create(builder, loc, callee, given);
  call.setArgAttrsAttr(builder.getArrayAttr(attributes));
  return call.getResult();
}

DictionaryAttr ExternalExporter::extensionOf(const ValueType &type) {
  auto width = dyn_cast<IntegerType>(typeOf(type));
  if (!width || width.getWidth() > 32)
    return builder.getDictionaryAttr({});
  // As the header declares them.
  const bool isSigned = StringRef(type.element).starts_with("i") && type.element != "i1";
  return builder.getDictionaryAttr({builder.getNamedAttr(
      isSigned ? LLVM::LLVMDialect::getSExtAttrName() : LLVM::LLVMDialect::getZExtAttrName(),
      builder.getUnitAttr())});
}

Value ExternalExporter::deviceField(Value devices, size_t index, DeviceField field) {
  auto type = LLVM::LLVMStructType::getLiteral(
      module.getContext(), SmallVector<Type>(size_t(DeviceField::Count), pointer));
  Value address = LLVM::GEPOp::create(builder, loc, pointer, type, devices,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index), int32_t(field)});
  return LLVM::LoadOp::create(builder, loc, pointer, address);
}

Value ExternalExporter::runOnDevice(Value context, const ExternalFunction &external,
                                    ArrayRef<Value> memory) {
  const size_t index =
      size_t(llvm::find(structs.devices, external.device) - structs.devices.begin());
  Value buffers = LLVM::AllocaOp::create(
      builder, loc, pointer, pointer,
      ir::constant64(builder, loc, std::max<int64_t>(int64_t(memory.size()), 1)));
  for (const auto &[i, each] : llvm::enumerate(memory)) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, buffers,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(builder, loc, each, slot);
  }
  DataSymbol bytes;
  bytes.bytes = int64_t(external.code.size());
  LLVM::GlobalOp contents;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    contents = makeBytes(bytes, "plim.code." + external.name, builder.getStringAttr(external.code));
    contents.setSection(".rodata." + external.device);
  }
  Value devices = load(builder, pointer, context, devicesOffset);
  Type size = builder.getIntegerType(ir::indexBits(module));
  auto number = [&](size_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(size, int64_t(value)));
  };
  auto type = LLVM::LLVMFunctionType::get(code, {pointer, pointer, size, pointer, size});
  return LLVM::CallOp::create(builder, loc, type,
                              ValueRange{deviceField(devices, index, DeviceField::Run),
                                         deviceField(devices, index, DeviceField::Context),
                                         LLVM::AddressOfOp::create(builder, loc, contents),
                                         number(external.code.size()), buffers,
                                         number(memory.size())})
      .getResult();
}

Value ExternalExporter::callDevice(Value devices, size_t index, DeviceField field) {
  Value called = deviceField(devices, index, field);
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, called, null);
  Region &body = *builder.getInsertionBlock()->getParent();
  Block *call = new Block, *after = new Block;
  body.push_back(call);
  body.push_back(after);
  Value status = after->addArgument(code, loc);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  LLVM::CondBrOp::create(builder, loc, isThere, call, ValueRange(), after, ValueRange(zero));
  builder.setInsertionPointToEnd(call);
  Value returned =
      LLVM::CallOp::create(builder, loc, LLVM::LLVMFunctionType::get(code, {pointer}),
                           ValueRange{called, deviceField(devices, index, DeviceField::Context)})
          .getResult();
  LLVM::BrOp::create(builder, loc, ValueRange(returned), after);
  builder.setInsertionPointToEnd(after);
  return status;
}

Value ExternalExporter::runActive(Value devices, llvm::function_ref<Value()> run, size_t index) {
  if (index == structs.devices.size())
    return run();
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value active = callDevice(devices, index, DeviceField::Activate);
  Value isActive = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, active, zero);
  Region &body = *builder.getInsertionBlock()->getParent();
  Block *go = new Block, *end = new Block;
  body.push_back(go);
  LLVM::CondBrOp::create(builder, loc, isActive, go, ValueRange(), end, ValueRange(active));
  builder.setInsertionPointToEnd(go);
  Value ran = runActive(devices, run, index + 1);
  Value ended = callDevice(devices, index, DeviceField::Deactivate);
  Value isFine = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, ran, zero);
  Value all = LLVM::SelectOp::create(builder, loc, isFine, ended, ran);
  LLVM::BrOp::create(builder, loc, ValueRange(all), end);
  body.push_back(end);
  Value status = end->addArgument(code, loc);
  builder.setInsertionPointToEnd(end);
  return status;
}

void ExternalExporter::defineOpenAndClose() {
  if (structs.devices.empty())
    return;
  auto make = [&](const char *what) {
    builder.setInsertionPointToEnd(module.getBody());
    auto made = LLVM::LLVMFuncOp::create(builder, loc, exportedSymbol(name, what),
                                         LLVM::LLVMFunctionType::get(code, {pointer}));
    made.setResultAttr(0, LLVM::LLVMDialect::getSExtAttrName(), builder.getUnitAttr());
    builder.setInsertionPointToStart(made.addEntryBlock(builder));
    refuseNull({made.getArgument(0)});
    return made;
  };
  LLVM::LLVMFuncOp open = make("open");
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  for (size_t i = 0; i < structs.devices.size(); ++i) {
    Value status = callDevice(open.getArgument(0), i, DeviceField::Open);
    Value isOpen = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, zero);
    Block *failed = new Block, *next = new Block;
    open.getBody().push_back(failed);
    open.getBody().push_back(next);
    LLVM::CondBrOp::create(builder, loc, isOpen, next, failed);
    builder.setInsertionPointToEnd(failed);
    for (size_t before = i; before-- > 0;)
      (void)callDevice(open.getArgument(0), before, DeviceField::Close);
    LLVM::ReturnOp::create(builder, loc, status);
    builder.setInsertionPointToEnd(next);
  }
  LLVM::ReturnOp::create(
      builder, loc,
      LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)).getResult());
  LLVM::LLVMFuncOp close = make("close");
  Value status = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value none = status;
  for (size_t i = structs.devices.size(); i-- > 0;) {
    Value closed = callDevice(close.getArgument(0), i, DeviceField::Close);
    Value isFine = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, none);
    status = LLVM::SelectOp::create(builder, loc, isFine, closed, status);
  }
  LLVM::ReturnOp::create(builder, loc, status);
}

} // namespace plim::jit
