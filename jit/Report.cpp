#include "jit/Report.h"

#include "ir/Plim/Formed.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;

namespace plim::jit {

namespace {

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string textOf(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  return "";
}

/// All places that are one in the dispatch, in the order of the source.
llvm::json::Array placesOf(Location loc) {
  std::set<std::tuple<StringRef, unsigned, unsigned>> places;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location each : fused.getLocations())
      if (auto file = each->findInstanceOf<FileLineColLoc>())
        places.emplace(file.getFilename().getValue(), file.getLine(), file.getColumn());
  llvm::json::Array texts;
  for (auto [file, line, column] : places)
    texts.push_back((file + ":" + Twine(line) + ":" + Twine(column)).str());
  return texts;
}

std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

llvm::json::Array namesOf(ArrayAttr names) {
  llvm::json::Array array;
  for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>())
    array.push_back(textOf(name));
  return array;
}

llvm::json::Object bytesOf(DictionaryAttr pools) {
  llvm::json::Object object;
  for (NamedAttribute pool : pools ? pools.getValue() : ArrayRef<NamedAttribute>())
    object[pool.getName().str()] = cast<IntegerAttr>(pool.getValue()).getInt();
  return object;
}

llvm::json::Array argumentsOf(const FunctionSignature &signature) {
  constexpr const char *names[] = {"readonly", "writeonly", "readwrite"}; // by Access
  llvm::json::Array arguments;
  for (size_t i = 0; i < signature.arguments.size(); ++i)
    if (const ValueType &type = signature.arguments[i];
        type.isMemref || type.donatedTo || !type.bounds.empty()) {
      llvm::json::Object argument{{"index", static_cast<int64_t>(i)},
                                  {"access", names[static_cast<size_t>(type.access)]},
                                  {"type", toString(type)}};
      if (type.donatedTo)
        argument["donated_to"] = static_cast<int64_t>(*type.donatedTo);
      arguments.push_back(std::move(argument));
    }
  return arguments;
}

/// Of a root of views, "argument #0", "constant 'w'"; empty for what is neither.
std::string dataNameOf(Value root, const SymbolTable &symbols) {
  if (auto argument = dyn_cast<BlockArgument>(root);
      argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return "argument #" + std::to_string(argument.getArgNumber());
  auto get = root.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return "";
  auto global = symbols.lookup<memref::GlobalOp>(get.getName());
  StringRef kind = !global.getInitialValue()           ? "parameter"
                   : global->hasAttr(ir::preparedAttr) ? "prepared constant"
                   : global.getConstant()              ? "constant"
                                                       : "variable";
  return (kind + " '" + get.getName() + "'").str();
}

/// What must keep what it holds, so that `source` is copied: all that it may be.
std::string ownerOf(Value source, const BufferViewFlowAnalysis &views, const SymbolTable &symbols) {
  std::set<std::string> owners; // in an order that does not depend on addresses
  for (Value root : views.resolveReverse(source))
    if (std::string name = dataNameOf(root, symbols); !name.empty())
      owners.insert(isa<BlockArgument>(root) ? name + ", which belongs to the caller" : name);
  return owners.empty() ? "a buffer that is used again" : llvm::join(owners, " or ");
}

/// Where allocations stand in the report.
using AllocationIndices = llvm::DenseMap<Operation *, int64_t>;

/// Type and access of a binding, and all memory that it may be.
llvm::json::Object describeBinding(ir::DispatchOp dispatch, OpOperand &binding,
                                   const BufferViewFlowAnalysis &views, const SymbolTable &symbols,
                                   const AllocationIndices &indices) {
  std::set<int64_t> buffers; // in an order that does not depend on addresses
  std::set<std::string> data;
  for (Value root : views.resolveReverse(binding.get())) {
    if (auto index = indices.find(root.getDefiningOp()); index != indices.end())
      buffers.insert(index->second);
    if (std::string name = dataNameOf(root, symbols); !name.empty())
      data.insert(name);
  }
  llvm::json::Object object{{"type", textOf(binding.get().getType())},
                            {"access", ir::stringifyAccess(dispatch.getAccess(binding))}};
  if (!buffers.empty())
    object["buffers"] = llvm::json::Array(buffers);
  if (!data.empty())
    object["data"] = llvm::json::Array(data);
  return object;
}

/// "argument #0", if it is donated; otherwise empty.
std::string donorOf(Value target) {
  auto argument = dyn_cast<BlockArgument>(target);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), ir::donateAttr)
             ? "argument #" + std::to_string(argument.getArgNumber())
             : "";
}

