#include "ir/Plim/Plim.h"

#include "targets/AllocationOptions.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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

bool plim::ir::isStorageFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool plim::ir::fillsItsBytes(Type element) {
  return element.isIntOrFloat() &&
         int64_t(element.getIntOrFloatBitWidth()) == 8 * elementBytes(element);
}

bool plim::ir::isInlineConstant(Attribute value, int64_t limit) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  return elements && !elements.empty() && fillsItsBytes(elements.getElementType()) &&
         elements.getNumElements() <= limit / elementBytes(elements.getElementType());
}

OpFoldResult CheckOp::fold(FoldAdaptor adaptor) {
  auto condition = dyn_cast_or_null<BoolAttr>(adaptor.getCondition());
  return condition && condition.getValue() ? getCondition() : Value();
}

bool plim::ir::isAssertion(Operation *op) { return isa<cf::AssertOp, RequireOp>(op); }

StringRef plim::ir::sourceName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(sourceOpAttr))
    return name.getValue();
  // What upstream makes of an op on whole tensors has that op in it, at its own place.
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Block &body = *generic.getBody();
    if (body.getOperations().size() == 2 && body.front().getLoc() == op->getLoc())
      return body.front().getName().getStringRef();
  }
  return op->getName().getStringRef();
}

namespace {

struct EraseHolding : OpRewritePattern<RequireOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RequireOp op, PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getCondition(), m_One()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void RequireOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EraseHolding>(context);
}

void RequireOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}

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

std::optional<Scope> Scope::parse(StringRef text) {
  if (text == "global")
    return Scope{Global};
  if (text == "local")
    return Scope{Local};
  if (text == "workgroup")
    return Scope{Workgroup};
  if (!text.consume_front("global.") || text.empty())
    return std::nullopt;
  if (text == "stack")
    return Scope{Stack};
  if (text == "workspace")
    return Scope{Workspace};
  return Scope{Pool, text};
}

namespace {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

bool isAlignment(int64_t bytes) {
  return bytes > 0 && bytes <= (int64_t(1) << 30) && llvm::isPowerOf2_64(bytes);
}

LogicalResult verifyNames(Attribute names, StringRef what, EmitError emitError) {
  auto array = dyn_cast<ArrayAttr>(names);
  if (!array)
    return emitError() << "'" << what << "' must be a list of names";
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute name : array) {
    if (!isa<StringAttr>(name) || cast<StringAttr>(name).empty())
      return emitError() << "'" << what << "' must be a list of names";
    if (!seen.insert(name).second)
      return emitError() << "'" << what << "' names " << name << " twice";
  }
  return success();
}

LogicalResult verifyLimits(Attribute limits, StringRef what, bool onModule, EmitError emitError) {
  auto dictionary = dyn_cast<DictionaryAttr>(limits);
  if (!dictionary)
    return emitError() << "'" << what << "' must be a dictionary";
  for (NamedAttribute limit : dictionary) {
    StringRef name = limit.getName();
    plim::targets::LimitValue value = false;
    if (auto flag = dyn_cast<BoolAttr>(limit.getValue()))
      value = flag.getValue();
    else if (auto number = dyn_cast<IntegerAttr>(limit.getValue());
             number && number.getType().isInteger(64))
      value = number.getInt();
    else
      return emitError() << "limit '" << name << "' must be an i64, or true or false";
    if (name == "workspace_alignment" && !onModule)
      return emitError() << "limit 'workspace_alignment' holds for a module";
    if (plim::Status status = plim::targets::checkStackLimit(name, value); !status.ok())
      return emitError() << status.message();
  }
  return success();
}

/// The constraints of an allocation, each if it is there.
LogicalResult verifyConstraints(StringRef scope, Attribute pools, Attribute accessors,
                                Attribute maxBytes, Attribute limits, EmitError emitError) {
  std::optional<Scope> parsed = Scope::parse(scope);
  if (!parsed)
    return emitError() << "unknown scope '" << scope << "'; known are global, global.stack, "
                       << "global.workspace, global.POOL, local and workgroup";
  if (pools) {
    if (failed(verifyNames(pools, "candidate_pools", emitError)))
      return failure();
    if (cast<ArrayAttr>(pools).empty())
      return emitError() << "'candidate_pools' names no place";
    if (parsed->kind != Scope::Global)
      return emitError() << "scope '" << scope << "' names one place: 'candidate_pools' is for "
                         << "scope 'global'";
  }
  if (accessors && failed(verifyNames(accessors, "accessors", emitError)))
    return failure();
  if (maxBytes) {
    auto number = dyn_cast<IntegerAttr>(maxBytes);
    if (!number || !number.getType().isInteger(64) || number.getInt() < 0)
      return emitError() << "'max_bytes' must be an i64 that is not negative";
  }
  return limits ? verifyLimits(limits, "limits", /*onModule=*/false, emitError) : success();
}

} // namespace

