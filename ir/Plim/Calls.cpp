// What runs elsewhere: dispatches, their schedules, and functions of the host application.
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace plim::ir;

bool DispatchOp::isOutput(OpOperand &operand) {
  return operand.getOperandNumber() >= getInputs().size();
}

OpResult DispatchOp::getResultIn(OpOperand &output) {
  assert(isOutput(output) && "an input has no result");
  return getOperation()->getResult(output.getOperandNumber() - unsigned(getInputs().size()));
}

/// How many operands before this one are shaped.
static size_t shapedBefore(OpOperand &operand) {
  auto before = operand.getOwner()->getOperands().take_front(operand.getOperandNumber());
  return size_t(llvm::count_if(before, [](Value v) { return isa<ShapedType>(v.getType()); }));
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
  if (ArrayAttr accesses = getAccessesAttr())
    return cast<AccessAttr>(accesses[shapedBefore(binding)]).getValue();
  return isOutput(binding) ? Access::ReadWrite : Access::ReadOnly;
}

/// All bindings, each with what the dispatch function does to it.
static SmallVector<std::pair<OpOperand *, Access>> accessesOf(DispatchOp dispatch) {
  SmallVector<std::pair<OpOperand *, Access>> accesses;
  ArrayAttr known = dispatch.getAccessesAttr();
  for (auto [i, binding] : llvm::enumerate(dispatch.getBindings()))
    accesses.emplace_back(binding, known ? cast<AccessAttr>(known[i]).getValue()
                                         : dispatch.getAccess(*binding));
  return accesses;
}

LogicalResult DispatchOp::verify() {
  if (ArrayAttr accesses = getAccessesAttr()) {
    SmallVector<OpOperand *> bindings = getBindings();
    if (accesses.size() != bindings.size())
      return emitOpError() << "has " << accesses.size() << " accesses for " << bindings.size()
                           << " bindings";
    for (auto [binding, attribute] : llvm::zip(bindings, accesses)) {
      Access access = cast<AccessAttr>(attribute).getValue();
      if (!isOutput(*binding) && access != Access::ReadOnly)
        return emitOpError() << "input #" << binding->getOperandNumber() << " must be readonly";
      if (isOutput(*binding) && access == Access::ReadOnly)
        return emitOpError() << "output #" << binding->getOperandNumber() << " can't be readonly";
    }
  }
  bool onTensors = llvm::all_of(getOutputs(), [](Value v) { return isa<TensorType>(v.getType()); });
  bool onMemrefs = llvm::all_of(getOutputs(), [](Value v) { return isa<MemRefType>(v.getType()); });
  if (!onTensors && !onMemrefs)
    return emitOpError("must have outputs that are all tensors or all memrefs");
  if (getNumResults() != (onTensors ? getOutputs().size() : 0))
    return emitOpError("must have one result per tensor output and none for memrefs");
  for (auto [result, output] : llvm::zip(getResultTypes(), getOutputs().getTypes()))
    if (result != output)
      return emitOpError() << "has a result of type " << result << " in an output of type "
                           << output;
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function)
    return emitOpError() << "refers to " << getFunction() << ", which is no function";
  if (!function->hasAttr(dispatchFunctionAttr))
    return emitOpError() << "refers to " << getFunction() << ", which is no dispatch function";
  // As tensors, or as pointers that say what they point at: a pointer alone says nothing.
  SmallVector<ShapedType> declared;
  for (BlockArgument argument : function.getArguments())
    if (auto shape = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), shapeAttr))
      declared.push_back(cast<ShapedType>(shape.getValue()));
    else if (auto tensor = dyn_cast<RankedTensorType>(argument.getType()))
      declared.push_back(tensor);
  if (declared.empty())
    return success();
  SmallVector<OpOperand *> bindings = getBindings();
  if (bindings.size() != declared.size())
    return emitOpError() << "has " << bindings.size() << " bindings, but " << getFunction()
                         << " takes " << declared.size();
  for (auto [i, binding, wanted] : llvm::enumerate(bindings, declared)) {
    auto have = cast<ShapedType>(binding->get().getType());
    if (have.getShape() != wanted.getShape() || have.getElementType() != wanted.getElementType())
      return emitOpError() << "has binding #" << i << " of type " << have << ", but "
                           << getFunction() << " was made for " << wanted;
  }
  return success();
}