/// The copies that no author asked for, and the dispatches that only move elements.
llvm::json::Array copiesOf(ModuleOp module) {
  llvm::json::Array copies;
  const SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(ir::dispatchFunctionAttr) || function->hasAttr(ir::kernelAttr) ||
        function->hasAttr(ir::extentsFunctionAttr))
      continue;
    std::optional<BufferViewFlowAnalysis> views;
    function.walk([&](Operation *op) {
      Value source;
      std::string donor;
      if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        source = copy.getSource();
        donor = donorOf(copy.getTarget());
      } else if (auto dispatch = dyn_cast<ir::DispatchOp>(op);
                 dispatch && op->hasAttr(ir::copyAttr)) {
        source = dispatch.getBindings()[0]->get();
      } else if (auto moves = op->getAttrOfType<DictionaryAttr>(ir::movesAttr)) {
        auto type = cast<RankedTensorType>(cast<TypeAttr>(moves.get("type")).getValue());
        copies.push_back(llvm::json::Object{
            {"function", function.getName().str()},
            {"location", textOf(op->getLoc())},
            {"type", textOf(MemRefType::get(type.getShape(), type.getElementType()))},
            {"of", textOf(moves.get("what"))},
            {"instead", textOf(moves.get("instead"))}});
        return;
      } else {
        return;
      }
      if (!views)
        views.emplace(function);
      copies.push_back(
          llvm::json::Object{{"function", function.getName().str()},
                             {"location", textOf(op->getLoc())},
                             {"type", textOf(source.getType())},
                             {"of", donor.empty() ? ownerOf(source, *views, symbols)
                                                  : "a result that could not be made in " + donor +
                                                        ", which is donated to it"}});
    });
  }
  return copies;
}

/// Adds to the dispatches of `schedule`, the last ones of `dispatches`, which of them they wait for and which
/// may run at the same time, by their positions.
void addOrder(ir::ScheduleOp schedule, llvm::json::Array &dispatches) {
  const SmallVector<uint64_t> direct = schedule.getPredecessorSets();
  const SmallVector<uint64_t> all = ir::ScheduleOp::closureOf(direct);
  const size_t first = dispatches.size() - direct.size();
  for (size_t i = 0; i < direct.size(); ++i) {
    llvm::json::Array after, beside;
    for (size_t j = 0; j < direct.size(); ++j) {
      if (direct[i] >> j & 1)
        after.push_back(int64_t(first + j));
      if (i != j && !(all[i] >> j & 1) && !(all[j] >> i & 1))
        beside.push_back(int64_t(first + j));
    }
    llvm::json::Object &dispatch = *dispatches[first + i].getAsObject();
    dispatch["after"] = std::move(after);
    dispatch["beside"] = std::move(beside);
  }
}

/// Adds to dispatches with which of `all` that made what they read they are not one, and why; by number stand the
/// positions of those.
void addApart(ArrayRef<ir::DispatchOp> all, llvm::json::Array &dispatches) {
  std::map<int64_t, int64_t> positions;
  for (auto [position, dispatch] : llvm::enumerate(all))
    if (auto number = dispatch->getAttrOfType<IntegerAttr>(ir::formedAttr))
      positions.emplace(number.getInt(), int64_t(position));
  for (auto [dispatch, entry] : llvm::zip(all, dispatches)) {
    llvm::json::Array apart;
    auto makers = dispatch->getAttrOfType<ArrayAttr>(ir::apartAttr);
    for (Attribute each : makers ? makers.getValue() : ArrayRef<Attribute>()) {
      auto maker = cast<DictionaryAttr>(each);
      // What depends on constants alone has left the function.
      auto from = positions.find(cast<IntegerAttr>(maker.get("from")).getInt());
      if (from != positions.end())
        apart.push_back(
            llvm::json::Object{{"from", from->second}, {"because", textOf(maker.get("because"))}});
    }
    if (!apart.empty())
      (*entry.getAsObject())["apart"] = std::move(apart);
  }
}

