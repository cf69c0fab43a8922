#include "jit/Exporter.h"

#include "jit/ThreadExporter.h"

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

class Exporter : public ThreadExporter {
public:
  using ThreadExporter::ThreadExporter;

  StatusOr<std::vector<ExportedContext>> run() {
    PLIM_RETURN_IF_ERROR(checkNames());
    for (const FunctionSignature &function : artifact.functions) {
      PLIM_RETURN_IF_ERROR(checkSizes(function));
      if (!function.unplanned.empty())
        return errorAtPlace(StatusCode::Unimplemented, function.unplanned + ", so that '" +
                                                           function.name + "' cannot be exported");
    }
    // Else that is for buffers of a plan to which extents give no memory.
    if (llvm::none_of(artifact.functions, isSlabOpen))
      PLIM_RETURN_IF_ERROR(refuse("plim_rt_allocate", "takes memory whose size only a call knows; "
                                                      "bound it with plim.max_bytes"));
    PLIM_RETURN_IF_ERROR(refuse("plim_rt_recurse", "is recursive, so that its stack has no bound"));
    limitResults();
    callDispatches();
    PLIM_RETURN_IF_ERROR(callExternals());
    for (const FunctionSignature &function : artifact.functions)
      contexts.push_back(contextOf(function));
    defineRuntime();
    PLIM_RETURN_IF_ERROR(defineData());
    for (Operation &op : *module.getBody())
      makeLocal(&op);
    for (const auto &[function, context] : llvm::zip_equal(artifact.functions, contexts)) {
      defineQuery(function);
      defineFunction(function, context);
    }
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
    for (const FunctionSignature &function : artifact.functions) {
      const std::string symbol = exportedSymbol(name, function.name);
      PLIM_RETURN_IF_ERROR(add(symbol, function.location, function.name));
      if (isSlabOpen(function))
        PLIM_RETURN_IF_ERROR(add(symbol + std::string(workspaceQuerySuffix), function.location,
                                 function.name + std::string(workspaceQuerySuffix)));
    }
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
      if (type.element == "index" && type.isShaped && isNarrow())
        return unimplementedError(function.location + "'" + function.name +
                                  "' cannot be exported: " + kind + " #" + std::to_string(index) +
                                  " has elements of type index, which has 32 bits there");
      if (llvm::is_contained(type.strides, dynamicStride))
        return unimplementedError(function.location + "'" + function.name +
                                  "' cannot be exported: " + kind + " #" + std::to_string(index) +
                                  ", " + toString(type) + ", has a stride that is not known");
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
        signature.workspaceBytes > 0 || signature.scratchBytes > 0 || isSlabOpen(signature) ||
        llvm::any_of(signature.pools, [](const PoolNeed &need) { return need.bytes > 0; });
    context.state = signature.usesState;
    llvm::SetVector<Operation *> reached;
    context.threadScratchBytes = threadScratchBytes;
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
          context.threads |= callee.starts_with(parallelPrefix);
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
      Value first =
          LLVM::MulOp::create(at, loc, arguments[1], ir::constant64(at, loc, int64_t(ResultSlots)));
      Value slot = LLVM::GEPOp::create(at, loc, pointer, word, results, first);
      return LLVM::LoadOp::create(at, loc, pointer, slot);
    });
    define("plim_rt_allocate", [&](OpBuilder &at, ValueRange arguments) -> Value {
      fail(at, arguments[0],
           LLVM::ConstantOp::create(at, loc, at.getI32IntegerAttr(resourceExhausted)));
      return LLVM::ZeroOp::create(at, loc, pointer);
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
    for (bool isThere : {has.workspaces, has.parameters, has.state, has.devices, has.threads})
      if (isThere)
        types.push_back(pointer);
    for (const ValueType &type : signature.arguments) {
      types.push_back(typeOf(type));
      types.append(openExtents(type), word);
    }
    // Results follow, but for those in the memory of an argument: where to, how many elements have
    // room there, and where extents go.
    SmallVector<std::optional<unsigned>> donor(signature.results.size());
    for (const auto &[i, type] : llvm::enumerate(signature.arguments))
      if (type.donatedTo)
        donor[*type.donatedTo] = unsigned(i);
    for (const auto &[type, each] : llvm::zip_equal(signature.results, donor)) {
      const size_t open = openExtents(type);
      if (!each)
        types.push_back(pointer);
      if (!each && open > 0)
        types.push_back(word);
      types.append(open, pointer);
    }

    builder.setInsertionPointToEnd(module.getBody());
    auto exported = LLVM::LLVMFuncOp::create(builder, loc, exportedSymbol(name, signature.name),
                                             LLVM::LLVMFunctionType::get(code, types));
    exported.setResultAttr(0, LLVM::LLVMDialect::getSExtAttrName(), builder.getUnitAttr());
    builder.setInsertionPointToStart(exported.addEntryBlock(builder));
    auto next = exported.getArguments().begin();
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    // All but the threads.
    auto given = llvm::to_vector_of<Value>(exported.getArguments());
    if (has.threads)
      given.erase(given.begin() + (has.workspaces + has.parameters + has.state + has.devices));
    refuseNull(given);
    SmallVector<Value> places, parameters, variables;
    if (has.workspaces)
      places = fieldsOf(*next++, int64_t(structs.slabFields() + structs.pools.size()));
    if (has.parameters)
      parameters = fieldsOf(*next++, structs.parameters);
    if (has.state)
      variables = fieldsOf(*next++, structs.variables);
    Value workspaceBytes;
    if (has.workspaces && structs.slabIsOpen) {
      workspaceBytes = LLVM::PtrToIntOp::create(builder, loc, word, places[1]);
      places.erase(places.begin() + 1);
    }
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
    if (has.threads)
      set(threadsOffset, *next++);
    // What may stop a call from elsewhere: nothing.
    set(ir::abi::contextCallStatusOffset, words(1));

    Value arguments = words(viewWords * int64_t(signature.arguments.size()));
    given.clear();
    for (const auto &[i, type] : llvm::enumerate(signature.arguments)) {
      Value data = *next++, sizes = null;
      given.push_back(data);
      if (!type.isShaped) {
        if (type.element == "index" && isNarrow())
          refuseWide(data);
        Value slot = words(1);
        LLVM::StoreOp::create(builder, loc, data, slot);
        data = slot;
      }
      SmallVector<Value> open;
      for (size_t count = openExtents(type); count-- > 0;)
        open.push_back(*next++);
      refuseExtents(type, open);
      if (!open.empty())
        sizes = sizesOf(type, open);
      view(arguments, i, data, sizes);
    }
    const auto resultCount = int64_t(signature.results.size());
    Value results = words(viewWords * resultCount), memory = words(ResultSlots * resultCount);
    SmallVector<std::pair<Value, Value>> extents; // where they go, and where they come from
    for (const auto &[i, type] : llvm::enumerate(signature.results)) {
      Value data = donor[i] ? given[*donor[i]] : *next++;
      const size_t open = openExtents(type);
      const auto rank = int64_t(type.shape.size());
      Value sizes = words(rank),
            first = LLVM::GEPOp::create(builder, loc, pointer, word, memory,
                                        ArrayRef<LLVM::GEPArg>{int32_t(ResultSlots) * int32_t(i)});
      store(data, first, ResultData);
      if (!donor[i] && open > 0)
        store(roomOf(type, *next++), first, ResultRoom);
      store(sizes, first, ResultSizes);
      for (int64_t d = 0; open > 0 && d < rank; ++d) {
        store(none, sizes, d);
        if (type.shape[size_t(d)] == -1)
          extents.emplace_back(*next++, LLVM::GEPOp::create(builder, loc, pointer, word, sizes,
                                                            ArrayRef<LLVM::GEPArg>{int32_t(d)}));
      }
      view(results, i, data, sizes);
    }
    set(resultsOffset, memory);
    if (has.workspaces && structs.slab)
      placeSlab(signature, context, arguments, workspaceBytes);
    auto run = [&]() -> Value {
      return LLVM::CallOp::create(builder, loc, function(ir::entryPrefix + signature.name),
                                  ValueRange{context, arguments, results})
          .getResult();
    };
    Value status = devices ? runActive(devices, run) : run();
    for (const auto &[to, from] : extents)
      LLVM::StoreOp::create(builder, loc, load(builder, word, from, 0), to);
    LLVM::ReturnOp::create(builder, loc, status);
  }

  /// What the context says of the slab. Refuses one of too few bytes, where the program says how
  /// many there are.
  void placeSlab(const FunctionSignature &signature, Value context, Value arguments,
                 Value workspaceBytes) {
    Value needed, end = ir::constant64(builder, loc, exportedSlabBytes(artifact));
    if (isSlabOpen(signature)) {
      Value offsets = words(int64_t(signature.plan.buffers.size()));
      Value planned = planSlab(signature, arguments, offsets);
      auto behind = [&](int64_t bytes) -> Value {
        return LLVM::AddOp::create(builder, loc, planned, ir::constant64(builder, loc, bytes));
      };
      refuseIf(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, planned,
                                    ir::constant64(builder, loc, 0)),
               resourceExhausted);
      needed = behind(beyondPlan(signature));
      end = behind(beyondPlan(signature) - signature.scratchBytes);
      ir::storeAt(builder, loc, offsets, context, ir::abi::contextOffsetsOffset);
    } else if (signature.workspaceBytes > 0 || signature.scratchBytes > 0) {
      needed = ir::constant64(builder, loc, structs.slabBytes);
    }
    if (needed && workspaceBytes)
      refuseIf(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ugt, needed, workspaceBytes),
               resourceExhausted);
    ir::storeAt(builder, loc, end, context, slabEndOffset);
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

bool isQueried(const ValueType &type) {
  return !type.isShaped && (type.element == "index" || StringRef(type.element).starts_with("i"));
}

size_t openExtents(const ValueType &type) { return size_t(llvm::count(type.shape, -1)); }

bool isSlabOpen(const FunctionSignature &function) { return !function.plan.buffers.empty(); }

int64_t beyondPlan(const FunctionSignature &function) {
  return function.plan.alignment - ir::abi::bufferAlignment + function.scratchBytes;
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
  for (const FunctionSignature &function : artifact.functions) {
    if (!isSlabOpen(function))
      scratch = std::max(scratch, function.scratchBytes);
    structs.slabIsOpen |= isSlabOpen(function);
  }
  structs.slabBytes += scratch;
  structs.slab = structs.slabBytes > 0 || structs.slabIsOpen;
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
