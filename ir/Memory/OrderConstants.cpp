#include "ir/Memory/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMORDERCONSTANTS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

/// How upstream calls the global of a constant, without the number behind it: "__constant_2x3xf32". Empty for another global.
StringRef stemOf(memref::GlobalOp global) {
  StringRef name = global.getSymName();
  if (!global.isPrivate() || !global.getConstant() || !name.starts_with("__constant_"))
    return {};
  auto [stem, number] = name.rsplit('_');
  return !number.empty() && llvm::all_of(number, llvm::isDigit) ? stem : name;
}

struct OrderConstants : plim::ir::impl::PlimOrderConstantsBase<OrderConstants> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<memref::GlobalOp> constants;
    llvm::StringSet<> others; // names that are taken
    for (Operation &op : *module.getBody()) {
      auto global = dyn_cast<memref::GlobalOp>(op);
      if (global && !stemOf(global).empty())
        constants[global.getSymName()] = global;
      else if (auto symbol = dyn_cast<SymbolOpInterface>(op))
        others.insert(symbol.getName());
    }
    if (constants.empty())
      return;
    llvm::MapVector<Operation *, SmallVector<memref::GetGlobalOp>>
        readers; // in the order of the code
    module.walk([&](memref::GetGlobalOp get) {
      if (memref::GlobalOp global = constants.lookup(get.getName()))
        readers[global].push_back(get);
    });

    llvm::StringMap<int64_t> numbers; // the next one of a stem
    Operation *last = nullptr;
    for (auto &[op, gets] : readers) {
      auto global = cast<memref::GlobalOp>(op);
      const std::string stem = stemOf(global).str();
      std::string name;
      do {
        const int64_t number = numbers[stem]++;
        name = number == 0 ? stem : stem + "_" + std::to_string(number - 1);
      } while (others.contains(name));
      renamed += name != global.getSymName();
      global.setSymName(name);
      for (memref::GetGlobalOp get : gets)
        get.setName(name);
      last ? op->moveAfter(last) : op->moveBefore(&module.getBody()->front());
      last = op;
    }
  }
};

} // namespace