namespace {

/// What a dispatch computes has the extents of where it does so.
struct DimOfOutput : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp dim, PatternRewriter &rewriter) const override {
    auto dispatch = dim.getSource().getDefiningOp<DispatchOp>();
    if (!dispatch)
      return failure();
    Value output = dispatch.getOutputs()[cast<OpResult>(dim.getSource()).getResultNumber()];
    rewriter.modifyOpInPlace(dim, [&] { dim.getSourceMutable().assign(output); });
    return success();
  }
};

} // namespace

void DispatchOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DimOfOutput>(context);
}

void DispatchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (auto [binding, access] : accessesOf(*this)) {
    if (!isa<MemRefType>(binding->get().getType()))
      continue;
    if (access != Access::WriteOnly)
      effects.emplace_back(MemoryEffects::Read::get(), binding);
    if (access != Access::ReadOnly)
      effects.emplace_back(MemoryEffects::Write::get(), binding);
  }
}

namespace {

/// What of a host function is outside of the module. Effects on it keep calls in their order.
struct HostResource : SideEffects::Resource::Base<HostResource> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HostResource)
  StringRef getName() override { return "host"; }
};

} // namespace

Access CallOp::getAccess(OpOperand &operand) {
  return cast<AccessAttr>(getAccesses()[shapedBefore(operand)]).getValue();
}

bool ExternalOp::isOpenResult(unsigned index) {
  auto tensor = dyn_cast<RankedTensorType>(getFunctionType().getResult(index));
  return tensor && !tensor.hasStaticShape() && getDonations()[index] < 0;
}

OpResult CallOp::getResultIn(OpOperand &operand) {
  auto destination = getDestinations().begin();
  for (OpResult result : getOperation()->getResults())
    if (isa<TensorType>(result.getType()) && *destination++ == operand.getOperandNumber())
      return result;
  return {};
}

bool CallOp::isMadeByCallee(OpResult result) {
  if (isa<MemRefType>(result.getType()))
    return true;
  auto destination = getDestinations().begin();
  for (OpResult other : getOperation()->getResults())
    if (isa<TensorType>(other.getType())) {
      if (other == result)
        return *destination == madeByCallee;
      ++destination;
    }
  return false;
}

LogicalResult CallOp::verify() {
  if (getArguments().empty() || !isa<ContextType>(getArguments()[0].getType()))
    return emitOpError("must have the context as its first argument");
  auto isShaped = [](Type type) { return isa<ShapedType>(type); };
  const bool onTensors = llvm::any_of(getResultTypes(), llvm::IsaPred<TensorType>);
  if (getAccesses().size() != size_t(llvm::count_if(getOperandTypes(), isShaped)))
    return emitOpError() << "has " << getAccesses().size() << " accesses for "
                         << llvm::count_if(getOperandTypes(), isShaped) << " shaped arguments";
  SmallVector<Type> shaped = llvm::filter_to_vector(getResultTypes(), isShaped);
  ArrayRef<int64_t> destinations = getDestinations();
  // On buffers those alone are left that the callee makes.
  if (const size_t expected =
          onTensors ? destinations.size() : size_t(llvm::count(destinations, madeByCallee));
      shaped.size() != expected)
    return emitOpError() << "has " << shaped.size() << " shaped results, but destinations for "
                         << expected;
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    if (destination == madeByCallee)
      continue;
    if (destination < 1 || destination >= int64_t(getNumOperands()) ||
        !isShaped(getOperand(unsigned(destination)).getType()) ||
        (onTensors && getOperand(unsigned(destination)).getType() != shaped[i]))
      return emitOpError() << "has destination #" << i << ", which does not fit";
    if (getAccess(getOperation()->getOpOperand(unsigned(destination))) == Access::ReadOnly)
      return emitOpError() << "has destination #" << i << ", which is readonly";
    if (!seen.insert(destination).second)
      return emitOpError() << "has destination #" << i << " twice";
  }
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<ExternalOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "refers to " << getCallee() << ", which is no host function";
  // Bufferization makes memrefs of tensors here, not there.
  auto fits = [](Type have, Type declared) {
    auto shaped = dyn_cast<ShapedType>(have), tensor = dyn_cast<ShapedType>(declared);
    return have == declared || (shaped && isa<TensorType>(declared) &&
                                shaped.getElementType() == tensor.getElementType() &&
                                shaped.getShape() == tensor.getShape());
  };
  FunctionType type = callee.getFunctionType();
  bool ok = getNumOperands() > type.getNumInputs();
  for (unsigned i = 0; ok && i < type.getNumInputs(); ++i)
    ok = fits(getOperand(i + 1).getType(), type.getInput(i));
  bool onTensors = llvm::any_of(getResultTypes(), llvm::IsaPred<TensorType>);
  SmallVector<Type> declared;
  size_t tensor = 0;
  for (auto [i, result] : llvm::enumerate(type.getResults())) {
    if (isa<TensorType>(result)) {
      ok &= tensor < getDestinations().size() &&
            (getDestinations()[tensor] == madeByCallee) == callee.isOpenResult(unsigned(i));
      ++tensor;
    }
    if (onTensors || !isa<TensorType>(result) || callee.isOpenResult(unsigned(i)))
      declared.push_back(result);
  }
  ok &= tensor == getDestinations().size() && getNumResults() == declared.size() &&
        llvm::all_of(llvm::zip(getResultTypes(), declared),
                     [&](auto pair) { return fits(std::get<0>(pair), std::get<1>(pair)); });
  if (!ok)
    return emitOpError() << "does not fit " << getCallee() << ", which has type " << type;
  return success();
}

