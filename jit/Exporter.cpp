#include "jit/Exporter.h"

#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace plim::jit {

namespace {

/// Behind the fields of plim_context: what a call of exported code has beside them. Each field takes eight bytes, as those do.
constexpr int32_t parametersOffset = ir::abi::contextBytes;
constexpr int32_t devicesOffset = parametersOffset + 8;
/// Where the scratch of the dispatch that runs begins in the slab.
constexpr int32_t scratchOffset = devicesOffset + 8;
constexpr int32_t exportContextBytes = scratchOffset + 8;
/// plim_context::call: the memory of each result.
constexpr int32_t resultsOffset = 32;
constexpr int32_t wordBytes = 8;

constexpr StringLiteral adapterPrefix = "plim.adapter.";

constexpr int32_t invalidArgument = static_cast<int32_t>(StatusCode::InvalidArgument);

class Exporter {
public:
  Exporter(ModuleOp module, const Artifact &artifact, const std::vector<ExternalTypes> &externals,
           const targets::DeviceDescription &device, std::string_view name)
      : module(module), artifact(artifact), externals(externals), device(device), name(name),
        structs(exportedStructs(artifact)), symbols(module), builder(module.getBodyRegion()),
        loc(module.getLoc()), pointer(LLVM::LLVMPointerType::get(module.getContext())),
        word(builder.getI64Type()), code(builder.getI32Type()) {}

  StatusOr<std::vector<ExportedContext>> run() {
    for (const FunctionSignature &function : artifact.functions)
      PLIM_RETURN_IF_ERROR(checkSizes(function));
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_allocate", "takes memory whose size only a call knows; "
                                                    "bound it with plim.max_bytes"));
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_recurse", "is recursive, so that its stack has no bound"));
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_schedule", "has a schedule"));
    callDispatches();
    PLIM_RETURN_IF_ERROR(callExternals());
    for (const FunctionSignature &function : artifact.functions)
      contexts.push_back(contextOf(function));
    defineRuntime();
    PLIM_RETURN_IF_ERROR(defineData());
    for (Operation &op : *module.getBody())
      makeLocal(&op);
    std::set<std::string> names;
    for (const auto &[function, context] : llvm::zip_equal(artifact.functions, contexts)) {
      if (!names.insert(exportedSymbol(name, function.name)).second)
        return invalidArgumentError(function.location + "'" + function.name +
                                    "' has the same name in C as another function");
      defineFunction(function, context);
    }
    for (const auto &[isThere, what] :
         {std::pair(structs.variables > 0, "reset"), std::pair(!structs.devices.empty(), "open"),
          std::pair(!structs.devices.empty(), "close")})
      if (isThere && !names.insert(exportedSymbol(name, what)).second)
        return invalidArgumentError("the header has a function '" + exportedSymbol(name, what) +
                                    "' of its own");
    defineReset();
    defineOpenAndClose();
    return std::move(contexts);
  }

