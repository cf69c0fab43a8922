#include "jit/Signatures.h"

#include "ir/Memory/Allocations.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"
#include "jit/Report.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <algorithm>
#include <functional>

using namespace mlir;

namespace plim::jit {

ValueType valueTypeOf(Type type) {
  ValueType value;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    value.isShaped = true;
    value.isMemref = isa<MemRefType>(type);
    for (int64_t extent : shaped.getShape())
      value.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
    if (auto memref = dyn_cast<MemRefType>(type); memref && !memref.getLayout().isIdentity())
      for (int64_t stride : memref.getStridesAndOffset().first)
        value.strides.push_back(ShapedType::isDynamic(stride) ? dynamicStride : stride);
    type = shaped.getElementType();
  }
  llvm::raw_string_ostream(value.element) << type;
  return value;
}

void nameArguments(ModuleOp module, const SourceNames &names) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      for (BlockArgument argument : function.getArguments())
        if (StringRef name = names.at(argument.getLoc()); !name.empty())
          argument.setLoc(
              NameLoc::get(StringAttr::get(module.getContext(), name), argument.getLoc()));
}

std::vector<FunctionSignature> signaturesOf(ModuleOp module, const SourceNames &names) {
  std::vector<FunctionSignature> signatures;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FunctionSignature signature;
    signature.name = function.getName().str();
    signature.location = ir::locationText(function.getLoc());
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      ValueType &argument = signature.arguments.emplace_back(valueTypeOf(type));
      argument.name = names.at(function.getArgument(unsigned(i)).getLoc());
      if (auto all = function.getArgAttrOfType<ArrayAttr>(unsigned(i), ir::boundsAttr))
        for (auto each : all.getAsRange<DictionaryAttr>()) {
          ir::ExtentBounds bounds = ir::extentBounds(each);
          argument.bounds.push_back({bounds.min, bounds.max.value_or(ExtentBounds().max)});
        }
      if (auto result = function.getArgAttrOfType<IntegerAttr>(unsigned(i), ir::donateAttr)) {
        argument.donatedTo = static_cast<uint32_t>(result.getInt());
        argument.access = Access::ReadWrite;
      }
    }
    for (Type type : function.getResultTypes())
      signature.results.push_back(valueTypeOf(type));
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

namespace {

Access accessOf(ir::AccessAttr access) {
  switch (access.getValue()) {
  case ir::Access::ReadOnly:
    return Access::ReadOnly;
  case ir::Access::WriteOnly:
    return Access::WriteOnly;
  case ir::Access::ReadWrite:
    return Access::ReadWrite;
  }
  return Access::ReadWrite;
}

/// A buffer is one argument here, whatever stands behind it for its extents.
void completeAccesses(func::FuncOp function, std::vector<ValueType> &arguments) {
  auto argument = arguments.begin();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!isa<MemRefType>(function.getArgument(i).getType()))
      continue;
    argument = std::find_if(argument, arguments.end(), std::mem_fn(&ValueType::isShaped));
    if (auto access = function.getArgAttrOfType<ir::AccessAttr>(i, ir::accessAttr))
      argument->access = accessOf(access);
    argument->isRead =
        !llvm::all_of(function.getArgument(i).getUsers(), llvm::IsaPred<memref::DimOp>);
    if (auto result = function.getArgAttrOfType<IntegerAttr>(i, ir::donateAttr))
      argument->donatedTo = static_cast<uint32_t>(result.getInt());
    ++argument;
  }
}

/// A function and all that it calls or dispatches.
llvm::SetVector<func::FuncOp> callTreeOf(const SymbolTable &symbols, func::FuncOp root) {
  llvm::SetVector<func::FuncOp> tree;
  tree.insert(root);
  for (size_t i = 0; i < tree.size(); ++i) {
    func::FuncOp caller = tree[i];
    caller.walk([&](Operation *op) {
      StringRef callee;
      if (auto call = dyn_cast<func::CallOp>(op))
        callee = call.getCallee();
      else if (auto dispatch = dyn_cast<ir::DispatchOp>(op))
        callee = dispatch.getFunction();
      else
        return;
      if (auto function = symbols.lookup<func::FuncOp>(callee))
        tree.insert(function);
    });
  }
  return tree;
}