void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  size_t shaped = 0;
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    const Access access = cast<AccessAttr>(getAccesses()[shaped++]).getValue();
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (access != Access::WriteOnly)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (access != Access::ReadOnly)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
  for (OpResult result : getOperation()->getResults())
    if (isa<MemRefType>(result.getType()))
      effects.emplace_back(MemoryEffects::Allocate::get(), result);
  if (getPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get(), HostResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

SmallVector<uint64_t> ScheduleOp::getPredecessorSets() {
  SmallVector<uint64_t> sets;
  if (!getPredecessors()) {
    sets.assign(getBody().front().getOperations().size(), 0);
    return sets;
  }
  for (auto positions : getPredecessors()->getAsRange<DenseI64ArrayAttr>()) {
    uint64_t set = 0;
    for (int64_t position : positions.asArrayRef())
      set |= uint64_t(1) << position;
    sets.push_back(set);
  }
  return sets;
}

SmallVector<uint64_t> ScheduleOp::closureOf(ArrayRef<uint64_t> predecessors) {
  SmallVector<uint64_t> closure(predecessors);
  for (size_t i = 0; i < closure.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (closure[i] >> j & 1)
        closure[i] |= closure[j];
  return closure;
}

LogicalResult ScheduleOp::verify() {
  SmallVector<DispatchOp> dispatches;
  for (Operation &op : getBody().front()) {
    auto dispatch = dyn_cast<DispatchOp>(op);
    if (!dispatch || dispatch.getNumResults() != 0)
      return op.emitOpError("can't be part of plim.schedule, which holds dispatches on buffers");
    dispatches.push_back(dispatch);
  }
  if (dispatches.size() < 2)
    return emitOpError("must hold at least two dispatches");
  if (dispatches.size() > limit)
    return emitOpError() << "holds " << dispatches.size() << " dispatches, but " << limit
                         << " are the most";
  if (getPredecessors()) {
    if (getPredecessors()->size() != dispatches.size())
      return emitOpError() << "has " << dispatches.size() << " dispatches, but predecessors of "
                           << getPredecessors()->size();
    for (auto [i, positions] : llvm::enumerate(getPredecessors()->getAsRange<DenseI64ArrayAttr>()))
      for (int64_t position : positions.asArrayRef())
        if (position < 0 || position >= int64_t(i))
          return emitOpError() << "has dispatch #" << i << " wait for #" << position
                               << ", which does not come before it";
  }
  SmallVector<uint64_t> before = closureOf(getPredecessorSets());
  // Of each buffer: the dispatches that bind it, and those that write it.
  DenseMap<Value, std::pair<uint64_t, uint64_t>> users;
  for (auto [i, dispatch] : llvm::enumerate(dispatches)) {
    const auto bindings = accessesOf(dispatch);
    for (auto [binding, access] : bindings) {
      auto [all, writers] = users.lookup(binding->get());
      if ((access == Access::ReadOnly ? writers : all) & ~before[i])
        return dispatch.emitOpError()
               << "shares binding #" << binding->getOperandNumber()
               << " with another dispatch of plim.schedule that it does not wait for, and one of "
                  "them writes it";
    }
    for (auto [binding, access] : bindings) {
      auto &[all, writers] = users[binding->get()];
      all |= uint64_t(1) << i;
      if (access != Access::ReadOnly)
        writers |= uint64_t(1) << i;
    }
  }
  return success();
}
