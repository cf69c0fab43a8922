#include "ir/Conversion/RuntimeEntries.h"

#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// A function of the ABI, `plim.<kind>.<name>`, with pointers and words as arguments, in front of `function`.
LLVM::LLVMFuncOp declareEntry(func::FuncOp function, const Twine &name,
                              LLVM::LLVMFunctionType type) {
  OpBuilder builder(function);
  return LLVM::LLVMFuncOp::create(builder, function.getLoc(), name.str(), type);
}

LLVM::LLVMFuncOp makeEntryFunction(func::FuncOp function, const Twine &name,
                                   LLVM::LLVMFunctionType type) {
  LLVM::LLVMFuncOp entry = declareEntry(function, name, type);
  OpBuilder builder(function);
  entry.addEntryBlock(builder);
  return entry;
}

LLVM::LLVMFunctionType dispatchType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context), word = IntegerType::get(context, 64);
  return LLVM::LLVMFunctionType::get(IntegerType::get(context, 32),
                                     {pointer, pointer, pointer, word, word});
}

LLVM::LLVMFunctionType countType(MLIRContext *context) {
  return LLVM::LLVMFunctionType::get(IntegerType::get(context, 64),
                                     {LLVM::LLVMPointerType::get(context)});
}

} // namespace

RuntimeEntries::RuntimeEntries(ModuleOp module) : module(module) {
  module.walk([&](func::CallOp call) { calls[call.getCalleeAttr().getAttr()].push_back(call); });
}

void RuntimeEntries::make(func::FuncOp function) {
  if (function.isDeclaration()) {
    declareDispatch(function);
  } else if (function->hasAttr(dispatchFunctionAttr)) {
    makeDispatchEntry(function);
  } else if (function->hasAttr(workgroupCountAttr)) {
    makeCount(function);
  } else if (function.isPublic()) {
    makeFunctionEntry(function);
  } else {
    makePrivate(function);
  }
}

void RuntimeEntries::makeDispatchEntry(func::FuncOp function) {
  OpBuilder builder(module.getContext());
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), word = builder.getI64Type();
  LLVM::LLVMFuncOp entry = makeEntryFunction(function, dispatchPrefix + function.getName(),
                                             dispatchType(module.getContext()));
  builder.setInsertionPointToStart(&entry.getBody().front());
  Value context = entry.getArgument(0);
  SmallVector<Value> arguments = {context};
  unsigned bindings = 0, scalars = 0;
  // Context first, the range of workgroups last.
  for (Type type : function.getArgumentTypes().drop_front().drop_back(2)) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      Value base = loadAt(builder, loc, pointer, entry.getArgument(1), 8 * bindings++);
      arguments.push_back(makeMemref(builder, loc, memref, base, {}));
    } else {
      Value value = loadAt(builder, loc, word, entry.getArgument(2), 8 * scalars++);
      arguments.push_back(fromWord(builder, loc, type, value));
    }
  }
  for (unsigned i : {3, 4})
    arguments.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), entry.getArgument(i)));
  callFrom(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, loadStatus(builder, loc, context));
  barePointers(function);
  makePrivate(function);
}

void RuntimeEntries::declareDispatch(func::FuncOp function) {
  declareEntry(function, dispatchPrefix + function.getName(), dispatchType(module.getContext()));
  declareEntry(function, countPrefix + function.getName(), countType(module.getContext()));
  function.erase();
}

void RuntimeEntries::makeCount(func::FuncOp function) {
  OpBuilder builder(module.getContext());
  Location loc = function.getLoc();
  Type word = builder.getI64Type();
  StringRef name = function->getAttrOfType<FlatSymbolRefAttr>(workgroupCountAttr).getValue();
  LLVM::LLVMFuncOp entry =
      makeEntryFunction(function, countPrefix + name, countType(module.getContext()));
  builder.setInsertionPointToStart(&entry.getBody().front());
  SmallVector<Value> arguments;
  unsigned scalars = 0;
  for (Type type : function.getArgumentTypes()) {
    if (isa<MemRefType>(type)) {
      arguments.push_back(ub::PoisonOp::create(builder, loc, type));
      continue;
    }
    Value value = loadAt(builder, loc, word, entry.getArgument(0), 8 * scalars++);
    arguments.push_back(fromWord(builder, loc, type, value));
  }
  Value count = callFrom(builder, loc, function, arguments).getResult(0);
  LLVM::ReturnOp::create(builder, loc,
                         arith::IndexCastOp::create(builder, loc, word, count).getResult());
  makePrivate(function);
}