/// Why the allocator serves an allocation that is no result of `root`; empty if it does not.
std::string unplannedReason(ir::AllocOp alloc, func::FuncOp root, StringRef policy) {
  if (alloc.isPlanned() || ir::Scope::parse(alloc.getScope())->kind == ir::Scope::Stack)
    return "";
  ir::Life life = ir::lifeOf(alloc);
  if (life.returned && alloc->getParentOfType<func::FuncOp>() == root)
    return "";
  std::string reason = policy == "heap" ? "policy heap takes every buffer from the allocator"
                       : !alloc.getBytes()
                           ? "the size of a buffer has no bound that is known at load"
                       : life.escapes() ? "a buffer may outlive the block that allocates it"
                                        : "a buffer belongs to a function that others call";
  return ir::locationText(alloc.getLoc()) + reason;
}

CallPlan callPlanOf(const SymbolTable &symbols, func::FuncOp function) {
  CallPlan plan;
  auto attribute = function->getAttrOfType<DictionaryAttr>(ir::callPlanAttr);
  if (!attribute)
    return plan;
  auto extents = cast<FlatSymbolRefAttr>(attribute.get("function"));
  plan.function = extents.getValue().str();
  plan.extentCount = symbols.lookup<func::FuncOp>(extents.getValue()).getNumResults();
  plan.alignment = function->getAttrOfType<IntegerAttr>(ir::workspaceAlignmentAttr).getInt();
  for (auto each : cast<ArrayAttr>(attribute.get("buffers")).getAsRange<DictionaryAttr>()) {
    PlannedBuffer &buffer = plan.buffers.emplace_back();
    ArrayRef<int64_t> life = each.getAs<DenseI64ArrayAttr>("lifetime").asArrayRef();
    buffer.lower = life[0];
    buffer.upper = life[1];
    buffer.bytes = each.getAs<IntegerAttr>("bytes").getInt();
    for (int64_t position : each.getAs<DenseI64ArrayAttr>("extents").asArrayRef())
      buffer.extents.push_back(static_cast<uint32_t>(position));
  }
  return plan;
}

/// Where `external` is called.
std::vector<std::string> callsOf(ir::ExternalOp external, ModuleOp module) {
  std::vector<std::string> calls;
  auto declared = external.getLoc()->findInstanceOf<FileLineColLoc>();
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(external, module);
  for (SymbolTable::SymbolUse use : *uses)
    if (auto file = use.getUser()->getLoc()->findInstanceOf<FileLineColLoc>()) {
      std::string text = (Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
      if (!declared || declared.getFilename() != file.getFilename())
        text = (file.getFilename().getValue() + ":" + text).str();
      if (!llvm::is_contained(calls, text))
        calls.push_back(std::move(text));
    }
  return calls;
}

} // namespace

