#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMOUTLINEDATA
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;

namespace {

struct OutlineData : plim::ir::impl::PlimOutlineDataBase<OutlineData> {
  using PlimOutlineDataBase::PlimOutlineDataBase;

  void runOnOperation() override {
    Builder builder(&getContext());
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    SmallVector<Attribute> data;
    for (auto global : llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>())) {
      if (users.useEmpty(global)) {
        global.erase();
        continue;
      }
      std::string name = global.getSymName().str();
      Attribute value = global.getInitialValueAttr();
      if (global.getConstant() && !global->hasAttr(plim::ir::scopeAttr) &&
          plim::ir::isInlineConstant(value, inlineConstantBytes)) {
        SymbolTable::setSymbolVisibility(global, SymbolTable::Visibility::Private);
        // What is bound to a dispatch is aligned like any buffer.
        uint64_t alignment = global.getAlignment().value_or(1);
        global.setAlignment(std::max<uint64_t>(alignment, plim::ir::abi::bufferAlignment));
        ++inlined;
        continue;
      }
      StringRef kind = !value                                    ? "parameter"
                       : global->hasAttr(plim::ir::preparedAttr) ? "prepared"
                       : global.getConstant()                    ? "constant"
                                                                 : "variable";
      SmallVector<NamedAttribute> entry = {
          builder.getNamedAttr("name", builder.getStringAttr(name)),
          builder.getNamedAttr("kind", builder.getStringAttr(kind)),
          builder.getNamedAttr("type", TypeAttr::get(global.getType()))};
      if (kind == "variable" && !guarded &&
          global.getAlignment().value_or(1) > plim::ir::abi::bufferAlignment)
        entry.push_back(builder.getNamedAttr("alignment", global.getAlignmentAttr()));
      // Whoever does not bind it has to be told where it is.
      if (!value)
        entry.push_back(builder.getNamedAttr("location", LocationAttr(global.getLoc())));
      if (isa_and_nonnull<ElementsAttr>(value))
        entry.push_back(builder.getNamedAttr("value", value));
      if (auto scope = global->getAttrOfType<StringAttr>(plim::ir::scopeAttr))
        entry.push_back(builder.getNamedAttr(
            "pool", builder.getStringAttr(plim::ir::Scope::parse(scope.getValue())->pool)));
      global->removeAttr(plim::ir::scopeAttr);
      data.push_back(builder.getDictionaryAttr(entry));
      global.removeInitialValueAttr();
      if (guarded)
        global.removeAlignmentAttr();
      // LLVM may move loads from what nothing writes.
      global.setConstant(kind != "variable" && kind != "prepared");
      global->removeAttr(plim::ir::preparedAttr);
      SymbolTable::setSymbolVisibility(global, SymbolTable::Visibility::Public);
      // Out of the way of the symbols of the C library.
      StringAttr symbol = builder.getStringAttr(plim::ir::dataPrefix + name);
      users.replaceAllUsesWith(global, symbol);
      global.setSymNameAttr(symbol);
      ++outlined;
    }
    getOperation()->setAttr(plim::ir::dataAttr, builder.getArrayAttr(data));
  }
};

} // namespace