namespace {

/// A constant may live in a pool: it is copied there when the module is loaded.
LogicalResult verifyConstantScope(Operation *op, Attribute scope) {
  auto text = dyn_cast<StringAttr>(scope);
  std::optional<Scope> parsed = text ? Scope::parse(text.getValue()) : std::nullopt;
  if (!parsed || (parsed->kind != Scope::Global && parsed->kind != Scope::Pool))
    return op->emitError() << "scope " << scope << " is not for a constant; known are \"global\" "
                           << "and \"global.POOL\"";
  auto memory = dyn_cast<memref::GlobalOp>(op);
  auto program = dyn_cast<ml_program::GlobalOp>(op);
  bool isConstant =
      memory ? memory.getConstant() && isa_and_nonnull<ElementsAttr>(memory.getInitialValueAttr())
             : !program.getIsMutable() && isa_and_nonnull<ElementsAttr>(program.getValueAttr());
  if (!isConstant)
    return op->emitError() << "only a constant has a scope; parameters stay where the host "
                           << "application has them, variables with the module";
  return success();
}

} // namespace

LogicalResult WorkgroupsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> tiles, StringRef) {
  if (llvm::any_of(tiles, [](int64_t tile) { return tile < 0; }))
    return emitError() << "tiles are 0 or more";
  return success();
}

LogicalResult PanelsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, OperandForm,
                                 OperandForm, ArrayRef<int64_t> depth, int64_t columns,
                                 int64_t lines, StringRef) {
  if (llvm::any_of(depth, [](int64_t tile) { return tile < 1; }) || columns < 0 || lines < 1)
    return emitError() << "depths and lines are 1 or more, columns 0 or more";
  return success();
}

LogicalResult RegistersAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    int64_t rows, int64_t rowLoop, int64_t columns,
                                    int64_t columnLoop, int64_t lanes, int64_t terms, StringRef) {
  if (rows < 1 || columns < 1 || lanes < 1 || terms < 0 || rowLoop < -1 || columnLoop < 0)
    return emitError() << "rows, columns and lanes are 1 or more, and loops are loops";
  return success();
}

/// Is a strategy of the kind that its name says, and of an op that has its loops?
static LogicalResult verifyStrategy(Operation *op, NamedAttribute attribute) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  auto registers = dyn_cast<RegistersAttr>(attribute.getValue());
  auto panels = dyn_cast<PanelsAttr>(attribute.getValue());
  bool fits = isa<WorkgroupsAttr>(attribute.getValue()) && isa<FunctionOpInterface>(op);
  if (attribute.getName() == registersAttr)
    fits = registers && linalgOp &&
           std::max(registers.getRowLoop(), registers.getColumnLoop()) <
               int64_t(linalgOp.getNumLoops());
  if (attribute.getName() == panelsAttr)
    fits = panels && linalgOp && panels.getDepth().size() == linalgOp.getNumReductionLoops();
  if (!fits)
    return op->emitError() << attribute.getName() << " does not fit the op";
  return success();
}

LogicalResult PlimDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitError(); };
  StringRef name = attribute.getName();
  if (name == workgroupsAttr || name == panelsAttr || name == registersAttr)
    return verifyStrategy(op, attribute);
  if (name == engineLimitsAttr || name == limitsAttr) {
    if (isa<ModuleOp>(op) || (isa<FunctionOpInterface>(op) && name == limitsAttr))
      return verifyLimits(attribute.getValue(), name, isa<ModuleOp>(op), emitError);
    if (name == engineLimitsAttr)
      return emitError() << "'" << name << "' belongs on the module";
  }
  if (name != scopeAttr && name != candidatePoolsAttr && name != accessorsAttr &&
      name != maxBytesAttr && name != limitsAttr)
    return success();
  if (isa<memref::GlobalOp, ml_program::GlobalOp>(op) && name == scopeAttr)
    return verifyConstantScope(op, attribute.getValue());
  if (!isa<tensor::EmptyOp, bufferization::AllocTensorOp, memref::AllocOp, memref::AllocaOp>(op))
    return emitError() << "'" << name << "' belongs on an allocation";
  auto scope = op->getAttrOfType<StringAttr>(scopeAttr);
  if (!scope && op->hasAttr(scopeAttr))
    return emitError() << "'" << scopeAttr << "' must be a string";
  return verifyConstraints(scope ? scope.getValue() : "global", op->getAttr(candidatePoolsAttr),
                           op->getAttr(accessorsAttr), op->getAttr(maxBytesAttr),
                           op->getAttr(limitsAttr), emitError);
}