/// What was decided for the code of a dispatch function, in order.
llvm::json::Array strategyOf(func::FuncOp function) {
  llvm::json::Array decisions;
  auto strategy = function ? function->getAttrOfType<ArrayAttr>(ir::strategyAttr) : ArrayAttr();
  for (Attribute decision : strategy ? strategy.getValue() : ArrayRef<Attribute>()) {
    if (auto workgroups = dyn_cast<ir::WorkgroupsAttr>(decision))
      decisions.push_back(llvm::json::Object{{"what", "workgroups"},
                                             {"tiles", llvm::json::Array(workgroups.getTiles())},
                                             {"because", workgroups.getBecause().str()}});
    else if (auto stores = dyn_cast<ir::StoresAttr>(decision))
      decisions.push_back(
          llvm::json::Object{{"what", "stores"}, {"because", stores.getBecause().str()}});
    else if (auto panels = dyn_cast<ir::PanelsAttr>(decision))
      decisions.push_back(llvm::json::Object{{"what", "panels"},
                                             {"panel", ir::stringifyOperandForm(panels.getPanel())},
                                             {"rows", ir::stringifyOperandForm(panels.getRows())},
                                             {"depth", llvm::json::Array(panels.getDepth())},
                                             {"columns", panels.getColumns()},
                                             {"lines", panels.getLines()},
                                             {"because", panels.getBecause().str()}});
    else if (auto registers = dyn_cast<ir::RegistersAttr>(decision))
      decisions.push_back(llvm::json::Object{{"what", "registers"},
                                             {"rows", registers.getRows()},
                                             {"columns", registers.getColumns()},
                                             {"lanes", registers.getLanes()},
                                             {"terms", registers.getTerms()},
                                             {"because", registers.getBecause().str()}});
  }
  return decisions;
}

llvm::json::Array externalsOf(ModuleOp module) {
  llvm::json::Array externals;
  for (auto external : module.getOps<ir::ExternalOp>())
    if (!external.getDevice() && !SymbolTable::symbolKnownUseEmpty(external, module))
      externals.push_back(llvm::json::Object{{"name", external.getSymName().str()},
                                             {"location", textOf(external.getLoc())},
                                             {"type", signatureOf(external)},
                                             {"pure", external.getPure()}});
  return externals;
}

} // namespace

std::string signatureOf(ir::ExternalOp external) {
  FunctionType type = external.getFunctionType();
  std::string text = "(";
  llvm::raw_string_ostream out(text);
  auto access = external.getAccesses().begin();
  for (auto [i, argument] : llvm::enumerate(type.getInputs())) {
    out << (i == 0 ? "" : ", ") << argument;
    if (!isa<ShapedType>(argument))
      continue;
    StringRef name = ir::stringifyAccess(cast<ir::AccessAttr>(*access++).getValue());
    if (isa<MemRefType>(argument))
      out << " " << name;
    auto donation = llvm::find(external.getDonations(), int64_t(i));
    if (donation != external.getDonations().end())
      out << " " << name << " as result " << donation - external.getDonations().begin();
  }
  out << ") -> ";
  bool inParentheses = type.getNumResults() != 1;
  out << (inParentheses ? "(" : "");
  llvm::interleaveComma(type.getResults(), out);
  out << (inParentheses ? ")" : "");
  return text;
}

