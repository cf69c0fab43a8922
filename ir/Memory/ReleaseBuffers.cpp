#include "ir/Cleanup/Cleanup.h"
#include "ir/Memory/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMRELEASEBUFFERS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

struct ReleaseBuffers : plim::ir::impl::PlimReleaseBuffersBase<ReleaseBuffers> {
  void getDependentDialects(DialectRegistry &registry) const override {
    PlimReleaseBuffersBase::getDependentDialects(registry);
    lowering().getDependentDialects(registry);
  }

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr))
        continue;
      fillDonations(function);
      separateResults(function);
      copyDonations(function);
      if (failed(bufferization::deallocateBuffersOwnershipBased(function, {}, symbols)))
        return signalPassFailure();
    }
    OpPassManager manager = lowering();
    if (failed(runPipeline(manager, getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      returnDonations(function);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernelAttr))
        function.walk([&](memref::DeallocOp) { ++released; });
  }

  /// The donated arguments of a function, by the result that takes their memory.
  static llvm::MapVector<unsigned, BlockArgument> donationsOf(func::FuncOp function) {
    llvm::MapVector<unsigned, BlockArgument> donations;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto result = function.getArgAttrOfType<IntegerAttr>(i, donateAttr))
        donations[unsigned(result.getInt())] = function.getArgument(i);
    return donations;
  }

  /// Are the sizes of the allocation those of the argument, whatever the call? (That the result has them is
  /// checked when the function ends, too late for what writes before.)
  static bool hasExtentsOf(Operation *alloc, Value argument) {
    auto type = cast<MemRefType>(argument.getType());
    auto size = alloc->operand_begin();
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d))
        continue;
      auto dim = (*size++).getDefiningOp<memref::DimOp>();
      if (!dim || dim.getSource() != argument || dim.getConstantIndex() != d)
        return false;
    }
    return true;
  }

  /// A result that gets its memory when nothing needs what the donated argument held any more is made in
  /// that. (What overwrites the argument element by element bufferization has done in place.)
  void fillDonations(func::FuncOp function) {
    for (auto [result, argument] : donationsOf(function)) {
      auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
      Operation *alloc =
          returns.size() == 1 ? returns[0].getOperand(result).getDefiningOp() : nullptr;
      if (!isa_and_nonnull<memref::AllocOp>(alloc) || alloc->getBlock() != &function.front() ||
          alloc->getResult(0).getType() != argument.getType() || !hasExtentsOf(alloc, argument))
        continue;
      const BufferViewFlowAnalysis views(function);
      auto forEachUser = [&](Value buffer, llvm::function_ref<void(Operation *)> visit) {
        for (Value alias : views.resolve(buffer))
          for (Operation *user : alias.getUsers())
            if (!isa<memref::DimOp>(user))
              visit(function.front().findAncestorOpInBlock(*user));
      };
      Operation *first = returns[0];
      forEachUser(alloc->getResult(0), [&](Operation *user) {
        if (user->isBeforeInBlock(first))
          first = user;
      });
      bool isFree = true;
      forEachUser(argument, [&](Operation *user) { isFree &= user->isBeforeInBlock(first); });
      if (!isFree)
        continue;
      alloc->getResult(0).replaceAllUsesWith(argument);
      alloc->erase();
      ++donated;
    }
  }

  /// What of the donated memory has not its result yet gets it in the end. Those results are no longer
  /// returned, for they belong to the caller already.
  void copyDonations(func::FuncOp function) {
    llvm::MapVector<unsigned, BlockArgument> donations = donationsOf(function);
    if (donations.empty())
      return;
    function.walk([&](func::ReturnOp op) {
      OpBuilder builder(op);
      // None may overwrite what another one is yet to copy.
      SmallVector<std::pair<Value, BlockArgument>> copies;
      for (auto [result, argument] : donations) {
        Value value = op.getOperand(result);
        if (value == argument)
          continue;
        bool isNew = isa_and_nonnull<memref::AllocOp, AllocOp, CallOp>(value.getDefiningOp());
        if (donations.size() > 1 && !isNew)
          value = bufferization::CloneOp::create(builder, op.getLoc(), value);
        copies.emplace_back(value, argument);
      }
      for (auto [value, argument] : copies)
        memref::CopyOp::create(builder, op.getLoc(), value, argument);
      for (unsigned i = op.getNumOperands(); i-- > 0;)
        if (donations.contains(i))
          op->eraseOperand(i);
    });
    SmallVector<Type> results;
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (!donations.contains(unsigned(i)))
        results.push_back(type);
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), results));
  }

  /// The caller finds the donated memory among the results again.
  static void returnDonations(func::FuncOp function) {
    llvm::MapVector<unsigned, BlockArgument> donations = donationsOf(function);
    if (donations.empty())
      return;
    SmallVector<unsigned> positions = llvm::to_vector(llvm::make_first_range(donations));
    llvm::sort(positions);
    SmallVector<Type> results(function.getResultTypes());
    for (unsigned result : positions)
      results.insert(results.begin() + result, donations[result].getType());
    function.walk([&](func::ReturnOp op) {
      for (unsigned result : positions)
        op->insertOperands(result, ValueRange(donations[result]));
    });
    function.setType(
        FunctionType::get(function.getContext(), function.getArgumentTypes(), results));
  }

  /// Each other result is memory of its own to the caller, who releases it by its base: only an allocation
  /// that is returned once, whole, can be handed over; anything else is copied.
  void separateResults(func::FuncOp function) {
    llvm::MapVector<unsigned, BlockArgument> donations = donationsOf(function);
    function.walk([&](func::ReturnOp op) {
      llvm::SmallPtrSet<Value, 4> returned;
      for (OpOperand &operand : op->getOpOperands()) {
        Value buffer = operand.get();
        if (!isa<MemRefType>(buffer.getType()) || donations.contains(operand.getOperandNumber()))
          continue;
        while (Operation *view = buffer.getDefiningOp()) {
          if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(view))
            break;
          buffer = view->getOperand(0);
        }
        if (isa_and_nonnull<memref::AllocOp, AllocOp, CallOp>(buffer.getDefiningOp()) &&
            returned.insert(buffer).second)
          continue;
        OpBuilder builder(op);
        operand.set(bufferization::CloneOp::create(builder, op.getLoc(), operand.get()));
        ++cloned;
      }
    });
  }

  /// The rest of upstream's deallocation pipeline.
  static OpPassManager lowering() {
    OpPassManager manager(ModuleOp::getOperationName());
    OpPassManager &before = manager.nest<func::FuncOp>();
    before.addPass(createCanonicalizer());
    before.addPass(bufferization::createBufferDeallocationSimplificationPass());
    manager.addPass(bufferization::createLowerDeallocationsPass());
    OpPassManager &behind = manager.nest<func::FuncOp>();
    behind.addPass(createConvertBufferizationToMemRefPass());
    behind.addPass(createCSEPass());
    behind.addPass(createCanonicalizer());
    return manager;
  }
};

} // namespace