void RuntimeEntries::makeFunctionEntry(func::FuncOp function) {
  OpBuilder builder(module.getContext());
  Location loc = function.getLoc();
  std::string name = function.getName().str();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), word = builder.getI64Type();
  LLVM::LLVMFuncOp entry = makeEntryFunction(
      function, entryPrefix + name,
      LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer, pointer}));
  builder.setInsertionPointToStart(&entry.getBody().front());
  Value context = entry.getArgument(0), views = entry.getArgument(1),
        resultViews = entry.getArgument(2);
  if (function->hasAttr(takesViewsAttr)) {
    callFrom(builder, loc, function, {context, views, resultViews});
    LLVM::ReturnOp::create(builder, loc, loadStatus(builder, loc, context));
    makePrivate(function);
    return;
  }
  SmallVector<Value> arguments;
  bool hasContext = function->hasAttr(needsContextAttr);
  if (hasContext)
    arguments.push_back(context);
  auto types = function.getArgumentTypes().drop_front(hasContext);
  unsigned view = 0;
  for (size_t i = 0; i < types.size(); ++view) {
    auto memref = dyn_cast<MemRefType>(types[i]);
    if (!memref || !function->hasAttr(kernelAttr)) {
      arguments.push_back(unpackView(builder, loc, types[i++], views, view));
      continue;
    }
    const int32_t at = abi::viewBytes * int32_t(view);
    auto load = [&](int32_t field, int64_t position) {
      Value array = loadAt(builder, loc, pointer, views, at + field);
      return loadAt(builder, loc, word, array, int32_t(8 * position));
    };
    Value data = loadAt(builder, loc, pointer, views, at);
    // A kernel's buffer stands as a bare pointer followed by its dynamic extents and strides; which
    // those are was recorded when the arguments were bound.
    arguments.push_back(makeMemref(builder, loc, memref, data, {}));
    unsigned bare = i++ + hasContext;
    for (auto [name, field] : {std::pair(extentsAttr, abi::viewSizesOffset),
                               std::pair(stridesAttr, abi::viewStridesOffset)})
      if (auto positions = function.getArgAttrOfType<DenseI64ArrayAttr>(bare, name))
        for (int64_t position : positions.asArrayRef())
          arguments.push_back(
              arith::IndexCastOp::create(builder, loc, types[i++], load(field, position)));
  }
  func::FuncOp apart = makeApart(function);
  ValueRange results = apart ? callEither(builder, loc, function, apart, arguments, context)
                             : callFrom(builder, loc, function, arguments).getResults();
  for (auto [index, result] : llvm::enumerate(results))
    packView(builder, loc, result, resultViews, unsigned(index));
  LLVM::ReturnOp::create(builder, loc, loadStatus(builder, loc, context));
  if (function->hasAttr(kernelAttr)) {
    barePointers(function);
    if (apart)
      barePointers(apart, /*isApart=*/true);
    if (!function->hasAttr(lendsContextAttr)) {
      rename(function, (rawPrefix + name).str());
      return;
    }
    makePrivate(function);
    makeRaw(function, name);
  } else {
    makePrivate(function);
  }
}

void RuntimeEntries::makeRaw(func::FuncOp function, StringRef name) {
  OpBuilder builder(function);
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  constexpr StringLiteral symbol = "plim.no_call";
  auto context = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!context) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    // All zero, but for the status of its call: a word that is zero as well.
    Type words = LLVM::LLVMArrayType::get(builder.getI64Type(), abi::contextCallStatusOffset / 8);
    auto type = LLVM::LLVMStructType::getLiteral(module.getContext(), {words, pointer});
    static_assert(abi::contextCallStatusOffset + 8 == abi::contextBytes);
    context = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                     LLVM::Linkage::Internal, symbol, Attribute());
    builder.createBlock(&context.getInitializerRegion());
    Value value = LLVM::ZeroOp::create(builder, loc, type);
    Value itself = LLVM::AddressOfOp::create(builder, loc, context);
    value = LLVM::InsertValueOp::create(builder, loc, value, itself, ArrayRef<int64_t>{1});
    LLVM::ReturnOp::create(builder, loc, value);
  }
  auto type =
      builder.getFunctionType(function.getArgumentTypes().drop_front(), function.getResultTypes());
  auto raw = func::FuncOp::create(builder, loc, (rawPrefix + name).str(), type);
  builder.setInsertionPointToStart(raw.addEntryBlock());
  SmallVector<Value> arguments = {LLVM::AddressOfOp::create(builder, loc, context)};
  llvm::append_range(arguments, raw.getArguments());
  auto call = callFrom(builder, loc, function, arguments);
  func::ReturnOp::create(builder, loc, call.getResults());
}

