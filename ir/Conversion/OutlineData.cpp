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
    auto isInCode = [&](memref::GlobalOp global) {
      return !llvm::all_of(users.getUsers(global), llvm::IsaPred<memref::GlobalOp>);
    };
    SmallVector<memref::GlobalOp> globals, unused;
    for (auto global : getOperation().getOps<memref::GlobalOp>()) {
      const bool isNeeded = llvm::any_of(users.getUsers(global), [&](Operation *user) {
        auto other = dyn_cast<memref::GlobalOp>(user);
        return !other || isInCode(other);
      });
      (isNeeded ? globals : unused).push_back(global);
    }
    for (memref::GlobalOp global : unused)
      global.erase();
    SmallVector<Attribute> data;
    // As long as what they are made of has the name of the source.
    SmallVector<Attribute> arrangements = llvm::map_to_vector(globals, [&](memref::GlobalOp each) {
      return each->removeAttr(plim::ir::arrangementAttr);
    });
    for (auto [global, arrangement] : llvm::zip_equal(globals, arrangements)) {
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
      if (arrangement)
        entry.push_back(builder.getNamedAttr("arrangement", arrangement));
      if (!isInCode(global))
        entry.push_back(builder.getNamedAttr("source_only", builder.getUnitAttr()));
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
