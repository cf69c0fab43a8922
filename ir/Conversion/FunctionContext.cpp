#include "ir/Conversion/FunctionContext.h"

#include "ir/Conversion/LowerAllocations.h"
#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include <algorithm>

using namespace mlir;

namespace plim::ir {

namespace {

/// Returns from the enclosing function at the end of the block of `builder`.
void returnNothing(OpBuilder &builder, Location loc, func::FuncOp function) {
  SmallVector<Value> results;
  for (Type type : function.getResultTypes())
    if (function->hasAttr(kernelAttr) && type.isIntOrIndexOrFloat())
      results.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
    else
      results.push_back(ub::PoisonOp::create(builder, loc, type));
  func::ReturnOp::create(builder, loc, results);
}

/// Upstream inserts arguments where there is a body.
void addContextToDeclaration(func::FuncOp function, Type context) {
  Builder builder(function.getContext());
  SmallVector<Type> types = {context};
  llvm::append_range(types, function.getArgumentTypes());
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  attributes.insert(attributes.begin(), builder.getDictionaryAttr({}));
  function.setFunctionType(builder.getFunctionType(types, function.getResultTypes()));
  function.setAllArgAttrs(attributes);
}

} // namespace

Variables::Variables(ModuleOp module) {
  auto data = module->getAttrOfType<ArrayAttr>(dataAttr);
  int32_t position = 0;
  for (Attribute attribute : data ? data.getValue() : ArrayRef<Attribute>()) {
    auto entry = cast<DictionaryAttr>(attribute);
    if (entry.getAs<StringAttr>("kind").getValue() != "variable")
      continue;
    std::string symbol = (dataPrefix + entry.getAs<StringAttr>("name").getValue()).str();
    positions[symbol] = position++;
  }
}

void Variables::eraseGlobals(SymbolTable &symbols) const {
  for (StringRef symbol : positions.keys())
    symbols.erase(symbols.lookup(symbol));
}

bool Variables::isOne(Operation *op) const {
  auto get = dyn_cast_or_null<memref::GetGlobalOp>(op);
  return get && positions.contains(get.getName());
}

void Variables::lower(memref::GetGlobalOp op) const {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value context = contextOf(op);
  Value bases = loadAt(builder, loc, context.getType(), context, abi::contextVariablesOffset);
  Value base = loadAt(builder, loc, bases.getType(), bases, 8 * positions.lookup(op.getName()));
  op.replaceAllUsesWith(makeMemref(builder, loc, op.getType(), base, {}));
  op->erase();
}

ContextNeed bodyNeedOf(func::FuncOp function, const SymbolTable &symbols,
                       const Variables &variables) {
  if (function.isDeclaration())
    return function->hasAttr(needsContextAttr) ? ContextNeed::All : ContextNeed::None;
  auto need = ContextNeed::None;
  function.walk([&](Operation *op) {
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      auto body = symbols.lookup<func::FuncOp>(dispatch.getFunction());
      need = std::max(ContextNeed::Looks, bodyNeedOf(body, symbols, variables));
      return need == ContextNeed::All ? WalkResult::interrupt() : WalkResult::advance();
    }
    if (isa<PollOp, AreApartOp>(op) || (isAssertion(op) && op->hasAttr(impliedAttr))) {
      need = ContextNeed::Looks;
      return WalkResult::advance();
    }
    if (auto release = dyn_cast<memref::DeallocOp>(op))
      op = release.getMemref().getDefiningOp();
    if (auto alloc = dyn_cast_or_null<AllocOp>(op); alloc && isOnStack(alloc))
      return WalkResult::advance();
    if (op && !isa<AllocOp, memref::DeallocOp, ContextOp, func::CallOp>(op) && !isAssertion(op) &&
        !variables.isOne(op))
      return WalkResult::advance();
    need = ContextNeed::All;
    return WalkResult::interrupt();
  });
  return need;
}

ContextNeed contextNeedOf(func::FuncOp function, const SymbolTable &symbols,
                          const Variables &variables) {
  return function->hasAttr(kernelAttr) ? bodyNeedOf(function, symbols, variables)
                                       : ContextNeed::All;
}

void addContext(func::FuncOp function, ContextNeed need) {
  auto type = LLVM::LLVMPointerType::get(function.getContext());
  if (function.isDeclaration())
    return addContextToDeclaration(function, type);
  (void)function.insertArgument(0, type, {}, function.getLoc());
  function->setAttr(needsContextAttr, UnitAttr::get(function.getContext()));
  if (need == ContextNeed::Looks)
    function->setAttr(lendsContextAttr, UnitAttr::get(function.getContext()));
  function.walk([&](ContextOp op) {
    OpBuilder builder(op);
    Value cast = UnrealizedConversionCastOp::create(builder, op.getLoc(), op.getType(),
                                                    function.getArgument(0))
                     .getResult(0);
    op.replaceAllUsesWith(cast);
    op.erase();
  });
}

Value contextOf(Operation *op) { return op->getParentOfType<func::FuncOp>().getArgument(0); }

void leaveIf(Value failed, Operation *op, llvm::function_ref<void(OpBuilder &)> onFailure) {
  auto function = op->getParentOfType<func::FuncOp>();
  Location loc = op->getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *failure = new Block();
  function.getBody().push_back(failure);
  OpBuilder builder = OpBuilder::atBlockEnd(failure);
  onFailure(builder);
  returnNothing(builder, loc, function);
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, loc, failed, failure, after);
}

void leaveIfFailed(OpBuilder &builder, Value status, Operation *op) {
  Location loc = status.getLoc();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  leaveIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero), op);
}

void leaveIfNull(OpBuilder &builder, Value memory, Operation *op) {
  Location loc = memory.getLoc();
  Value null = LLVM::ZeroOp::create(builder, loc, memory.getType());
  leaveIf(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, memory, null), op);
}

} // namespace plim::ir