func::FuncOp RuntimeEntries::makeApart(func::FuncOp function) {
  if (!function->hasAttr(kernelAttr) ||
      llvm::count_if(function.getArgumentTypes(), llvm::IsaPred<MemRefType>) < 2)
    return nullptr;
  func::FuncOp apart = function.clone();
  apart.setName((apartPrefix + function.getName()).str());
  apart.setPrivate();
  module.insert(std::next(function->getIterator()), apart);
  ++variantCount;
  return apart;
}

ValueRange RuntimeEntries::callEither(OpBuilder &builder, Location loc, func::FuncOp function,
                                      func::FuncOp apart, ValueRange arguments, Value context) {
  Value isApart = areApart(builder, loc, context);
  Block *before = builder.getInsertionBlock(), *yes = before->splitBlock(before->end());
  Block *no = yes->splitBlock(yes->end()), *after = no->splitBlock(no->end());
  cf::CondBranchOp::create(builder, loc, isApart, yes, no);
  for (auto [block, callee] : {std::pair(yes, apart), std::pair(no, function)}) {
    builder.setInsertionPointToEnd(block);
    auto call = callFrom(builder, loc, callee, arguments);
    cf::BranchOp::create(builder, loc, after, call.getResults());
  }
  for (Type type : function.getResultTypes())
    after->addArgument(type, loc);
  builder.setInsertionPointToEnd(after);
  return after->getArguments();
}

func::CallOp RuntimeEntries::callFrom(OpBuilder &builder, Location loc, func::FuncOp function,
                                      ValueRange arguments) {
  auto call = func::CallOp::create(builder, loc, function, arguments);
  calls[function.getSymNameAttr()].push_back(call);
  return call;
}

void RuntimeEntries::rename(func::FuncOp function, StringRef name) {
  SmallVector<func::CallOp> callers = std::move(calls[function.getSymNameAttr()]);
  for (func::CallOp call : callers)
    call.setCallee(name);
  function.setSymName(name);
  calls[function.getSymNameAttr()] = std::move(callers);
}

void RuntimeEntries::makePrivate(func::FuncOp function) {
  function.setPrivate();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, accessAttr);
  rename(function, ("plim.body." + function.getName()).str());
}

void RuntimeEntries::barePointers(func::FuncOp function, bool isApart) {
  Block &entry = function.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    unsigned index = argument.getArgNumber();
    argument.setType(pointer);
    Value placeholder =
        UnrealizedConversionCastOp::create(builder, argument.getLoc(), type, ValueRange())
            .getResult(0);
    argument.replaceAllUsesWith(placeholder);
    Value memref = makeMemref(builder, argument.getLoc(), type, argument, {});
    placeholder.replaceAllUsesWith(memref);
    placeholder.getDefiningOp()->erase();

    auto set = [&](StringRef name, Attribute value) { function.setArgAttr(index, name, value); };
    set(LLVM::LLVMDialect::getAlignAttrName(),
        builder.getI64IntegerAttr(elementBytes(type.getElementType())));
    set(LLVM::LLVMDialect::getNoFreeAttrName(), builder.getUnitAttr());
    if (auto bytes = function.getArgAttrOfType<IntegerAttr>(index, bytesAttr))
      if (bytes.getInt() > 0)
        set(LLVM::LLVMDialect::getDereferenceableAttrName(), bytes);
    // Bufferization keeps what a dispatch writes apart from all else.
    if (isApart || (function->hasAttr(dispatchFunctionAttr) && !function->hasAttr(mayAliasAttr)))
      set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    auto access = function.getArgAttrOfType<AccessAttr>(index, accessAttr);
    if (access && access.getValue() == Access::ReadOnly)
      set(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
    for (StringRef name : {StringRef(accessAttr), StringRef(extentsAttr), StringRef(stridesAttr),
                           StringRef(bytesAttr), StringRef(shapeAttr)})
      function.removeArgAttr(index, name);
  }
  function.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), function.getResultTypes()));
  // Calls of the function pass the pointer inside the memref.
  for (func::CallOp call : calls[function.getSymNameAttr()]) {
    builder.setInsertionPoint(call);
    for (OpOperand &operand : call->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) &&
          entry.getArgument(operand.getOperandNumber()).getType() == pointer)
        operand.set(pointerOf(builder, call.getLoc(), operand.get()));
  }
}