void completeSignatures(ModuleOp module, Artifact &artifact) {
  for (auto external : module.getOps<ir::ExternalOp>()) {
    if (SymbolTable::symbolKnownUseEmpty(external, module))
      continue;
    ExternalFunction &function = artifact.externals.emplace_back(
        ExternalFunction{.name = external.getSymName().str(),
                         .location = ir::locationText(external.getLoc()),
                         .calls = callsOf(external, module),
                         .signature = signatureOf(external),
                         .isPure = external.getPure(),
                         .device = external.getDevice().value_or("").str(),
                         .code = external.getCode().value_or("").str()});
    for (auto [i, type] : llvm::enumerate(external.getFunctionType().getResults()))
      if (external.isOpenResult(unsigned(i)))
        function.openResults.emplace_back(uint32_t(i), valueTypeOf(type));
  }
  if (auto pools = module->getAttrOfType<ArrayAttr>(ir::poolsAttr))
    for (StringRef pool : pools.getAsValueRange<StringAttr>())
      artifact.pools.push_back(pool.str());
  const SymbolTable symbols(module);
  // Those whose scratch has a place in the slab wherever they are dispatched.
  llvm::DenseMap<StringRef, bool> inSlab;
  module.walk([&](ir::DispatchOp dispatch) {
    auto [known, isNew] = inSlab.try_emplace(dispatch.getFunction(), true);
    known->second &= dispatch->hasAttr(ir::scratchOffsetAttr);
  });
  auto isInSlab = [&](func::FuncOp dispatch) { return inSlab.lookup(dispatch.getName()); };
  for (FunctionSignature &signature : artifact.functions) {
    signature.pools.resize(artifact.pools.size());
    auto function = symbols.lookup<func::FuncOp>(signature.name);
    if (!function)
      continue;
    signature.isKernel = function->hasAttr(ir::kernelAttr);
    completeAccesses(function, signature.arguments);
    if (auto bytes = function->getAttrOfType<IntegerAttr>(ir::workspaceBytesAttr))
      signature.workspaceBytes = bytes.getInt();
    signature.plan = callPlanOf(symbols, function);
    auto poolBytes = function->getAttrOfType<DictionaryAttr>(ir::poolBytesAttr);
    auto needOf = [&](StringRef pool) -> PoolNeed & {
      return signature.pools[size_t(llvm::find(artifact.pools, pool) - artifact.pools.begin())];
    };
    for (NamedAttribute pool : poolBytes ? poolBytes.getValue() : ArrayRef<NamedAttribute>())
      needOf(pool.getName()).bytes = cast<IntegerAttr>(pool.getValue()).getInt();
    for (func::FuncOp callee : callTreeOf(symbols, function)) {
      auto scratch = callee->getAttrOfType<IntegerAttr>(ir::workspaceBytesAttr);
      if (callee->hasAttr(ir::dispatchFunctionAttr) && scratch && !isInSlab(callee))
        signature.scratchBytes = std::max({signature.scratchBytes, scratch.getInt(), int64_t(1)});
      callee.walk([&](memref::GetGlobalOp get) {
        auto global = symbols.lookup<memref::GlobalOp>(get.getName());
        signature.usesState |= global && global.getInitialValue() && !global.getConstant() &&
                               !global->hasAttr(ir::preparedAttr);
      });
      callee.walk([&](ir::AllocOp alloc) {
        ir::Scope scope = *ir::Scope::parse(alloc.getScope());
        if (scope.kind == ir::Scope::Pool && alloc.getOffset()) {
          int64_t &alignment = needOf(scope.pool).alignment;
          alignment = std::max(alignment, int64_t(alloc.getAlignment().value_or(1)));
        }
        if (signature.unplanned.empty())
          signature.unplanned = unplannedReason(alloc, function, artifact.policy);
      });
      callee.walk([&](ir::CallOp call) {
        if (signature.unplanned.empty() &&
            llvm::any_of(call.getResultTypes(), llvm::IsaPred<MemRefType>))
          signature.unplanned = ir::locationText(call.getLoc()) + "a host function makes a buffer";
      });
    }
  }
}

std::vector<ExternalTypes> externalTypesOf(ModuleOp module, const Artifact &artifact) {
  const SymbolTable symbols(module);
  std::vector<ExternalTypes> all;
  for (const ExternalFunction &function : artifact.externals) {
    auto external = symbols.lookup<ir::ExternalOp>(function.name);
    ExternalTypes &types = all.emplace_back();
    auto access = external.getAccesses().begin();
    for (auto [i, type] : llvm::enumerate(external.getFunctionType().getInputs())) {
      ValueType &argument = types.arguments.emplace_back(valueTypeOf(type));
      if (argument.isShaped)
        argument.access = accessOf(cast<ir::AccessAttr>(*access++));
      auto donation = llvm::find(external.getDonations(), int64_t(i));
      if (donation != external.getDonations().end())
        argument.donatedTo = uint32_t(donation - external.getDonations().begin());
    }
    for (Type type : external.getFunctionType().getResults())
      types.results.push_back(valueTypeOf(type));
  }
  return all;
}

} // namespace plim::jit
