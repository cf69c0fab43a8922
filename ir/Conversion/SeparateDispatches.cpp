#include "ir/Conversion/SeparateDispatches.h"

#include "ir/Conversion/FunctionContext.h"
#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// What `roots` refer to, directly or not, beside themselves; none if that cannot be in two modules.
std::optional<llvm::SetVector<Operation *>>
referencesOf(ArrayRef<Operation *> roots, const SymbolTable &symbols, const Variables &variables) {
  llvm::SetVector<Operation *> all(roots.begin(), roots.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(all[i]);
    if (!uses)
      return std::nullopt;
    for (const SymbolTable::SymbolUse &use : *uses) {
      Operation *used = symbols.lookup(use.getSymbolRef().getRootReference());
      if (!used || variables.isOne(use.getUser()))
        return std::nullopt;
      auto function = dyn_cast<func::FuncOp>(used);
      const bool isPrivate =
          function && function.isPrivate() && !function->hasAttr(dispatchFunctionAttr);
      if (!isPrivate && !isa<memref::GlobalOp>(used) && !llvm::is_contained(roots, used))
        return std::nullopt;
      all.insert(used);
    }
  }
  for (Operation *root : roots)
    all.remove(root);
  return all;
}

/// They become assertions.
bool hasChecks(func::FuncOp function) {
  return function.walk([](CheckOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

size_t operationsIn(Operation *op) {
  size_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

} // namespace

std::vector<SeparateDispatch> separateDispatches(ModuleOp module) {
  const SymbolTable symbols(module);
  const Variables variables(module);
  llvm::StringMap<func::FuncOp> counts; // by dispatch function
  SmallVector<func::FuncOp> dispatches;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (auto counted = function->getAttrOfType<FlatSymbolRefAttr>(workgroupCountAttr))
      counts[counted.getValue()] = function;
    else if (function->hasAttr(dispatchFunctionAttr) && !function.isDeclaration())
      dispatches.push_back(function);
  }
  llvm::sort(dispatches, [](func::FuncOp a, func::FuncOp b) { return a.getName() < b.getName(); });
  NamedAttrList attributes(module->getDiscardableAttrDictionary());
  attributes.erase(dataAttr);

  std::vector<SeparateDispatch> separate;
  for (func::FuncOp function : dispatches) {
    func::FuncOp count = counts.lookup(function.getName());
    const std::optional<llvm::SetVector<Operation *>> references =
        referencesOf({function, count}, symbols, variables);
    if (!references)
      continue;
    SeparateDispatch &dispatch = separate.emplace_back();
    dispatch.name = function.getName().str();
    dispatch.module = ModuleOp::create(module.getLoc());
    (*dispatch.module)->setDiscardableAttrs(attributes.getDictionary(module.getContext()));
    OpBuilder builder(dispatch.module->getBodyRegion());
    for (Operation *op : *references)
      builder.clone(*op);
    builder.clone(*count);

    OpBuilder before(function);
    auto declaration = cast<func::FuncOp>(before.cloneWithoutRegions(function));
    declaration.setPrivate();
    if (bodyNeedOf(function, symbols, variables) == ContextNeed::All || hasChecks(function))
      declaration->setAttr(needsContextAttr, before.getUnitAttr());
    function->remove();
    function->removeAttr(strategyAttr); // for people: it has been carried out
    builder.insert(function);
    dispatch.size = operationsIn(function);
  }
  return separate;
}

} // namespace plim::ir