llvm::json::Object makeReport(ModuleOp module, const std::vector<FunctionSignature> &signatures) {
  const SymbolTable symbols(module);
  llvm::json::Array functions, scratch, allocations;
  AllocationIndices indices;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(ir::extentsFunctionAttr))
      function.walk([&](ir::AllocOp alloc) { indices.try_emplace(alloc, indices.size()); });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(ir::extentsFunctionAttr))
      continue;
    if (!function->hasAttr(ir::dispatchFunctionAttr)) {
      llvm::json::Array dispatches;
      SmallVector<ir::DispatchOp> all;
      const BufferViewFlowAnalysis views(function);
      function.walk([&](ir::DispatchOp dispatch) {
        llvm::json::Array bindings;
        for (OpOperand *binding : dispatch.getBindings())
          bindings.push_back(describeBinding(dispatch, *binding, views, symbols, indices));
        auto code = symbols.lookup<func::FuncOp>(dispatch.getFunction());
        llvm::json::Object entry{{"name", dispatch.getFunction().str()},
                                 {"location", textOf(dispatch.getLoc())},
                                 {"device", textOf(dispatch->getAttr(ir::deviceAttr))},
                                 {"bindings", std::move(bindings)},
                                 {"strategy", strategyOf(code)}};
        if (auto operations =
                code ? code->getAttrOfType<IntegerAttr>(ir::operationsAttr) : IntegerAttr())
          entry["operations"] = operations.getInt();
        if (auto refusal = dispatch->getAttrOfType<StringAttr>(ir::refusalAttr))
          entry["refusal"] = refusal.getValue().str();
        if (llvm::json::Array places = placesOf(dispatch.getLoc()); places.size() > 1)
          entry["places"] = std::move(places);
        all.push_back(dispatch);
        dispatches.push_back(std::move(entry));
        if (auto schedule = dyn_cast<ir::ScheduleOp>(dispatch->getParentOp());
            schedule && dispatch == &schedule.getBody().front().back())
          addOrder(schedule, dispatches);
      });
      addApart(all, dispatches);
      auto bytes = function->getAttrOfType<IntegerAttr>(ir::workspaceBytesAttr);
      auto signature = llvm::find_if(signatures, [&](const FunctionSignature &signature) {
        return signature.name == function.getName();
      });
      functions.push_back(llvm::json::Object{
          {"name", function.getName().str()},
          {"kind", function->hasAttr(ir::kernelAttr) ? "kernel" : "tensor program"},
          {"workspace_bytes", bytes ? bytes.getInt() : 0},
          {"pool_bytes", bytesOf(function->getAttrOfType<DictionaryAttr>(ir::poolBytesAttr))},
          {"arguments",
           signature == signatures.end() ? llvm::json::Array() : argumentsOf(*signature)},
          {"dispatches", std::move(dispatches)}});
    }
    auto bytes = function->getAttrOfType<IntegerAttr>(ir::workspaceBytesAttr);
    if (bytes && function->hasAttr(ir::dispatchFunctionAttr))
      scratch.push_back(
          llvm::json::Object{{"name", function.getName().str()}, {"bytes", bytes.getInt()}});
    function.walk([&](ir::AllocOp alloc) {
      llvm::json::Object entry{{"function", function.getName().str()},
                               {"location", textOf(alloc.getLoc())},
                               {"type", textOf(alloc.getType())},
                               {"scope", alloc.getScope().str()},
                               {"reason", alloc.getReason().value_or("").str()},
                               {"level", alloc.getLevel().value_or("").str()},
                               {"accessors", namesOf(alloc.getAccessorsAttr())},
                               {"candidates", namesOf(alloc.getCandidatesAttr())}};
      if (auto bytes = alloc.getBytes())
        entry["bytes"] = int64_t(*bytes);
      if (auto offset = alloc.getOffset())
        entry["offset"] = int64_t(*offset);
      if (auto slot = alloc.getSlot())
        entry["slot"] = int64_t(*slot);
      if (auto lifetime = alloc.getLifetime())
        entry["lifetime"] = llvm::json::Array{(*lifetime)[0], (*lifetime)[1]};
      allocations.push_back(std::move(entry));
    });
  }
  return llvm::json::Object{{"functions", std::move(functions)},
                            {"scratch", std::move(scratch)},
                            {"allocations", std::move(allocations)},
                            {"copies", copiesOf(module)},
                            {"externals", externalsOf(module)}};
}

static const char *kindName(DataKind kind) {
  switch (kind) {
  case DataKind::Constant:
    return "constant";
  case DataKind::Variable:
    return "variable";
  case DataKind::Parameter:
    return "parameter";
  case DataKind::Prepared:
    return "prepared";
  }
  return "";
}

llvm::json::Object dataReport(const Artifact &artifact) {
  int64_t constants = 0, variables = 0, parameters = 0, prepared = 0, duplicates = 0,
          duplicateBytes = 0;
  std::map<std::string, int64_t> pools;
  std::set<std::pair<int64_t, int64_t>> places;
  llvm::json::Array symbols;
  for (const DataSymbol &symbol : artifact.symbols) {
    const bool isShared = symbol.kind == DataKind::Constant && symbol.offset + symbol.block != -2 &&
                          places.contains({symbol.offset, symbol.block});
    if (!isShared)
      symbols.push_back(llvm::json::Object{{"name", symbol.name},
                                           {"kind", kindName(symbol.kind)},
                                           {"bytes", symbol.bytes},
                                           {"pool", symbol.pool}});
    if (!symbol.pool.empty()) {
      pools[symbol.pool] += symbol.bytes;
    } else if (symbol.kind != DataKind::Constant) {
      (symbol.kind == DataKind::Parameter  ? parameters
       : symbol.kind == DataKind::Prepared ? prepared
                                           : variables) += symbol.bytes;
    } else if (places.emplace(symbol.offset, symbol.block).second) {
      constants += symbol.bytes;
    } else {
      ++duplicates;
      duplicateBytes += symbol.bytes;
    }
  }
  llvm::json::Object pinned;
  for (const auto &[pool, bytes] : pools)
    pinned[pool] = bytes;
  return llvm::json::Object{{"constants", constants},
                            {"constants_in_pools", std::move(pinned)},
                            {"duplicate_constants", duplicates},
                            {"duplicate_constant_bytes", duplicateBytes},
                            {"parameters", parameters},
                            {"prepared", prepared},
                            {"symbols", std::move(symbols)},
                            {"variables", variables}};
}

} // namespace plim::jit
