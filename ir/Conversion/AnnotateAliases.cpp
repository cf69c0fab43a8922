#include "ir/Conversion/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMANNOTATEALIASES
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// What a pointer is derived from: a planned buffer, or an argument of the function.
struct Root {
  Operation *place = nullptr;
  BlockArgument argument;
};

Root rootOf(Value value) {
  SmallVector<int64_t> at; // of the pointer, in the descriptor that `value` is
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return {nullptr, argument.getOwner()->isEntryBlock() ? argument : BlockArgument()};
    Operation *op = value.getDefiningOp();
    if (op->hasAttr(placeAttr))
      return {op, {}};
    if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
      value = gep.getBase();
    } else if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      at.insert(at.begin(), extract.getPosition().begin(), extract.getPosition().end());
      value = extract.getContainer();
    } else if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
      ArrayRef<int64_t> into = insert.getPosition();
      if (ArrayRef<int64_t>(at).take_front(into.size()) == into) {
        at.erase(at.begin(), at.begin() + static_cast<ptrdiff_t>(into.size()));
        value = insert.getValue();
      } else {
        value = insert.getContainer();
      }
    } else {
      return {};
    }
  }
}

/// Have the two no byte in common? Buffers that share memory at different times have.
bool areApart(DictionaryAttr a, DictionaryAttr b) {
  auto bytesOf = [](DictionaryAttr place) { return place.getAs<DenseI64ArrayAttr>("bytes"); };
  return a.get("memory") != b.get("memory") || bytesOf(a)[1] <= bytesOf(b)[0] ||
         bytesOf(b)[1] <= bytesOf(a)[0];
}

struct AnnotateAliases : plim::ir::impl::PlimAnnotateAliasesBase<AnnotateAliases> {
  using PlimAnnotateAliasesBase::PlimAnnotateAliasesBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (!inlined)
        annotateInvariants(function);
      annotateScopes(function);
    }
  }

  /// Memory that a dispatch reads through a binding which it does not write does not change while
  /// the dispatch runs.
  void annotateInvariants(LLVM::LLVMFuncOp function) {
    auto isInvariant = [&](BlockArgument argument) {
      unsigned index = argument.getArgNumber();
      return function.getArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName()) &&
             function.getArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName());
    };
    function.walk([&](LLVM::LoadOp load) {
      if (BlockArgument argument = rootOf(load.getAddr()).argument;
          argument && isInvariant(argument)) {
        load.setInvariant(true);
        ++invariant;
      }
    });
  }

  void annotateScopes(LLVM::LLVMFuncOp function) {
    llvm::MapVector<Operation *, LLVM::AliasScopeAttr> scopes;
    function.walk([&](Operation *op) {
      if (op->hasAttr(placeAttr))
        scopes.try_emplace(op);
    });
    if (scopes.empty() || scopes.size() > maxPlaces)
      return;
    // Without a name: equal functions are equal text.
    auto domain = LLVM::AliasScopeDomainAttr::get(&getContext());
    for (auto &[op, scope] : scopes)
      scope = LLVM::AliasScopeAttr::get(domain);
    // What a caller passes to a kernel is none of the engine's memory.
    bool isKernel = function->hasAttr(kernelAttr);
    function.walk([&](LLVM::AliasAnalysisOpInterface access) {
      SmallVector<Attribute> in, apart;
      SmallVector<Value> pointers = access.getAccessedOperands();
      if (pointers.size() != 1)
        return;
      Root root = rootOf(pointers[0]);
      if (!root.place && !(isKernel && root.argument))
        return;
      auto place =
          root.place ? root.place->getAttrOfType<DictionaryAttr>(placeAttr) : DictionaryAttr();
      if (root.place)
        in.push_back(scopes.lookup(root.place));
      for (auto &[op, scope] : scopes)
        if (op != root.place &&
            (!place || areApart(place, op->getAttrOfType<DictionaryAttr>(placeAttr))))
          apart.push_back(scope);
      if (!in.empty())
        access.setAliasScopes(ArrayAttr::get(&getContext(), in));
      if (!apart.empty())
        access.setNoAliasScopes(ArrayAttr::get(&getContext(), apart));
      ++annotated;
    });
    for (auto &[op, scope] : scopes)
      op->removeAttr(placeAttr);
  }

  /// Lists of scopes are as long as there are places; a function with more has other worries.
  static constexpr size_t maxPlaces = 64;
};

} // namespace
