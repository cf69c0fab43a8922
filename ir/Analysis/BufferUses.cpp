#include "ir/Analysis/BufferUses.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// What the op itself does to the buffer of an operand. An op that says nothing may do everything.
struct Effect {
  bool reads = false, writes = false, frees = false;
  explicit operator bool() const { return reads || writes || frees; }
};

Effect effectOn(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<func::CallOp, func::ReturnOp>(op))
    return {true, true, false};
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
    return {true, toTensor.getWritable(), false};
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ? Effect{} : Effect{true, true, true};
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  Effect effect;
  for (MemoryEffects::EffectInstance &each : effects) {
    // An effect without a value is one on whatever the op has.
    if (each.getValue() ? each.getValue() != operand.get() : bool(each.getSymbolRef()))
      continue;
    if (!each.getValue() && isa<CallOp>(op))
      continue; // on the host, not on memory of the module
    effect.reads |= isa<MemoryEffects::Read>(each.getEffect());
    effect.writes |= isa<MemoryEffects::Write>(each.getEffect());
    effect.frees |= isa<MemoryEffects::Free>(each.getEffect());
  }
  return effect;
}

} // namespace

BufferUses::BufferUses(ModuleOp module) : views(module) {
  for (auto function : module.getOps<func::FuncOp>())
    functions[function.getSymNameAttr()] = function;
  module.walk([&](func::CallOp call) { calls[call.getCalleeAttr().getAttr()].push_back(call); });
}

void BufferUses::forEach(Value buffer, llvm::function_ref<void(OpOperand &)> visit) const {
  llvm::SetVector<Value> names;
  auto add = [&](Value name) {
    for (Value other : views.resolve(name))
      names.insert(other);
  };
  add(buffer);
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      auto function = user->getParentOfType<func::FuncOp>();
      if (auto call = dyn_cast<func::CallOp>(user)) {
        func::FuncOp callee = functions.lookup(call.getCalleeAttr().getAttr());
        if (callee && !callee.isDeclaration())
          add(callee.getArgument(use.getOperandNumber()));
        else
          visit(use);
      } else if (isa<func::ReturnOp>(user)) {
        auto callers = calls.find(function.getSymNameAttr());
        if (callers != calls.end())
          for (func::CallOp call : callers->second)
            add(call.getResult(use.getOperandNumber()));
        if (function.isPublic())
          visit(use);
      } else if (effectOn(use)) {
        visit(use);
      }
    }
}

BufferUses::Found BufferUses::find(Value buffer) const {
  Found found;
  forEach(buffer, [&](OpOperand &use) {
    Effect effect = effectOn(use);
    if (effect.reads && !found.read)
      found.read = &use;
    if (effect.writes && !found.write)
      found.write = &use;
    if (effect.frees && !found.free)
      found.free = &use;
  });
  return found;
}
