#include "ir/Conversion/ArgumentViews.h"
#include "ir/Conversion/FunctionContext.h"
#include "ir/Conversion/LowerAllocations.h"
#include "ir/Conversion/LowerHostCalls.h"
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

struct LowerRuntime : plim::ir::impl::PlimLowerRuntimeBase<LowerRuntime> {
  class Lowering;
  void runOnOperation() override;
};

/// Of one module.
class LowerRuntime::Lowering {
public:
  /// Counts in the statistics of the pass.
  Lowering(ModuleOp module, LowerRuntime &pass)
      : module(module), count(pass), variables(module), symbols(module), runtime(module, symbols),
        lowerAllocations(runtime, views, frames) {
    variables.eraseGlobals(symbols);
  }

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(workgroupCountAttr))
        if (auto need = contextNeedOf(function, symbols, variables); need != ContextNeed::None)
          addContext(function, need);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    llvm::DenseSet<StringAttr> called;
    module.walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
    for (func::FuncOp function : functions)
      if (function.isPublic() && !function->hasAttr(kernelAttr) &&
          !function->hasAttr(dispatchFunctionAttr) && !function->hasAttr(workgroupCountAttr) &&
          !called.contains(function.getSymNameAttr()))
        views.take(function);
    for (func::FuncOp function : recursiveFunctions(module))
      guardRecursion(function);
    for (func::FuncOp function : functions)
      lowerBody(function);
    for (func::FuncOp function : functions)
      if (function->hasAttr(workgroupCountAttr))
        findGrid(function);
    dropCountsElsewhere(functions);
    SmallVector<ScheduleOp> schedules;
    module.walk([&](ScheduleOp schedule) { schedules.push_back(schedule); });
    for (ScheduleOp schedule : schedules)
      lowerSchedule(schedule);
    SmallVector<DispatchOp> singles;
    module.walk([&](DispatchOp dispatch) { singles.push_back(dispatch); });
    for (DispatchOp dispatch : singles)
      lowerDispatch(dispatch);
    // Last, since it changes the signatures that dispatches refer to.
    // Counts refer to their dispatch function by a name that its own entry changes.
    (void)std::partition(functions.begin(), functions.end(), [](func::FuncOp function) {
      return function->hasAttr(workgroupCountAttr);
    });
    RuntimeEntries entries(module);
    for (func::FuncOp function : functions)
      entries.make(function);
    count.variants += entries.variants();
    for (auto external : llvm::make_early_inc_range(module.getOps<ExternalOp>()))
      external.erase();
  }

