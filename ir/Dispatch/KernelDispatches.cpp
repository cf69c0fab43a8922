#include "ir/Dispatch/KernelDispatches.h"

#include "ir/Plim/Plim.h"
#include "targets/dlti/Dlti.h"

using namespace mlir;
using namespace plim::ir;

namespace {

bool isArgument(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

} // namespace

bool plim::ir::isWhole(Value buffer) {
  if (auto get = buffer.getDefiningOp<memref::GetGlobalOp>())
    return isConstantMemory(get);
  return isArgument(buffer) ||
         isa_and_nonnull<AllocOp, memref::AllocOp, memref::AllocaOp>(buffer.getDefiningOp());
}

size_t plim::ir::countArguments(ValueRange values) {
  return llvm::count_if(
      values, [](Value value) { return isa<MemRefType>(value.getType()) && isArgument(value); });
}

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