private:
  bool isNarrow() { return ir::indexBits(module) == 32; }

  Status checkSizes(const FunctionSignature &function) {
    auto check = [&](const ValueType &type, const char *kind, size_t index) {
      const bool isKnown =
          !llvm::is_contained(type.shape, -1) && !llvm::is_contained(type.strides, dynamicStride);
      if (type.element == "index" && type.isShaped && isNarrow())
        return unimplementedError(function.location + "'" + function.name +
                                  "' cannot be exported: " + kind + " #" + std::to_string(index) +
                                  " has elements of type index, which has 32 bits there");
      if (!isKnown)
        return unimplementedError(function.location + "'" + function.name +
                                  "' cannot be exported: " + kind + " #" + std::to_string(index) +
                                  ", " + toString(type) + ", has an extent that is not known");
      return okStatus();
    };
    for (const auto &[i, type] : llvm::enumerate(function.arguments))
      PLIM_RETURN_IF_ERROR(check(type, "argument", i));
    for (const auto &[i, type] : llvm::enumerate(function.results))
      PLIM_RETURN_IF_ERROR(check(type, "result", i));
    return okStatus();
  }

  /// Calls of the symbol.
  SmallVector<LLVM::CallOp> callsOf(StringRef symbol) {
    SmallVector<LLVM::CallOp> calls;
    module.walk([&](LLVM::CallOp call) {
      if (call.getCallee() == symbol)
        calls.push_back(call);
    });
    return calls;
  }

  Status refuse(StringRef symbol, const char *why) {
    SmallVector<LLVM::CallOp> calls = callsOf(symbol);
    if (calls.empty())
      return okStatus();
    return unimplementedError(ir::locationText(calls[0].getLoc()) +
                              "this cannot be exported: the code " + why);
  }

  /// By what it, and all that it calls, refers to.
  ExportedContext contextOf(const FunctionSignature &signature) {
    ExportedContext context;
    context.workspaces =
        signature.workspaceBytes > 0 || signature.scratchBytes > 0 ||
        llvm::any_of(signature.pools, [](const PoolNeed &need) { return need.bytes > 0; });
    context.state = signature.usesState;
    llvm::SetVector<Operation *> reached;
    reached.insert(function(ir::entryPrefix + signature.name));
    for (size_t i = 0; i < reached.size(); ++i)
      reached[i]->walk([&](Operation *op) {
        if (auto call = dyn_cast<LLVM::CallOp>(op); call && call.getCallee()) {
          StringRef callee = *call.getCallee();
          if (callee.consume_front(adapterPrefix))
            context.devices |= llvm::any_of(artifact.externals, [&](const ExternalFunction &each) {
              return each.name == callee && !each.device.empty();
            });
          else if (LLVM::LLVMFuncOp known = function(callee))
            reached.insert(known);
        } else if (auto use = dyn_cast<LLVM::AddressOfOp>(op)) {
          StringRef data = use.getGlobalName();
          if (data.consume_front(ir::dataPrefix))
            context.parameters |= llvm::any_of(artifact.symbols, [&](const DataSymbol &symbol) {
              return symbol.name == data && symbol.kind == DataKind::Parameter;
            });
        }
      });
    return context;
  }

  LLVM::LLVMFuncOp function(const Twine &symbol) {
    return symbols.lookup<LLVM::LLVMFuncOp>(symbol.str());
  }

  Value load(OpBuilder &at, Type type, Value base, int32_t offset) {
    return ir::loadAt(at, loc, type, base, offset);
  }

  /// One after the other; the number of workgroups is a constant behind inlining.
  void callDispatches() {
    constexpr StringLiteral descriptor = "plim.descriptor.";
    for (LLVM::CallOp call : callsOf("plim_rt_dispatch")) {
      OpBuilder at(call);
      StringRef dispatch = call.getOperand(1).getDefiningOp<LLVM::AddressOfOp>().getGlobalName();
      dispatch.consume_front(descriptor);
      Value context = call.getOperand(0), bindings = call.getOperand(2),
            scalars = call.getOperand(3);
      Value count =
          LLVM::CallOp::create(at, call.getLoc(), function(ir::countPrefix + dispatch), scalars)
              .getResult();
      // Where its scratch is, for those in the slab.
      auto scratch = call->getAttrOfType<IntegerAttr>(ir::scratchOffsetAttr);
      ir::storeAt(at, call.getLoc(),
                  ir::constant64(at, call.getLoc(), scratch ? scratch.getInt() : slabBytes()),
                  context, scratchOffset);
      Value begin = ir::constant64(at, call.getLoc(), 0);
      Value status =
          LLVM::CallOp::create(at, call.getLoc(), function(ir::dispatchPrefix + dispatch),
                               ValueRange{context, bindings, scalars, begin, count})
              .getResult();
      call.getResult().replaceAllUsesWith(status);
      call.erase();
    }
  }

  // --- What is not of the module -----------------------------------------------------------------

  /// Each call of an external becomes one of a function that unpacks its views.
  Status callExternals() {
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
        OpBuilder at(call);
        Value status = LLVM::CallOp::create(
                           at, call.getLoc(), adapterOf(*external, externals[index]),
                           ValueRange{call.getOperand(0), call.getOperand(3), call.getOperand(4)})
                           .getResult();
        call.getResult().replaceAllUsesWith(status);
        call.erase();
      }
    return okStatus();
  }

  LLVM::LLVMFuncOp adapterOf(const ExternalFunction &external, const ExternalTypes &types) {
    const std::string symbol = (adapterPrefix + external.name).str();
    if (LLVM::LLVMFuncOp known = function(symbol))
      return known;
    builder.setInsertionPointToEnd(module.getBody());
    auto adapter = LLVM::LLVMFuncOp::create(
        builder, loc, symbol, LLVM::LLVMFunctionType::get(code, {pointer, pointer, pointer}));
    symbols.insert(adapter);
    builder.setInsertionPointToStart(adapter.addEntryBlock(builder));
    auto dataOf = [&](unsigned views, size_t index) {
      return load(builder, pointer, adapter.getArgument(views),
                  ir::abi::viewBytes * int32_t(index));
    };
    SmallVector<Value> memory;
    for (size_t i = 0; i < types.arguments.size(); ++i)
      memory.push_back(dataOf(1, i));
    SmallVector<bool> isDonated(types.results.size());
    for (const ValueType &argument : types.arguments)
      if (argument.donatedTo)
        isDonated[*argument.donatedTo] = true;
    for (size_t i = 0; i < types.results.size(); ++i)
      if (!isDonated[i])
        memory.push_back(dataOf(2, i));
    Value status = external.device.empty() ? callApplication(external, types, memory)
                                           : runOnDevice(adapter.getArgument(0), external, memory);
    fail(builder, adapter.getArgument(0), status);
    LLVM::ReturnOp::create(builder, loc, status);
    return adapter;
  }

  /// By name; scalars by value.
  Value callApplication(const ExternalFunction &external, const ExternalTypes &types,
                        SmallVector<Value> memory) {
    SmallVector<Type> taken;
    for (const auto &[i, value] : llvm::enumerate(memory)) {
      const bool isScalar = i < types.arguments.size() && !types.arguments[i].isShaped;
      taken.push_back(isScalar ? typeOf(types.arguments[i]) : pointer);
      if (isScalar)
        value = LLVM::LoadOp::create(builder, loc, taken.back(), value);
    }
    const std::string symbol = applicationSymbol(external.name);
    LLVM::LLVMFuncOp callee = function(symbol);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      callee = LLVM::LLVMFuncOp::create(top, loc, symbol, LLVM::LLVMFunctionType::get(code, taken));
      symbols.insert(callee);
    }
    return LLVM::CallOp::create(builder, loc, callee, memory).getResult();
  }

  /// The field of a device in the struct that the program filled in.
  Value deviceField(Value devices, size_t index, DeviceField field) {
    auto type = LLVM::LLVMStructType::getLiteral(
        module.getContext(), SmallVector<Type>(size_t(DeviceField::Count), pointer));
    Value address = LLVM::GEPOp::create(builder, loc, pointer, type, devices,
                                        ArrayRef<LLVM::GEPArg>{int32_t(index), int32_t(field)});
    return LLVM::LoadOp::create(builder, loc, pointer, address);
  }

  /// Code and buffers in the order of the device's function: arguments, then results.
  Value runOnDevice(Value context, const ExternalFunction &external, ArrayRef<Value> memory) {
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
      contents = makeBytes(bytes, "plim.code." + external.name,
                           builder.getStringAttr(external.code), /*isConstant=*/true);
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

  /// Calls an optional function of a device, i32 (void *): 0 if it has none.
  Value callDevice(Value devices, size_t index, DeviceField field) {
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

  /// Runs `run` with all devices active. The status of the first that failed.
  Value runActive(Value devices, llvm::function_ref<Value()> run, size_t index = 0) {
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

  /// NAME_open and NAME_close: those of the devices, in order and back. Where one fails to open, those before are closed.
  void defineOpenAndClose() {
    if (structs.devices.empty())
      return;
    auto make = [&](const char *what) {
      builder.setInsertionPointToEnd(module.getBody());
      auto made = LLVM::LLVMFuncOp::create(builder, loc, exportedSymbol(name, what),
                                           LLVM::LLVMFunctionType::get(code, {pointer}));
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

  // --- The runtime -------------------------------------------------------------------------------

  /// Gives a declared symbol of the runtime a body.
  template <typename BodyT> void define(StringRef symbol, BodyT body) {
    LLVM::LLVMFuncOp declared = function(symbol);
    if (!declared)
      return;
    OpBuilder at(module.getContext());
    at.setInsertionPointToStart(declared.addEntryBlock(at));
    if (Value result = body(at, declared.getArguments()))
      LLVM::ReturnOp::create(at, loc, result);
    else
      LLVM::ReturnOp::create(at, loc, ValueRange());
    declared.setAlwaysInline(true);
  }

  void defineRuntime() {
    define("plim_rt_allocate_result", [&](OpBuilder &at, ValueRange arguments) -> Value {
      Value results = load(at, pointer, arguments[0], resultsOffset);
      Value slot = LLVM::GEPOp::create(at, loc, pointer, word, results, arguments[1]);
      return LLVM::LoadOp::create(at, loc, pointer, slot);
    });
    define("plim_rt_release", [](OpBuilder &, ValueRange) { return Value(); });
    define("plim_rt_scratch", [&](OpBuilder &at, ValueRange arguments) -> Value {
      Value slab = load(at, pointer, arguments[0], ir::abi::contextWorkspaceOffset);
      Value begin = load(at, word, arguments[0], scratchOffset);
      return LLVM::GEPOp::create(at, loc, pointer, at.getI8Type(), slab, begin,
                                 LLVM::GEPNoWrapFlags::inbounds);
    });
    define("plim_rt_fail", [&](OpBuilder &at, ValueRange arguments) -> Value {
      fail(at, arguments[0], arguments[1]);
      return arguments[1];
    });
    define("plim_rt_require_failed", [&](OpBuilder &at, ValueRange arguments) {
      fail(at, arguments[0],
           LLVM::ConstantOp::create(at, loc, at.getI32IntegerAttr(invalidArgument)));
      return Value();
    });
  }

  /// The first failure counts; `status` may be none.
  void fail(OpBuilder &at, Value context, Value status) {
    Value before = ir::loadStatus(at, loc, context);
    Value zero = LLVM::ConstantOp::create(at, loc, at.getI32IntegerAttr(0));
    Value isFirst = LLVM::ICmpOp::create(at, loc, LLVM::ICmpPredicate::eq, before, zero);
    Value now = LLVM::SelectOp::create(at, loc, isFirst, status, before);
    ir::storeAt(at, loc, now, context, ir::abi::contextStatusOffset);
  }

  int64_t slabBytes() const { return exportedSlabBytes(artifact); }

  Status defineData() {
    unsigned parameter = 0;
    for (const DataSymbol &symbol : artifact.symbols) {
      if (symbol.type.element == "index" && isNarrow())
        return unimplementedError(symbol.location + "'" + symbol.name +
                                  "' cannot be exported: index has 32 bits there");
      auto global = symbols.lookup<LLVM::GlobalOp>((ir::dataPrefix + symbol.name).str());
      switch (symbol.kind) {
      case DataKind::Constant:
        defineConstant(global, symbol);
        break;
      case DataKind::Parameter:
        PLIM_RETURN_IF_ERROR(takeParameter(global, symbol, parameter++));
        break;
      case DataKind::Variable:
        break; // where the context says
      case DataKind::Prepared:
        return internalError("prepared data in exported code");
      }
    }
    // What is part of the code has the alignment of buffers of the engine.
    for (auto global : module.getOps<LLVM::GlobalOp>())
      if (global.getAlignment().value_or(1) > uint64_t(device.workspaceAlignment))
        global.setAlignment(uint64_t(device.workspaceAlignment));
    return okStatus();
  }

  void defineConstant(LLVM::GlobalOp global, const DataSymbol &symbol) {
    std::string section = symbol.pool.empty() ? "" : ".rodata." + symbol.pool;
    Attribute value;
    if (auto contents = contentsOf(artifact, symbol))
      value = builder.getStringAttr(StringRef(contents->data(), contents->size()));
    builder.setInsertionPoint(global);
    auto defined = makeBytes(symbol, global.getSymName(), value, /*isConstant=*/true);
    if (!section.empty())
      defined.setSection(section);
    symbols.erase(global);
    symbols.insert(defined);
  }

  LLVM::GlobalOp makeBytes(const DataSymbol &symbol, StringRef called, Attribute value,
                           bool isConstant) {
    OpBuilder::InsertionGuard guard(builder);
    Type type = LLVM::LLVMArrayType::get(builder.getI8Type(), uint64_t(symbol.bytes));
    auto global = LLVM::GlobalOp::create(
        builder, loc, type, isConstant, LLVM::Linkage::Internal, called, value,
        uint64_t(std::max(symbol.alignment, device.workspaceAlignment)));
    if (!value) {
      builder.createBlock(&global.getInitializerRegion());
      LLVM::ReturnOp::create(builder, loc, LLVM::ZeroOp::create(builder, loc, type).getResult());
    }
    return global;
  }

  /// Its address comes with each call.
  Status takeParameter(LLVM::GlobalOp global, const DataSymbol &symbol, unsigned index) {
    SmallVector<LLVM::AddressOfOp> uses;
    module.walk([&](LLVM::AddressOfOp use) {
      if (use.getGlobalName() == global.getSymName())
        uses.push_back(use);
    });
    for (LLVM::AddressOfOp use : uses) {
      auto user = use->getParentOfType<LLVM::LLVMFuncOp>();
      if (!user || user.getNumArguments() == 0 || !takesContext(user))
        return unimplementedError(symbol.location + "parameter '" + symbol.name +
                                  "' cannot be exported: a kernel reads it");
      OpBuilder at(use);
      Value all = load(at, pointer, user.getArgument(0), parametersOffset);
      use.getResult().replaceAllUsesWith(load(at, pointer, all, wordBytes * int32_t(index)));
      use.erase();
    }
    symbols.erase(global);
    return okStatus();
  }

  /// Host code does, in its first argument.
  bool takesContext(LLVM::LLVMFuncOp user) {
    StringRef called = user.getSymName();
    if (called.consume_front(ir::entryPrefix) || !called.consume_front("plim.body."))
      return true;
    return llvm::none_of(artifact.functions, [&](const FunctionSignature &function) {
      return function.name == called && function.isKernel;
    });
  }

  static void makeLocal(Operation *op) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op); function && !function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
  }

  // --- Functions for C ---------------------------------------------------------------------------

  Type typeOf(const ValueType &value) {
    if (value.isShaped)
      return pointer;
    const std::string &element = value.element;
    if (element == "f32")
      return builder.getF32Type();
    if (element == "f64")
      return builder.getF64Type();
    if (element == "index")
      return word;
    StringRef digits = element;
    unsigned bits = 0;
    if (digits.consume_front("bf") || digits.consume_front("f") || digits.consume_front("i"))
      (void)digits.consumeInteger(10, bits);
    return IntegerType::get(pointer.getContext(), std::max(8u, unsigned(llvm::PowerOf2Ceil(bits))));
  }

  /// A slot of eight bytes each in the frame.
  Value words(int64_t count) {
    // In the first block, where it is part of the frame.
    auto function = builder.getInsertionBlock()->getParentOp();
    OpBuilder frame = OpBuilder::atBlockBegin(&function->getRegion(0).front());
    return LLVM::AllocaOp::create(frame, loc, pointer, word,
                                  ir::constant64(frame, loc, std::max<int64_t>(count, 1)));
  }
  void store(Value value, Value base, int64_t slot) {
    ir::storeAt(builder, loc, value, base, int32_t(wordBytes * slot));
  }

  /// The pointers of a struct of the header.
  SmallVector<Value> fieldsOf(Value fields, int64_t count) {
    SmallVector<Value> all;
    for (int64_t i = 0; i < count; ++i) {
      Value field = LLVM::GEPOp::create(builder, loc, pointer, pointer, fields,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
      all.push_back(LLVM::LoadOp::create(builder, loc, pointer, field));
    }
    return all;
  }

  Value array(ValueRange values) {
    Value slots = words(int64_t(values.size()));
    for (const auto &[i, value] : llvm::enumerate(values))
      store(value, slots, int64_t(i));
    return slots;
  }

  void defineFunction(const FunctionSignature &signature, const ExportedContext &has) {
    SmallVector<Type> types;
    for (bool isThere : {has.workspaces, has.parameters, has.state, has.devices})
      if (isThere)
        types.push_back(pointer);
    for (const ValueType &type : signature.arguments)
      types.push_back(typeOf(type));
    // Results follow, but for those in the memory of an argument.
    SmallVector<std::optional<unsigned>> donor(signature.results.size());
    for (const auto &[i, type] : llvm::enumerate(signature.arguments))
      if (type.donatedTo)
        donor[*type.donatedTo] = unsigned(i);
    for (const auto &each : donor)
      if (!each)
        types.push_back(pointer);

    builder.setInsertionPointToEnd(module.getBody());
    auto exported = LLVM::LLVMFuncOp::create(builder, loc, exportedSymbol(name, signature.name),
                                             LLVM::LLVMFunctionType::get(code, types));
    builder.setInsertionPointToStart(exported.addEntryBlock(builder));
    auto next = exported.getArguments().begin();
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    refuseNull(llvm::to_vector_of<Value>(exported.getArguments()));
    SmallVector<Value> places, parameters, variables;
    if (has.workspaces)
      places = fieldsOf(*next++, structs.slab + int64_t(structs.pools.size()));
    if (has.parameters)
      parameters = fieldsOf(*next++, structs.parameters);
    if (has.state)
      variables = fieldsOf(*next++, structs.variables);
    refuseNull(llvm::to_vector(llvm::concat<Value>(places, parameters, variables)));
    Value context = words(exportContextBytes / wordBytes);
    Value none = ir::constant64(builder, loc, 0);
    for (int64_t slot = 0; slot < exportContextBytes / wordBytes; ++slot)
      store(none, context, slot);
    auto set = [&](int32_t offset, Value value) {
      ir::storeAt(builder, loc, value, context, offset);
    };
    if (has.workspaces) {
      if (structs.slab)
        set(ir::abi::contextWorkspaceOffset, places[0]);
      // One for each pool of the module, used or not.
      SmallVector<Value> pools(artifact.pools.size(), null);
      for (const auto &[i, pool] : llvm::enumerate(structs.pools))
        pools[pool] = places[structs.slab + i];
      set(ir::abi::contextPoolsOffset, array(pools));
    }
    if (has.parameters)
      set(parametersOffset, array(parameters));
    if (has.state)
      set(ir::abi::contextVariablesOffset, array(variables));
    Value devices;
    if (has.devices)
      set(devicesOffset, devices = *next++);
    // What may stop a call from elsewhere: nothing.
    set(ir::abi::contextCallStatusOffset, words(1));

    constexpr int64_t viewWords = ir::abi::viewBytes / wordBytes;
    Value arguments = words(viewWords * int64_t(signature.arguments.size()));
    auto view = [&](Value views, size_t index, Value data, Value sizes) {
      store(data, views, viewWords * int64_t(index));
      store(sizes, views, viewWords * int64_t(index) + 1);
      store(null, views, viewWords * int64_t(index) + 2);
    };
    SmallVector<Value> given;
    for (const auto &[i, type] : llvm::enumerate(signature.arguments)) {
      Value data = *next++;
      given.push_back(data);
      if (!type.isShaped) {
        Value slot = words(1);
        LLVM::StoreOp::create(builder, loc, data, slot);
        data = slot;
      }
      view(arguments, i, data, null);
    }
    const auto resultCount = int64_t(signature.results.size());
    Value results = words(viewWords * resultCount), memory = words(resultCount);
    for (const auto &[i, type] : llvm::enumerate(signature.results)) {
      Value data = donor[i] ? given[*donor[i]] : *next++;
      store(data, memory, int64_t(i));
      view(results, i, data, words(int64_t(type.shape.size())));
    }
    set(resultsOffset, memory);
    auto run = [&]() -> Value {
      return LLVM::CallOp::create(builder, loc, function(ir::entryPrefix + signature.name),
                                  ValueRange{context, arguments, results})
          .getResult();
    };
    Value status = devices ? runActive(devices, run) : run();
    LLVM::ReturnOp::create(builder, loc, status);
  }

  /// Ends the call with InvalidArgument where a pointer among the values is null. `builder` stands behind the check.
  void refuseNull(ArrayRef<Value> values) {
    Value isNull, null = LLVM::ZeroOp::create(builder, loc, pointer);
    for (Value value : values)
      if (value.getType() == pointer) {
        Value one = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value, null);
        isNull = isNull ? LLVM::OrOp::create(builder, loc, isNull, one).getResult() : one;
      }
    if (!isNull)
      return;
    Region &body = *builder.getInsertionBlock()->getParent();
    Block *refuse = new Block, *go = new Block;
    body.push_back(refuse);
    body.push_back(go);
    LLVM::CondBrOp::create(builder, loc, isNull, refuse, go);
    builder.setInsertionPointToEnd(refuse);
    Value status =
        LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(invalidArgument));
    LLVM::ReturnOp::create(builder, loc, status);
    builder.setInsertionPointToEnd(go);
  }

  /// NAME_reset: what variables begin with.
  void defineReset() {
    if (structs.variables == 0)
      return;
    builder.setInsertionPointToEnd(module.getBody());
    auto none = LLVM::LLVMVoidType::get(module.getContext());
    auto reset = LLVM::LLVMFuncOp::create(builder, loc, exportedSymbol(name, "reset"),
                                          LLVM::LLVMFunctionType::get(none, {pointer}));
    Block *body = reset.addEntryBlock(builder);
    int32_t field = 0;
    for (const DataSymbol &symbol : artifact.symbols) {
      if (symbol.kind != DataKind::Variable)
        continue;
      builder.setInsertionPointToEnd(body);
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, reset.getArgument(0),
                                       ArrayRef<LLVM::GEPArg>{field++});
      Value memory = LLVM::LoadOp::create(builder, loc, pointer, slot);
      Value bytes = ir::constant64(builder, loc, symbol.bytes);
      if (auto contents = contentsOf(artifact, symbol)) {
        LLVM::GlobalOp initial;
        {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPointToStart(module.getBody());
          initial = makeBytes(symbol, "plim.initial." + symbol.name,
                              builder.getStringAttr(StringRef(contents->data(), contents->size())),
                              /*isConstant=*/true);
        }
        LLVM::MemcpyOp::create(builder, loc, memory,
                               LLVM::AddressOfOp::create(builder, loc, initial), bytes,
                               /*isVolatile=*/false);
      } else {
        Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
        LLVM::MemsetOp::create(builder, loc, memory, zero, bytes, /*isVolatile=*/false);
      }
    }
    builder.setInsertionPointToEnd(body);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }

  ModuleOp module;
  const Artifact &artifact;
  const std::vector<ExternalTypes> &externals;
  const targets::DeviceDescription &device;
  std::string_view name;
  const ExportedStructs structs;
  std::vector<ExportedContext> contexts; // of each function
  SymbolTable symbols;
  OpBuilder builder;
  Location loc;
  Type pointer, word, code;
};

} // namespace