private:
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
  void guardRecursion(func::FuncOp function) {
    Operation *at = &function.front().front();
    OpBuilder builder(at);
    Location loc = function.getLoc();
    Value message = runtime.string(builder, loc,
                                   locationText(loc) + "the recursion of @" +
                                       function.getName().str() + " is too deep for the stack");
    Value status = LLVM::CallOp::create(builder, loc, runtime.recurse,
                                        ValueRange{function.getArgument(0), message})
                       .getResult();
    leaveIfFailed(builder, status, at);
    ++count.guards;
  }

  void lowerBody(func::FuncOp function) {
    lowerAllocations.lowerPlaced(function);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (isa<AllocOp, AreApartOp, memref::DeallocOp, func::CallOp, CallOp, PollOp>(op) ||
          isAssertion(op) || variables.isOne(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (isAssertion(op)) {
        lowerAssertion(op);
      } else if (isa<PollOp>(op)) {
        lowerPoll(op);
      } else if (isa<AreApartOp>(op)) {
        OpBuilder builder(op);
        op->getResult(0).replaceAllUsesWith(areApart(builder, op->getLoc(), contextOf(op)));
        op->erase();
      } else if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
        variables.lower(get);
      } else if (auto alloc = dyn_cast<AllocOp>(op)) {
        lowerAllocations.lower(alloc);
        ++count.allocations;
      } else if (auto release = dyn_cast<memref::DeallocOp>(op)) {
        lowerAllocations.lower(release);
      } else if (auto call = dyn_cast<CallOp>(op)) {
        lowerHostCall(call, symbols.lookup<ExternalOp>(call.getCallee()), runtime, frames);
        ++count.hostCalls;
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        lowerCall(call);
      }
    }
  }

  /// The callee latches its failure in the context that both share.
  static void lowerCall(func::CallOp call) {
    Value context = contextOf(call);
    call->insertOperands(0, context);
    Operation *next = call->getNextNode();
    OpBuilder builder(next);
    leaveIfFailed(builder, loadStatus(builder, call.getLoc(), context), next);
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
          LLVM::AllocaOp::create(frame, loc, LLVM::LLVMPointerType::get(module.getContext()),
                                 LLVM::LLVMArrayType::get(frame.getI64Type(), maxFailureNumbers),
                                 constant64(frame, loc, 1));
    }
    return array;
  }

  void lowerAssertion(Operation *op) {
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
    ++count.checks;
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
    ++count.polls;
  }

  /// The fields of a plim_launch, filled in where `builder` stands.
  SmallVector<Value, 3> launchOf(OpBuilder &builder, DispatchOp op, CallFrame &frame) {
    Location loc = op.getLoc();
    SmallVector<Value> bindings, scalars, extents;
    for (OpOperand *binding : op.getBindings()) {
      Value buffer = views.again(builder, loc, binding->get());
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
      scalars.push_back(toWord(builder, loc, views.again(builder, loc, scalar)));
    llvm::append_range(scalars, extents);
    Value descriptor = runtime.dispatchDescriptor(builder, loc, op.getFunction());
    auto function = op->getParentOfType<func::FuncOp>();
    Value bindingArray = frame.array(builder, function, bindings);
    Value scalarArray = frame.array(builder, function, scalars);
    ++count.dispatches;
    return {descriptor, bindingArray, scalarArray};
  }

  void lowerDispatch(DispatchOp op) {
    OpBuilder builder(op);
    SmallVector<Value> operands = {contextOf(op)};
    llvm::append_range(operands, launchOf(builder, op, frames.start(op)));
    Attribute scratch = op->getAttr(scratchOffsetAttr);
    LLVM::CallOp call = replaceByCall(builder, op, runtime.dispatch, operands);
    if (scratch)
      call->setAttr(scratchOffsetAttr, scratch);
  }

  void lowerSchedule(ScheduleOp op) {
    OpBuilder builder(op);
    SmallVector<Value> launches;
    CallFrame &frame = frames.start(op);
    for (auto dispatch : op.getBody().getOps<DispatchOp>())
      llvm::append_range(launches, launchOf(builder, dispatch, frame));
    Value table = runtime.scheduleTable(builder, op.getLoc(), op.getPredecessorSets());
    Value array = frame.array(builder, op->getParentOfType<func::FuncOp>(), launches);
    replaceByCall(builder, op, runtime.schedule, {contextOf(op), table, array});
    ++count.schedules;
  }

  /// Notes how many workgroups a dispatch has, if `count` always says the same.
  void findGrid(func::FuncOp count) {
    APInt grid;
    if (!matchPattern(count.front().getTerminator()->getOperand(0), m_ConstantInt(&grid)))
      return;
    auto name = count->getAttrOfType<FlatSymbolRefAttr>(workgroupCountAttr);
    symbols.lookup(name.getValue())
        ->setAttr(gridAttr, Builder(module.getContext()).getI64IntegerAttr(grid.getSExtValue()));
  }

  /// Which number of workgroups it is has been noted, if it is one.
  void dropCountsElsewhere(SmallVectorImpl<func::FuncOp> &functions) {
    llvm::erase_if(functions, [&](func::FuncOp function) {
      auto counted = function->getAttrOfType<FlatSymbolRefAttr>(workgroupCountAttr);
      if (!counted || !symbols.lookup<func::FuncOp>(counted.getValue()).isDeclaration())
        return false;
      function.erase();
      return true;
    });
  }

  /// Calls a symbol that returns a code; the host code ends where that is a failure.
  static LLVM::CallOp replaceByCall(OpBuilder &builder, Operation *op, LLVM::LLVMFuncOp symbol,
                                    ValueRange operands) {
    auto call = LLVM::CallOp::create(builder, op->getLoc(), symbol, operands);
    leaveIfFailed(builder, call.getResult(), op);
    op->erase();
    return call;
  }

  ModuleOp module;
  LowerRuntime &count;
  Variables variables;
  /// As they are before functions become private to their entries.
  SymbolTable symbols;
  RuntimeCalls runtime;
  ArgumentViews views;
  CallFrames frames;
  LowerAllocations lowerAllocations;
  /// Of an assertion at most.
  static constexpr unsigned maxFailureNumbers = 4;
  DenseMap<Operation *, Value> numbers; // by function
};

void LowerRuntime::runOnOperation() { Lowering(getOperation(), *this).run(); }

} // namespace
