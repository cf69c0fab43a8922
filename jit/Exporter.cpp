#include "jit/Exporter.h"

#include "jit/ExternalExporter.h"

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

class Exporter : public ExternalExporter {
public:
  using ExternalExporter::ExternalExporter;

  StatusOr<std::vector<ExportedContext>> run() {
    PLIM_RETURN_IF_ERROR(checkNames());
    for (const FunctionSignature &function : artifact.functions) {
      PLIM_RETURN_IF_ERROR(checkSizes(function));
      if (!function.plan.buffers.empty())
        return errorAtPlace(
            StatusCode::Unimplemented,
            function.location + "'" + function.name +
                "' cannot be exported: a call has to know extents before its memory "
                "can be planned, unless plim.max_bytes bounds it");
      if (!function.unplanned.empty())
        return errorAtPlace(StatusCode::Unimplemented, function.unplanned + ", so that '" +
                                                           function.name + "' cannot be exported");
    }
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_allocate", "takes memory whose size only a call knows; "
                                                    "bound it with plim.max_bytes"));
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_recurse", "is recursive, so that its stack has no bound"));
    callDispatches();
    PLIM_RETURN_IF_ERROR(callExternals());
    for (const FunctionSignature &function : artifact.functions)
      contexts.push_back(contextOf(function));
    defineRuntime();
    PLIM_RETURN_IF_ERROR(defineData());
    for (Operation &op : *module.getBody())
      makeLocal(&op);
    for (const auto &[function, context] : llvm::zip_equal(artifact.functions, contexts))
      defineFunction(function, context);
    defineReset();
    defineOpenAndClose();
    return std::move(contexts);
  }

private:
  /// No two functions may have one name in C, and those of the program no name that C has for something else.
  Status checkNames() const {
    std::set<std::string> names;
    for (const auto &[isThere, what] :
         {std::pair(structs.variables > 0, "reset"), std::pair(!structs.devices.empty(), "open"),
          std::pair(!structs.devices.empty(), "close")})
      if (isThere)
        names.insert(exportedSymbol(name, what));
    auto add = [&](const std::string &symbol, const std::string &location,
                   const std::string &called) -> Status {
      if (!names.insert(symbol).second)
        return errorAtPlace(StatusCode::InvalidArgument,
                            location + "'" + called +
                                "' has the same name in C as another function, '" + symbol + "'");
      return okStatus();
    };
    for (const FunctionSignature &function : artifact.functions)
      PLIM_RETURN_IF_ERROR(
          add(exportedSymbol(name, function.name), function.location, function.name));
    for (const ExternalFunction &external : artifact.externals) {
      if (!external.device.empty())
        continue;
      const std::string symbol = applicationSymbol(external.name);
      if (llvm::isDigit(symbol[0]) || isReservedInC(symbol))
        return errorAtPlace(StatusCode::InvalidArgument, external.location + "'" + external.name +
                                                             "' is no name for a function in C");
      PLIM_RETURN_IF_ERROR(add(symbol, external.location, external.name));
    }
    return okStatus();
  }

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
    // What is part of the code has the alignment of buffers of the engine, unless its author said more.
    for (auto global : module.getOps<LLVM::GlobalOp>())
      if (global.getAlignment() == uint64_t(ir::abi::bufferAlignment))
        global.setAlignment(uint64_t(device.workspaceAlignment));
    return okStatus();
  }

  void defineConstant(LLVM::GlobalOp global, const DataSymbol &symbol) {
    std::string section = symbol.pool.empty() ? "" : ".rodata." + symbol.pool;
    Attribute value;
    if (auto contents = contentsOf(artifact, symbol))
      value = builder.getStringAttr(StringRef(contents->data(), contents->size()));
    builder.setInsertionPoint(global);
    auto defined = makeBytes(symbol, global.getSymName(), value);
    if (!section.empty())
      defined.setSection(section);
    symbols.erase(global);
    symbols.insert(defined);
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
    exported.setResultAttr(0, LLVM::LLVMDialect::getSExtAttrName(), builder.getUnitAttr());
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
    for (const auto &[i, type] : llvm::enumerate(signature.arguments))
      if (type.element == "index" && !type.isShaped && isNarrow())
        refuseWide(next[std::ptrdiff_t(i)]);
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
                              builder.getStringAttr(StringRef(contents->data(), contents->size())));
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

  std::vector<ExportedContext> contexts; // of each function
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
