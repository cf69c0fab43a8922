#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::ir;

#include "ir/Plim/PlimDialect.cpp.inc"
#include "ir/Plim/PlimEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Plim/PlimAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/Plim/PlimTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/Plim/PlimOps.cpp.inc"

void PlimDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Plim/PlimAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/Plim/PlimTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/Plim/PlimOps.cpp.inc"
      >();
}

int64_t plim::ir::elementBytes(Type element) {
  if (auto vector = dyn_cast<VectorType>(element)) {
    int64_t bits = vector.getElementType().isIndex() ? 64 : vector.getElementTypeBitWidth();
    return llvm::PowerOf2Ceil(llvm::divideCeil(vector.getNumElements() * bits, 8));
  }
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (!element.isIntOrFloat())
    return 8;
  return llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

OpFoldResult CheckOp::fold(FoldAdaptor adaptor) {
  auto condition = dyn_cast_or_null<BoolAttr>(adaptor.getCondition());
  return condition && condition.getValue() ? getCondition() : Value();
}

SmallVector<OpOperand *> DispatchOp::getBindings() {
  SmallVector<OpOperand *> bindings;
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (isa<ShapedType>(operand.get().getType()))
      bindings.push_back(&operand);
  return bindings;
}

SmallVector<Value> DispatchOp::getScalars() {
  return llvm::filter_to_vector(getInputs(), [](Value v) { return !isa<ShapedType>(v.getType()); });
}

Access DispatchOp::getAccess(OpOperand &binding) {
  if (ArrayAttr accesses = getAccessesAttr()) {
    size_t index = 0;
    for (OpOperand *other : getBindings()) {
      if (other == &binding)
        return cast<AccessAttr>(accesses[index]).getValue();
      ++index;
    }
  }
  return isDpsInit(&binding) ? Access::ReadWrite : Access::ReadOnly;
}

LogicalResult DispatchOp::verify() {
  if (ArrayAttr accesses = getAccessesAttr()) {
    SmallVector<OpOperand *> bindings = getBindings();
    if (accesses.size() != bindings.size())
      return emitOpError() << "has " << accesses.size() << " accesses for " << bindings.size()
                           << " bindings";
    for (auto [binding, attribute] : llvm::zip(bindings, accesses)) {
      Access access = cast<AccessAttr>(attribute).getValue();
      if (!isDpsInit(binding) && access != Access::ReadOnly)
        return emitOpError() << "input #" << binding->getOperandNumber() << " must be readonly";
      if (isDpsInit(binding) && access == Access::ReadOnly)
        return emitOpError() << "output #" << binding->getOperandNumber() << " can't be readonly";
    }
  }
  bool onTensors = llvm::all_of(getOutputs(), [](Value v) { return isa<TensorType>(v.getType()); });
  bool onMemrefs = llvm::all_of(getOutputs(), [](Value v) { return isa<MemRefType>(v.getType()); });
  if (!onTensors && !onMemrefs)
    return emitOpError("must have outputs that are all tensors or all memrefs");
  if (getNumResults() != (onTensors ? getOutputs().size() : 0))
    return emitOpError("must have one result per tensor output and none for memrefs");
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function)
    return emitOpError() << "refers to " << getFunction() << ", which is no function";
  if (!function->hasAttr(dispatchFunctionAttr))
    return emitOpError() << "refers to " << getFunction() << ", which is no dispatch function";
  return success();
}

void DispatchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand *binding : getBindings()) {
    if (!isa<MemRefType>(binding->get().getType()))
      continue;
    Access access = getAccess(*binding);
    if (access != Access::WriteOnly)
      effects.emplace_back(MemoryEffects::Read::get(), binding);
    if (access != Access::ReadOnly)
      effects.emplace_back(MemoryEffects::Write::get(), binding);
  }
}

LogicalResult ConcurrentOp::verify() {
  llvm::SmallPtrSet<Value, 8> read, written;
  unsigned count = 0;
  for (Operation &op : getBody().front()) {
    auto dispatch = dyn_cast<DispatchOp>(op);
    if (!dispatch || dispatch.getNumResults() != 0)
      return op.emitOpError("can't be part of plim.concurrent, which holds dispatches on buffers");
    ++count;
    for (OpOperand *binding : dispatch.getBindings()) {
      bool writes = dispatch.getAccess(*binding) != Access::ReadOnly;
      if (written.contains(binding->get()) || (writes && read.contains(binding->get())))
        return dispatch.emitOpError() << "shares binding #" << binding->getOperandNumber()
                                      << " with another dispatch of plim.concurrent, and one of "
                                      << "them writes it";
    }
    for (OpOperand *binding : dispatch.getBindings())
      (dispatch.getAccess(*binding) == Access::ReadOnly ? read : written).insert(binding->get());
  }
  if (count < 2)
    return emitOpError("must hold at least two dispatches");
  return success();
}