/// What is wrong with the bounds of an extent; empty: nothing.
static std::string faultOfBounds(Attribute attribute) {
  auto bounds = dyn_cast<DictionaryAttr>(attribute);
  if (!bounds)
    return "is no dictionary";
  for (NamedAttribute each : bounds) {
    auto value = dyn_cast<IntegerAttr>(each.getValue());
    if (each.getName() != "min" && each.getName() != "max")
      return ("has '" + each.getName().getValue() + "', but there are 'min' and 'max' only").str();
    if (!value || !value.getType().isInteger(64) || value.getInt() < 0)
      return ("has a '" + each.getName().getValue() + "' that is no i64 of 0 or more").str();
  }
  ExtentBounds parsed = extentBounds(bounds);
  if (parsed.max && *parsed.max < parsed.min)
    return "has a 'max' less than its 'min'";
  return "";
}

LogicalResult PlimDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned position,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || attribute.getName() != boundsAttr)
    return success();
  auto refuse = [&]() -> InFlightDiagnostic {
    return op->emitError() << "'" << boundsAttr << "' of argument #" << position << " of '"
                           << function.getName() << "' ";
  };
  Type type = function.getArgumentTypes()[position];
  if (type.isIndex()) {
    std::string fault = faultOfBounds(attribute.getValue());
    return fault.empty() ? success() : LogicalResult(refuse() << fault);
  }
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return refuse() << "belongs on a tensor or memref, not on " << type;
  auto all = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!all || int64_t(all.size()) != shaped.getRank())
    return refuse() << "must be an array with one dictionary for each of the " << shaped.getRank()
                    << " dimensions of " << type;
  for (auto [dimension, each] : llvm::enumerate(all)) {
    if (std::string fault = faultOfBounds(each); !fault.empty())
      return refuse() << fault << " in dimension " << dimension;
    if (!shaped.isDynamicDim(unsigned(dimension)) && !cast<DictionaryAttr>(each).empty())
      return refuse() << "bounds dimension " << dimension << ", which is "
                      << shaped.getDimSize(unsigned(dimension)) << " already";
  }
  return success();
}

LogicalResult AllocOp::verify() {
  if (static_cast<int64_t>(getDynamicSizes().size()) !=
      static_cast<int64_t>(getType().getNumDynamicDims()))
    return emitOpError() << "has " << getDynamicSizes().size() << " sizes for "
                         << getType().getNumDynamicDims() << " dynamic extents";
  if (getAlignment() && !isAlignment(*getAlignment()))
    return emitOpError() << "has alignment " << int64_t(*getAlignment())
                         << ", which is no power of two up to 2^30";
  return verifyConstraints(getScope(), getCandidatePoolsAttr(), getAccessorsAttr(),
                           getMaxBytesAttr(), getLimitsAttr(), [&] { return emitOpError(); });
}

void AllocOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!isOnTensor())
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
}

SmallVector<OpFoldResult> AllocOp::getMixedSizes() {
  Builder builder(getContext());
  return mlir::getMixedValues(getType().getShape(), getDynamicSizes(), builder);
}

LogicalResult AllocOp::reifyResultShapes(OpBuilder &, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(getMixedSizes());
  return success();
}

bool AllocOp::isPinned() {
  Scope scope = *Scope::parse(getScope());
  return scope.kind == Scope::Workspace || scope.kind == Scope::Pool || getCandidatePoolsAttr();
}

int64_t AllocOp::getFrameAlignment() {
  // A vector of the whole buffer, or a cache line, is the most that is accessed at once.
  int64_t natural =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(*getBytes(), 1)), 1, 64);
  return std::max<int64_t>(natural, getAlignment().value_or(1));
}

std::optional<Operation *> AllocOp::buildDealloc(OpBuilder &builder, Value alloc) {
  return memref::DeallocOp::create(builder, alloc.getLoc(), alloc).getOperation();
}

std::optional<Value> AllocOp::buildClone(OpBuilder &builder, Value alloc) {
  return bufferization::CloneOp::create(builder, alloc.getLoc(), alloc).getResult();
}

HoistingKind AllocOp::getHoistingKind() { return HoistingKind::Loop | HoistingKind::Block; }

namespace {

/// A slice of nothing is nothing: where only slices of an allocation are used, each is one of its own.
/// Without this, a temporary that was tiled would keep the size of the whole.
struct SliceOfAlloc : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto alloc = slice.getSource().getDefiningOp<AllocOp>();
    if (!alloc || !llvm::all_of(alloc->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>) ||
        slice.getType().getRank() != alloc.getType().getRank())
      return failure();
    SmallVector<Value> sizes;
    for (auto [extent, size] : llvm::zip(slice.getType().getShape(), slice.getMixedSizes()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, slice.getLoc(), size));
    auto fresh =
        AllocOp::create(rewriter, alloc.getLoc(), slice.getType(), sizes, alloc->getAttrs());
    rewriter.replaceOp(slice, fresh);
    return success();
  }
};

} // namespace

void AllocOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfAlloc>(context);
}