Status checkExportName(std::string_view name) {
  const bool isIdentifier = !name.empty() && !llvm::isDigit(name[0]) &&
                            llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isIdentifier ? okStatus()
                      : invalidArgumentError("'" + std::string(name) +
                                             "' cannot stand in front of names in C");
}

std::string applicationSymbol(std::string_view function) {
  std::string symbol(function);
  for (char &c : symbol)
    if (!llvm::isAlnum(c))
      c = '_';
  return symbol;
}

std::string exportedSymbol(std::string_view exportName, std::string_view function) {
  return std::string(exportName) + "_" + applicationSymbol(function);
}

int64_t exportedSlabBytes(const Artifact &artifact) {
  int64_t bytes = 0;
  for (const FunctionSignature &function : artifact.functions)
    bytes = std::max(bytes, function.workspaceBytes);
  return int64_t(llvm::alignTo(uint64_t(bytes), 64));
}

ExportedStructs exportedStructs(const Artifact &artifact) {
  ExportedStructs structs;
  structs.slabBytes = exportedSlabBytes(artifact);
  int64_t scratch = 0;
  for (const FunctionSignature &function : artifact.functions)
    scratch = std::max(scratch, function.scratchBytes);
  structs.slabBytes += scratch;
  structs.slab = structs.slabBytes > 0;
  for (size_t i = 0; i < artifact.pools.size(); ++i) {
    PoolNeed most;
    for (const FunctionSignature &function : artifact.functions) {
      most.bytes = std::max(most.bytes, function.pools[i].bytes);
      most.alignment = std::max(most.alignment, function.pools[i].alignment);
    }
    if (most.bytes > 0) {
      structs.pools.push_back(i);
      structs.poolNeeds.push_back(most);
    }
  }
  for (const ExternalFunction &external : artifact.externals)
    if (!external.device.empty() && !llvm::is_contained(structs.devices, external.device))
      structs.devices.push_back(external.device);
  for (const DataSymbol &symbol : artifact.symbols) {
    structs.parameters += symbol.kind == DataKind::Parameter;
    structs.variables += symbol.kind == DataKind::Variable;
  }
  return structs;
}

StatusOr<std::vector<ExportedContext>> exportFunctions(ModuleOp module, const Artifact &artifact,
                                                       const std::vector<ExternalTypes> &externals,
                                                       const targets::DeviceDescription &device,
                                                       std::string_view exportName) {
  return Exporter(module, artifact, externals, device, exportName).run();
}

StatusOr<std::vector<std::string>> undefinedSymbols(std::string_view object) {
  using namespace llvm::object;
  auto file = ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "object"));
  if (!file)
    return internalError("malformed object: " + llvm::toString(file.takeError()));
  std::set<std::string> names;
  for (const ELFSymbolRef symbol : cast<ELFObjectFileBase>(file->get())->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> called = symbol.getName();
    if (!flags || !called)
      return internalError("malformed object");
    if ((*flags & BasicSymbolRef::SF_Undefined) && !called->empty())
      names.insert(called->str());
  }
  return std::vector<std::string>(names.begin(), names.end());
}

} // namespace plim::jit
