#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"
#include "ir/Conversion/RuntimeEntries.h"
#include "ir/Plim/Locations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SCCIterator.h"

#include <algorithm>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMLOWERRUNTIME
#include "ir/Conversion/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// StatusCode::FailedPrecondition, the code of a failed assertion.
constexpr int32_t assertionCode = 9;

/// Which result of the call an allocation is, its type there, and the views of all results.
struct Result {
  int64_t index;
  MemRefType type;
  Value views;
};

struct LowerRuntime : plim::ir::impl::PlimLowerRuntimeBase<LowerRuntime> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    findVariables(module);
    symbols.emplace(module);
    RuntimeCalls runtime(module, *symbols);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(workgroupCountAttr))
        if (Need need = needOf(function); need != Need::None)
          addContext(function, need);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    module.walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
    for (func::FuncOp function : functions)
      if (function.isPublic() && !isKernel(function) && !isDispatch(function) &&
          !function->hasAttr(workgroupCountAttr) && !called.contains(function.getSymNameAttr()))
        takeViews(function);
    for (func::FuncOp function : recursiveFunctions(module))
      guardRecursion(runtime, function);
    for (func::FuncOp function : functions)
      lowerBody(runtime, function);
    for (func::FuncOp function : functions)
      if (function->hasAttr(workgroupCountAttr))
        findGrid(function);
    SmallVector<ScheduleOp> schedules;
    module.walk([&](ScheduleOp schedule) { schedules.push_back(schedule); });
    for (ScheduleOp schedule : schedules)
      lowerSchedule(runtime, schedule);
    SmallVector<DispatchOp> singles;
    module.walk([&](DispatchOp dispatch) { singles.push_back(dispatch); });
    for (DispatchOp dispatch : singles)
      lowerDispatch(runtime, dispatch);
    // Last, since it changes the signatures that dispatches refer to.
    // Counts refer to their dispatch function by a name that its own entry changes.
    (void)std::partition(functions.begin(), functions.end(), [](func::FuncOp function) {
      return function->hasAttr(workgroupCountAttr);
    });
    RuntimeEntries entries(module);
    for (func::FuncOp function : functions)
      entries.make(function);
    variants += entries.variants();
    for (auto external : llvm::make_early_inc_range(module.getOps<ExternalOp>()))
      external.erase();
  }

  static bool isKernel(func::FuncOp function) { return function->hasAttr(kernelAttr); }
  static bool isDispatch(func::FuncOp function) { return function->hasAttr(dispatchFunctionAttr); }

  /// Variables lie where the context says.
  void findVariables(ModuleOp module) {
    auto data = module->getAttrOfType<ArrayAttr>(dataAttr);
    SymbolTable all(module);
    int32_t index = 0;
    for (Attribute attribute : data ? data.getValue() : ArrayRef<Attribute>()) {
      auto entry = cast<DictionaryAttr>(attribute);
      if (entry.getAs<StringAttr>("kind").getValue() != "variable")
        continue;
      std::string symbol = (dataPrefix + entry.getAs<StringAttr>("name").getValue()).str();
      variables[symbol] = index++;
      all.erase(all.lookup(symbol));
    }
  }

  bool isVariable(Operation *op) const {
    auto get = dyn_cast_or_null<memref::GetGlobalOp>(op);
    return get && variables.contains(get.getName());
  }

  /// What a function wants of the context. `Looks`: only to ask whether it has been stopped and to say why
  /// it ends; without a call it does without both.
  enum class Need { None, Looks, All };

  /// Host and dispatch functions always have it: their entries have it at hand. A kernel's raw pointer
  /// shows it only if something uses it.
  Need needOf(func::FuncOp function) const {
    return isKernel(function) ? needOfBody(function) : Need::All;
  }

  Need needOfBody(func::FuncOp function) const {
    auto need = Need::None;
    function.walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<DispatchOp>(op)) {
        auto body = symbols->lookup<func::FuncOp>(dispatch.getFunction());
        need = std::max(Need::Looks, needOfBody(body));
        return need == Need::All ? WalkResult::interrupt() : WalkResult::advance();
      }
      if (isa<PollOp, AreApartOp>(op) || (isAssertion(op) && op->hasAttr(impliedAttr))) {
        need = Need::Looks;
        return WalkResult::advance();
      }
      if (auto release = dyn_cast<memref::DeallocOp>(op))
        op = release.getMemref().getDefiningOp();
      if (auto alloc = dyn_cast_or_null<AllocOp>(op); alloc && isOnStack(alloc))
        return WalkResult::advance();
      if (op && !isa<AllocOp, memref::DeallocOp, ContextOp, func::CallOp>(op) && !isAssertion(op) &&
          !isVariable(op))
        return WalkResult::advance();
      need = Need::All;
      return WalkResult::interrupt();
    });
    return need;
  }

  static void addContext(func::FuncOp function, Need need) {
    auto type = LLVM::LLVMPointerType::get(function.getContext());
    (void)function.insertArgument(0, type, {}, function.getLoc());
    function->setAttr(needsContextAttr, UnitAttr::get(function.getContext()));
    if (need == Need::Looks)
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

  /// Arguments come from their views, and results go there. (By value, each would live from one end of the function to
  /// the other, in a frame with a place for each, and LLVM takes the square of their number for it.)
  void takeViews(func::FuncOp function) {
    Location loc = function.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Block &entry = function.front();
    const unsigned count = entry.getNumArguments();
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    Value views = entry.addArgument(pointer, loc), resultViews = entry.addArgument(pointer, loc);
    for (unsigned i = 1; i < count; ++i) {
      Value value = unpackView(builder, loc, entry.getArgument(i).getType(), views, i - 1);
      entry.getArgument(i).replaceAllUsesWith(value);
      unpacked[value] = {views, i - 1};
    }
    entry.eraseArguments(1, count - 1);
    function.setAllArgAttrs(ArrayRef<DictionaryAttr>());
    function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
    auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
    for (func::ReturnOp op : returns) {
      builder.setInsertionPoint(op);
      for (auto [index, value] : llvm::enumerate(op.getOperands())) {
        AllocOp alloc = returns.size() == 1 ? allocationOf(value) : AllocOp();
        if (!alloc || isOnStack(alloc) || alloc.isPlanned() ||
            !results
                 .try_emplace(alloc, int64_t(index), cast<MemRefType>(value.getType()), resultViews)
                 .second)
          packView(builder, op.getLoc(), value, resultViews, unsigned(index));
      }
      op->setOperands({});
    }
    function.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
    function->setAttr(takesViewsAttr, builder.getUnitAttr());
  }

  /// The context of a function that has one.
  static Value contextOf(Operation *op) {
    return op->getParentOfType<func::FuncOp>().getArgument(0);
  }

  /// Returns from the enclosing function at the end of `block`. Its results are looked at only where a raw
  /// pointer was called: zero.
  static void returnNothing(OpBuilder &builder, Location loc, func::FuncOp function) {
    SmallVector<Value> results;
    for (Type type : function.getResultTypes())
      if (isKernel(function) && type.isIntOrIndexOrFloat())
        results.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
      else
        results.push_back(ub::PoisonOp::create(builder, loc, type));
    func::ReturnOp::create(builder, loc, results);
  }

  /// Leaves the function before `op` if `failed` holds; `onFailure` fills the block in between.
  static void leaveIf(Value failed, Operation *op,
                      llvm::function_ref<void(OpBuilder &)> onFailure) {
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

  /// Those that may come back to themselves.
  static SmallVector<func::FuncOp> recursiveFunctions(ModuleOp module) {
    SmallVector<func::FuncOp> functions;
    const CallGraph graph(module);
    for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
      if (component.hasCycle())
        for (const CallGraphNode *node : *component)
          functions.push_back(cast<func::FuncOp>(node->getCallableRegion()->getParentOp()));
    return functions;
  }

  /// Leaves a function that may come back to itself when the stack has no room for another turn.
  void guardRecursion(RuntimeCalls &runtime, func::FuncOp function) {
    Operation *at = &function.front().front();
    OpBuilder builder(at);
    Location loc = function.getLoc();
    Value message = runtime.string(builder, loc,
                                   locationText(loc) + "the recursion of @" +
                                       function.getName().str() + " is too deep for the stack");
    Value status = LLVM::CallOp::create(builder, loc, runtime.recurse,
                                        ValueRange{function.getArgument(0), message})
                       .getResult();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero);
    leaveIf(failed, at, [](OpBuilder &) {});
    ++guards;
  }

  /// The allocation whose memory a result has: as a whole, by another shape of known extents perhaps.
  static AllocOp allocationOf(Value result) {
    if (auto shape = result.getDefiningOp<memref::ReinterpretCastOp>()) {
      auto to = shape.getType(), from = cast<MemRefType>(shape.getSource().getType());
      if (to.hasStaticShape() && from.hasStaticShape() && to.getLayout().isIdentity() &&
          from.getLayout().isIdentity() && to.getNumElements() == from.getNumElements())
        return shape.getSource().getDefiningOp<AllocOp>();
    }
    return result.getDefiningOp<AllocOp>();
  }

  void lowerBody(RuntimeCalls &runtime, func::FuncOp function) {
    SmallVector<AllocOp> placed;
    function.walk([&](AllocOp alloc) {
      if (isOnStack(alloc) || alloc.isPlanned())
        placed.push_back(alloc);
    });
    Bases bases;
    for (AllocOp alloc : placed)
      lowerPlaced(runtime, alloc, bases);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<AllocOp, AreApartOp, memref::DeallocOp, func::CallOp, CallOp, PollOp>(op) ||
          isAssertion(op) || isVariable(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      if (isAssertion(op)) {
        lowerAssertion(runtime, op);
      } else if (isa<PollOp>(op)) {
        lowerPoll(op);
      } else if (isa<AreApartOp>(op)) {
        op->getResult(0).replaceAllUsesWith(areApart(builder, loc, contextOf(op)));
        op->erase();
      } else if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
        Value context = contextOf(op);
        Value bases = loadAt(builder, loc, context.getType(), context, abi::contextVariablesOffset);
        Value base =
            loadAt(builder, loc, bases.getType(), bases, 8 * variables.lookup(get.getName()));
        get.replaceAllUsesWith(makeMemref(builder, loc, get.getType(), base, {}));
        op->erase();
      } else if (auto alloc = dyn_cast<AllocOp>(op)) {
        lowerAllocation(runtime, builder, alloc);
      } else if (auto release = dyn_cast<memref::DeallocOp>(op)) {
        Value pointer = pointerOf(builder, loc, release.getMemref());
        LLVM::CallOp::create(builder, loc, runtime.release, ValueRange{contextOf(op), pointer});
        op->erase();
      } else if (auto call = dyn_cast<CallOp>(op)) {
        lowerHostCall(runtime, call);
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        // The callee latched its failure in the context that both share.
        Value context = contextOf(op);
        call->insertOperands(0, context);
        builder.setInsertionPointAfter(op);
        Value status = loadStatus(builder, loc, context);
        Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
        auto failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero);
        leaveIf(failed, failed->getNextNode(), [](OpBuilder &) {});
      }
    }
  }

  /// Room in the frame for the numbers of a failure: one array for a function, as only one of them happens.
  Value failureNumbers(Operation *at, size_t count) {
    assert(count <= maxFailureNumbers && "more numbers than there is room for");
    auto function = at->getParentOfType<func::FuncOp>();
    Value &array = numbers[function];
    if (!array) {
      OpBuilder frame = OpBuilder::atBlockBegin(&function.front());
      Location loc = function.getLoc();
      array =
          LLVM::AllocaOp::create(frame, loc, LLVM::LLVMPointerType::get(&getContext()),
                                 LLVM::LLVMArrayType::get(frame.getI64Type(), maxFailureNumbers),
                                 constant64(frame, loc, 1));
    }
    return array;
  }

  void lowerAssertion(RuntimeCalls &runtime, Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value one = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    Value failed = arith::XOrIOp::create(builder, loc, op->getOperand(0), one);
    Value context = contextOf(op);
    leaveIf(failed, op, [&](OpBuilder &failure) {
      if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
        Value message = runtime.string(failure, loc, assertion.getMsg());
        Value code =
            arith::ConstantOp::create(failure, loc, failure.getI32IntegerAttr(assertionCode));
        LLVM::CallOp::create(failure, loc, runtime.fail, ValueRange{context, code, message});
        return;
      }
      auto requirement = cast<RequireOp>(op);
      Value message = runtime.string(failure, loc, requirement.getMessage());
      Type word = failure.getI64Type();
      SmallVector<Value> values;
      for (Value value : requirement.getValues())
        values.push_back(arith::IndexCastOp::create(failure, loc, word, value));
      Value array = failureNumbers(op, values.size());
      for (auto [i, value] : llvm::enumerate(values))
        storeAt(failure, loc, value, array, int32_t(8 * i));
      LLVM::CallOp::create(
          failure, loc, runtime.requireFailed,
          ValueRange{context, message, array, constant64(failure, loc, int64_t(values.size()))});
    });
    op->erase();
    ++checks;
  }

  /// The status of the call becomes that of the context, so that callers leave too.
  void lowerPoll(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value context = contextOf(op);
    Value status = loadCallStatus(builder, loc, context);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero);
    leaveIf(failed, op, [&](OpBuilder &failure) {
      storeAt(failure, loc, status, context, abi::contextStatusOffset);
    });
    op->erase();
    ++polls;
  }

  /// For a call that is made at `at`.
  CallFrame &startCall(Operation *at) {
    CallFrame &frame = frames[at->getParentOfType<func::FuncOp>()];
    frame.reset();
    return frame;
  }

  /// The fields of a plim_view of a value. Without strides it is known to be dense.
  static SmallVector<Value, 3> viewOf(OpBuilder &builder, Operation *at, CallFrame &frame,
                                      Value value, bool hasStrides) {
    Location loc = at->getLoc();
    auto function = at->getParentOfType<func::FuncOp>();
    Type word = builder.getI64Type();
    Value null = LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(at->getContext()));
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type) {
      Value slot = frame.take(builder, function, 1);
      storeScalar(builder, loc, value, slot);
      return {slot, null, null};
    }
    SmallVector<Value> sizes, strides;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      Value position = arith::ConstantIndexOp::create(builder, loc, i);
      Value size = memref::DimOp::create(builder, loc, value, position);
      sizes.push_back(arith::IndexCastOp::create(builder, loc, word, size));
    }
    if (hasStrides) {
      auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, value);
      for (Value stride : metadata.getStrides())
        strides.push_back(arith::IndexCastOp::create(builder, loc, word, stride));
    }
    return {pointerOf(builder, loc, value), frame.array(builder, function, sizes),
            frame.array(builder, function, strides)};
  }

  void lowerHostCall(RuntimeCalls &runtime, CallOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto external = symbols->lookup<ExternalOp>(op.getCallee());
    FunctionType type = external.getFunctionType();
    auto function = op->getParentOfType<func::FuncOp>();
    CallFrame &frame = startCall(op);
    SmallVector<SmallVector<Value, 3>> views;
    for (auto [i, argument] : llvm::enumerate(op.getArguments().drop_front())) {
      auto declared =
          i < type.getNumInputs() ? dyn_cast<MemRefType>(type.getInput(unsigned(i))) : MemRefType();
      views.push_back(
          viewOf(builder, op, frame, argument, declared && !declared.getLayout().isIdentity()));
    }
    SmallVector<Value> arguments, results;
    // Scalars, and what the callee makes: the position of each, and where it, or its extents, will be.
    SmallVector<std::pair<unsigned, Value>> slots;
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      llvm::append_range(arguments, views[i]);
    auto destination = op.getDestinations().begin();
    for (auto [i, result] : llvm::enumerate(type.getResults())) {
      auto tensor = dyn_cast<RankedTensorType>(result);
      if (tensor && *destination != CallOp::madeByCallee) {
        llvm::append_range(results, views[size_t(*destination++ - 1)]);
        continue;
      }
      Value null = LLVM::ZeroOp::create(builder, loc, pointer);
      if (tensor) {
        ++destination;
        SmallVector<Value> sizes;
        for (int64_t extent : tensor.getShape())
          sizes.push_back(
              constant64(builder, loc, ShapedType::isDynamic(extent) ? abi::openExtent : extent));
        Value array = frame.array(builder, function, sizes);
        slots.emplace_back(i, array);
        results.append({null, array, null});
        continue;
      }
      Value slot = frame.take(builder, function, 1);
      slots.emplace_back(i, slot);
      storeAt(builder, loc, constant64(builder, loc, 0), slot, 0);
      results.append({slot, null, null});
    }
    Value location = runtime.string(builder, loc, locationText(loc));
    Value argumentArray = frame.array(builder, function, arguments);
    Value resultArray = frame.array(builder, function, results);
    Value callee = runtime.external(builder, loc, op.getCallee());
    Value status = LLVM::CallOp::create(
                       builder, loc, external.getDevice() ? runtime.launch : runtime.call,
                       ValueRange{contextOf(op), callee, location, argumentArray, resultArray})
                       .getResult();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero);
    leaveIf(failed, op, [](OpBuilder &) {});
    builder.setInsertionPoint(op);
    for (auto [result, kept] : llvm::zip(op.getResults(), slots)) {
      auto [position, slot] = kept;
      auto memref = dyn_cast<MemRefType>(result.getType());
      if (!memref) {
        result.replaceAllUsesWith(loadScalar(builder, loc, result.getType(), slot));
        continue;
      }
      SmallVector<Value> sizes;
      for (auto [d, extent] : llvm::enumerate(memref.getShape()))
        if (ShapedType::isDynamic(extent))
          sizes.push_back(loadAt(builder, loc, builder.getI64Type(), slot, int32_t(8 * d)));
      Value data = loadAt(builder, loc, pointer, resultArray, abi::viewBytes * int32_t(position));
      result.replaceAllUsesWith(makeMemref(builder, loc, memref, data, sizes));
    }
    // What plim.context became.
    Operation *context = op.getArguments()[0].getDefiningOp();
    op.erase();
    if (context->use_empty())
      context->erase();
    ++hostCalls;
  }

  static bool isOnStack(AllocOp alloc) { return alloc.getScope() == "global.stack"; }

  /// Where the planned memories of a function begin, by pool; "" is the slab, or in a dispatch
  /// function the worker's scratch.
  using Bases = llvm::StringMap<Value>;

  /// The argument, a part of one, or an extent of these, out of its view once more, where `builder` stands; anything else as it is.
  /// So no argument has to be kept for the calls that need it.
  Value fromViews(OpBuilder &builder, Location loc, Value value) {
    if (auto argument = unpacked.find(value); argument != unpacked.end())
      return unpackView(builder, loc, value.getType(), argument->second.first,
                        argument->second.second);
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<memref::ReinterpretCastOp, memref::CastOp, memref::DimOp>(op))
      return value;
    Value whole = op->getOperand(0), again = fromViews(builder, loc, whole);
    if (whole == again)
      return value;
    IRMapping mapping;
    mapping.map(whole, again);
    return builder.clone(*op, mapping)->getResult(0);
  }

  /// The extents of an allocation, i64.
  SmallVector<Value> extentsOf(OpBuilder &builder, AllocOp op, bool onlyDynamic) {
    SmallVector<Value> sizes;
    auto dynamic = op.getDynamicSizes().begin();
    for (int64_t extent : op.getType().getShape())
      if (ShapedType::isDynamic(extent))
        sizes.push_back(arith::IndexCastOp::create(builder, op.getLoc(), builder.getI64Type(),
                                                   fromViews(builder, op.getLoc(), *dynamic++)));
      else if (!onlyDynamic)
        sizes.push_back(constant64(builder, op.getLoc(), extent));
    return sizes;
  }

  void lowerPlaced(RuntimeCalls &runtime, AllocOp op, Bases &bases) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value memory;
    if (isOnStack(op)) {
      memory = frameMemory(op);
      // With the marks of their lives LLVM gives allocations that do not overlap the same memory.
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (isa<memref::DeallocOp>(user)) {
          LLVM::LifetimeStartOp::create(builder, loc, memory);
          OpBuilder atEnd(user);
          LLVM::LifetimeEndOp::create(atEnd, user->getLoc(), memory);
          user->erase();
        }
    } else {
      auto function = op->getParentOfType<func::FuncOp>();
      StringRef pool = Scope::parse(op.getScope())->pool;
      Value &base = bases[pool];
      if (!base)
        base = isDispatch(function) ? scratchOf(runtime, function)
               : pool.empty()       ? slabOf(function)
                                    : poolOf(function, pool);
      builder.setInsertionPoint(op); // taking scratch has split the block
      memory =
          op.getSlot() ? placeOfCall(runtime, op, base) : placeInMemory(builder, op, pool, base);
      builder.setInsertionPoint(op);
    }
    SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/true);
    op.replaceAllUsesWith(
        makeMemref(builder, loc, cast<MemRefType>(op.getResult().getType()), memory, sizes));
    op.erase();
  }

  /// At its offset, and marked for plim-annotate-aliases. An offset of zero is folded, so the base
  /// stands for all at it.
  static Value placeInMemory(OpBuilder &builder, AllocOp op, StringRef pool, Value base) {
    int64_t begin = *op.getOffset(), end = begin + int64_t(*op.getBytes());
    auto address = LLVM::GEPOp::create(builder, op.getLoc(), base.getType(), builder.getI8Type(),
                                       base, constant64(builder, op.getLoc(), begin),
                                       LLVM::GEPNoWrapFlags::inbounds);
    Operation *marked = begin == 0 ? base.getDefiningOp() : address;
    if (auto before = marked->getAttrOfType<DictionaryAttr>(placeAttr))
      end = std::max(end, before.getAs<DenseI64ArrayAttr>("bytes")[1]);
    marked->setAttr(placeAttr,
                    builder.getDictionaryAttr(
                        {builder.getNamedAttr("bytes", builder.getDenseI64ArrayAttr({begin, end})),
                         builder.getNamedAttr("memory", builder.getStringAttr(pool))}));
    return address;
  }

  /// Where the call's plan has it; if it has no place there, memory of the allocator until the call
  /// ends, or a failure that says why there is none.
  Value placeOfCall(RuntimeCalls &runtime, AllocOp op, Value base) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value offsets = loadAt(builder, loc, base.getType(), contextOf(op), abi::contextOffsetsOffset);
    Value offset = loadAt(builder, loc, builder.getI64Type(), offsets, int32_t(8 * *op.getSlot()));
    SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/false);
    Value isMissing = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, offset,
                                           constant64(builder, loc, 0));
    Value planned = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                        offset, LLVM::GEPNoWrapFlags::inbounds);
    Block *before = op->getBlock(), *after = before->splitBlock(op), *otherwise = new Block();
    otherwise->insertBefore(after);
    Value memory = after->addArgument(base.getType(), loc);
    builder.setInsertionPointToEnd(before);
    cf::CondBranchOp::create(builder, loc, isMissing, otherwise, ValueRange(), after,
                             ValueRange(planned));
    builder.setInsertionPointToEnd(otherwise);
    Value allocated = allocate(runtime, builder, op, sizes);
    Value null = LLVM::ZeroOp::create(builder, loc, allocated.getType());
    Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, allocated, null);
    auto join = cf::BranchOp::create(builder, loc, after, ValueRange(allocated));
    leaveIf(failed, join, [](OpBuilder &) {});
    return memory;
  }

  /// Calls the allocator for `op`, where `builder` stands.
  Value allocate(RuntimeCalls &runtime, OpBuilder &builder, AllocOp op, ValueRange sizes) {
    Location loc = op.getLoc();
    SmallVector<Value> operands = {contextOf(op)}, extents(sizes);
    auto result = results.find(op);
    if (result != results.end()) {
      operands.push_back(constant64(builder, loc, result->second.index));
      // As the caller knows it.
      if (result->second.type != op.getType()) {
        extents.clear();
        for (int64_t extent : result->second.type.getShape())
          extents.push_back(constant64(builder, loc, extent));
      }
    }
    Value array = startCall(op).array(builder, op->getParentOfType<func::FuncOp>(), extents);
    operands.append({constant64(builder, loc, extents.size()), array,
                     constant64(builder, loc, elementBytes(op.getType().getElementType()))});
    return LLVM::CallOp::create(builder, loc,
                                result != results.end() ? runtime.allocateResult : runtime.allocate,
                                operands)
        .getResult();
  }

  /// Memory in the frame of the function; loops do not make it grow.
  Value frameMemory(AllocOp op) {
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder frame = OpBuilder::atBlockBegin(&function.front());
    int64_t bytes = *op.getBytes();
    return LLVM::AllocaOp::create(frame, op.getLoc(), LLVM::LLVMPointerType::get(&getContext()),
                                  frame.getI8Type(),
                                  constant64(frame, op.getLoc(), std::max<int64_t>(bytes, 1)),
                                  unsigned(op.getFrameAlignment()));
  }

  /// Rounded up to the alignment that the plan of the function needs.
  static Value alignBase(OpBuilder &builder, func::FuncOp function, Value base) {
    auto alignment = function->getAttrOfType<IntegerAttr>(workspaceAlignmentAttr);
    if (!alignment || alignment.getInt() <= abi::bufferAlignment)
      return base;
    Location loc = function.getLoc();
    Type word = builder.getI64Type();
    Value address = LLVM::PtrToIntOp::create(builder, loc, word, base);
    Value negative = LLVM::SubOp::create(builder, loc, constant64(builder, loc, 0), address);
    Value padding = LLVM::AndOp::create(builder, loc, negative,
                                        constant64(builder, loc, alignment.getInt() - 1));
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, padding);
  }

  Value slabOf(func::FuncOp function) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    Value base = loadAt(builder, function.getLoc(), LLVM::LLVMPointerType::get(&getContext()),
                        function.getArgument(0), abi::contextWorkspaceOffset);
    return alignBase(builder, function, base);
  }

  Value poolOf(func::FuncOp function, StringRef name) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto pools = getOperation()->getAttrOfType<ArrayAttr>(poolsAttr).getAsValueRange<StringAttr>();
    auto index = std::distance(pools.begin(), llvm::find(pools, name));
    Value array = loadAt(builder, function.getLoc(), pointer, function.getArgument(0),
                         abi::contextPoolsOffset);
    return loadAt(builder, function.getLoc(), pointer, array, int32_t(8 * index));
  }

  Value scratchOf(RuntimeCalls &runtime, func::FuncOp function) {
    // Memory in the frame is taken before: in a block behind it would be no part of the frame's size.
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    for (auto memory : function.front().getOps<LLVM::AllocaOp>())
      builder.setInsertionPointAfter(memory);
    Location loc = function.getLoc();
    int64_t bytes = function->getAttrOfType<IntegerAttr>(workspaceBytesAttr).getInt();
    Value memory =
        LLVM::CallOp::create(builder, loc, runtime.scratch,
                             ValueRange{function.getArgument(0), constant64(builder, loc, bytes)})
            .getResult();
    Value null = LLVM::ZeroOp::create(builder, loc, memory.getType());
    auto failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, memory, null);
    Operation *next = failed->getNextNode();
    leaveIf(failed, next, [](OpBuilder &) {});
    builder.setInsertionPoint(next);
    return alignBase(builder, function, memory);
  }

  /// What has no place of its own comes from the allocator.
  void lowerAllocation(RuntimeCalls &runtime, OpBuilder &builder, AllocOp op) {
    Location loc = op.getLoc();
    ++allocations;
    auto type = cast<MemRefType>(op.getResult().getType());
    SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/false);
    Value memory = allocate(runtime, builder, op, sizes);
    Value null = LLVM::ZeroOp::create(builder, loc, memory.getType());
    Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, memory, null);
    leaveIf(failed, op, [](OpBuilder &) {});
    OpBuilder after(op);
    SmallVector<Value> dynamicSizes;
    for (auto [extent, size] : llvm::zip(type.getShape(), sizes))
      if (ShapedType::isDynamic(extent))
        dynamicSizes.push_back(size);
    Value buffer = makeMemref(after, loc, type, memory, dynamicSizes);
    if (auto result = results.find(op); result != results.end()) {
      auto [index, asResult, views] = result->second;
      packView(after, loc,
               asResult == type ? buffer : makeMemref(after, loc, asResult, memory, dynamicSizes),
               views, unsigned(index));
      results.erase(result);
    }
    op.replaceAllUsesWith(buffer);
    op.erase();
  }

  /// The fields of a plim_launch, filled in where `builder` stands.
  SmallVector<Value, 3> launchOf(RuntimeCalls &runtime, OpBuilder &builder, DispatchOp op,
                                 CallFrame &frame) {
    Location loc = op.getLoc();
    SmallVector<Value> bindings, scalars, extents;
    for (OpOperand *binding : op.getBindings()) {
      Value buffer = fromViews(builder, loc, binding->get());
      bindings.push_back(pointerOf(builder, loc, buffer));
      auto type = cast<MemRefType>(buffer.getType());
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (type.isDynamicDim(i)) {
          Value position = arith::ConstantIndexOp::create(builder, loc, i);
          Value size = memref::DimOp::create(builder, loc, buffer, position);
          extents.push_back(toWord(builder, loc, size));
        }
    }
    for (Value scalar : op.getScalars())
      scalars.push_back(toWord(builder, loc, fromViews(builder, loc, scalar)));
    llvm::append_range(scalars, extents);
    Value descriptor = runtime.dispatchDescriptor(builder, loc, op.getFunction());
    auto function = op->getParentOfType<func::FuncOp>();
    Value bindingArray = frame.array(builder, function, bindings);
    Value scalarArray = frame.array(builder, function, scalars);
    ++dispatches;
    return {descriptor, bindingArray, scalarArray};
  }

  void lowerDispatch(RuntimeCalls &runtime, DispatchOp op) {
    OpBuilder builder(op);
    SmallVector<Value> operands = {contextOf(op)};
    llvm::append_range(operands, launchOf(runtime, builder, op, startCall(op)));
    Attribute scratch = op->getAttr(scratchOffsetAttr);
    LLVM::CallOp call = replaceByCall(builder, op, runtime.dispatch, operands);
    if (scratch)
      call->setAttr(scratchOffsetAttr, scratch);
  }

  void lowerSchedule(RuntimeCalls &runtime, ScheduleOp op) {
    OpBuilder builder(op);
    SmallVector<Value> launches;
    CallFrame &frame = startCall(op);
    for (auto dispatch : op.getBody().getOps<DispatchOp>())
      llvm::append_range(launches, launchOf(runtime, builder, dispatch, frame));
    Value table = runtime.scheduleTable(builder, op.getLoc(), op.getPredecessorSets());
    Value array = frame.array(builder, op->getParentOfType<func::FuncOp>(), launches);
    replaceByCall(builder, op, runtime.schedule, {contextOf(op), table, array});
    ++schedules;
  }

  /// Notes how many workgroups a dispatch has, if `count` always says the same.
  void findGrid(func::FuncOp count) {
    APInt grid;
    if (!matchPattern(count.front().getTerminator()->getOperand(0), m_ConstantInt(&grid)))
      return;
    auto name = count->getAttrOfType<FlatSymbolRefAttr>(workgroupCountAttr);
    symbols->lookup(name.getValue())
        ->setAttr(gridAttr, Builder(&getContext()).getI64IntegerAttr(grid.getSExtValue()));
  }

  /// Calls a symbol that returns a code; the host code ends where that is a failure.
  static LLVM::CallOp replaceByCall(OpBuilder &builder, Operation *op, LLVM::LLVMFuncOp symbol,
                                    ValueRange operands) {
    Location loc = op->getLoc();
    auto call = LLVM::CallOp::create(builder, loc, symbol, operands);
    Value status = call.getResult();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value failed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, status, zero);
    leaveIf(failed, op, [](OpBuilder &) {});
    op->erase();
    return call;
  }

  /// As it was before functions became private to their entries.
  std::optional<SymbolTable> symbols;
  /// The position of each variable, by its symbol.
  llvm::StringMap<int32_t> variables;
  /// The functions that others call.
  llvm::DenseSet<StringAttr> called;
  /// The allocations that are results of calls.
  DenseMap<Operation *, Result> results;
  /// What came out of views: which views, and the position there.
  DenseMap<Value, std::pair<Value, unsigned>> unpacked;
  DenseMap<Operation *, CallFrame> frames; // by function
  /// Of an assertion at most.
  static constexpr unsigned maxFailureNumbers = 4;
  DenseMap<Operation *, Value> numbers; // by function
};

} // namespace
