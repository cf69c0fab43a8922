#include "ir/Dispatch/KernelDispatches.h"

#include "ir/Plim/Plim.h"
#include "targets/dlti/Dlti.h"

using namespace mlir;
using namespace plim::ir;

bool plim::ir::canBeBound(Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return buffer.getLayout().isIdentity() && !buffer.getMemorySpace() &&
           buffer.getElementType().isIntOrIndexOrFloat();
  return type.isIndex() || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

func::FuncOp plim::ir::makeDispatchFunction(func::FuncOp kernel, StringRef part, Location location,
                                            SymbolTable &symbols) {
  OpBuilder builder(kernel);
  auto function = func::FuncOp::create(builder, location, (kernel.getName() + "_" + part).str(),
                                       builder.getFunctionType({}, {}));
  function.setPrivate();
  function->setAttr(dispatchFunctionAttr, builder.getUnitAttr());
  if (Attribute limits = kernel->getAttr(limitsAttr))
    function->setAttr(limitsAttr, limits);
  symbols.insert(function);
  function.addEntryBlock();
  return function;
}

StringAttr plim::ir::hostDevice(ModuleOp module) {
  auto target = plim::targets::dlti::targetOf(module);
  return target ? StringAttr::get(module.getContext(), target->devices[0].name) : StringAttr();
}

bool plim::ir::isConstantMemory(memref::GetGlobalOp get) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  return global && global.getConstant();
}
