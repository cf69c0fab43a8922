#include "ir/Access/Passes.h"
#include "ir/Analysis/BufferUses.h"
#include "ir/Analysis/Destinations.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINFERACCESS
#include "ir/Access/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Does the dispatch function use what the output held before? Its tensors are values: only a use of
/// the argument itself sees the old contents.
bool readsOutput(BlockArgument output) {
  return llvm::any_of(output.getUses(), [](OpOperand &use) {
    if (isa<tensor::DimOp>(use.getOwner()))
      return false;
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return !op || !op.isDpsInit(&use) || readsDestination(op, use);
  });
}

/// "argument #1 of 'f'".
std::string nameOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return "argument #" + std::to_string(argument.getArgNumber()) + " of '" +
         function.getName().str() + "'";
}

/// "may write" or "returns", of the op that does it.
StringRef verbOf(OpOperand *use, StringRef verb) {
  return isa<func::ReturnOp>(use->getOwner()) ? "returns" : verb;
}

struct InferAccess : plim::ir::impl::PlimInferAccessBase<InferAccess> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](DispatchOp dispatch) {
      infer(dispatch, symbols.lookup<func::FuncOp>(dispatch.getFunction()));
    });
    BufferUses uses(getOperation());
    bool ok = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(dispatchFunctionAttr))
        for (BlockArgument argument : function.getArguments())
          ok &= succeeded(isa<MemRefType>(argument.getType()) ? infer(argument, uses)
                                                              : checkValue(argument));
    getOperation().walk([&](memref::GetGlobalOp get) {
      auto global = symbols.lookup<memref::GlobalOp>(get.getName());
      if (global && global.getConstant())
        ok &= succeeded(checkConstant(get, global, uses));
    });
    if (!ok)
      signalPassFailure();
  }

  void infer(DispatchOp dispatch, func::FuncOp function) {
    SmallVector<Attribute> accesses;
    for (OpOperand *binding : dispatch.getBindings()) {
      BlockArgument argument = function.getArgument(binding->getOperandNumber());
      Access access = Access::ReadOnly;
      if (dispatch.isOutput(*binding))
        access = readsOutput(argument) ? Access::ReadWrite : Access::WriteOnly;
      auto attribute = AccessAttr::get(&getContext(), access);
      function.setArgAttr(argument.getArgNumber(), accessAttr, attribute);
      accesses.push_back(attribute);
      ++countOf(access);
    }
    dispatch.setAccessesAttr(ArrayAttr::get(&getContext(), accesses));
  }

  /// What the author declares is a promise to callers: it stays, if it is kept.
  LogicalResult infer(BlockArgument argument, const BufferUses &uses) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber();
    BufferUses::Found found = uses.find(argument);
    if (found.free && function.isPublic())
      return found.free->getOwner()->emitError()
             << "frees " << nameOf(argument) << ", which belongs to the caller";
    auto declared = function.getArgAttrOfType<AccessAttr>(index, accessAttr);
    if (!declared) {
      Access access = !found.write  ? Access::ReadOnly
                      : !found.read ? Access::WriteOnly
                                    : Access::ReadWrite;
      function.setArgAttr(index, accessAttr, AccessAttr::get(&getContext(), access));
      ++countOf(access);
      return success();
    }
    auto check = [&](OpOperand *use, bool isAllowed, StringRef verb) -> LogicalResult {
      if (!use || isAllowed)
        return success();
      return use->getOwner()->emitError()
             << verbOf(use, verb) << " " << nameOf(argument) << ", which is declared "
             << stringifyAccess(declared.getValue());
    };
    if (failed(check(found.write, declared.getValue() != Access::ReadOnly, "may write to")) ||
        failed(check(found.read, declared.getValue() != Access::WriteOnly, "may read")))
      return failure();
    ++countOf(declared.getValue());
    return success();
  }

  /// A scalar or a tensor is a value, which nothing can write to, unless it is donated.
  static LogicalResult checkValue(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber();
    bool isTensor = isa<TensorType>(argument.getType());
    if (function.getArgAttr(index, donateAttr)) {
      auto readWrite = AccessAttr::get(function.getContext(), Access::ReadWrite);
      auto declared = function.getArgAttrOfType<AccessAttr>(index, accessAttr);
      if (declared && declared != readWrite)
        return function.emitError() << nameOf(argument) << " is donated, but is declared "
                                    << stringifyAccess(declared.getValue());
      function.setArgAttr(index, accessAttr, readWrite);
      return success();
    }
    bool isRead = llvm::any_of(argument.getUses(),
                               [](OpOperand &use) { return !isa<tensor::DimOp>(use.getOwner()); });
    if (auto declared = function.getArgAttrOfType<AccessAttr>(index, accessAttr)) {
      if (!isTensor || declared.getValue() != Access::ReadOnly)
        return function.emitError() << nameOf(argument) << " is a "
                                    << (isTensor ? "tensor, which is readonly" : "scalar")
                                    << ", but is declared " << stringifyAccess(declared.getValue());
      function.removeArgAttr(index, accessAttr);
    }
    auto upstream = function.getArgAttrOfType<StringAttr>(
        index, bufferization::BufferizationDialect::kBufferAccessAttrName);
    if (isTensor && isRead && upstream &&
        (upstream.getValue() == "none" || upstream.getValue() == "write"))
      return function.emitError() << nameOf(argument)
                                  << " is read, but is declared to have access \""
                                  << upstream.getValue() << "\"";
    return success();
  }

  /// Constants live in read-only pages.
  static LogicalResult checkConstant(memref::GetGlobalOp get, memref::GlobalOp global,
                                     const BufferUses &uses) {
    BufferUses::Found found = uses.find(get);
    for (auto [use, verb] : {std::pair(found.free, "frees"), {found.write, "may write to"}})
      if (use)
        return use->getOwner()->emitError()
               << verbOf(use, verb) << " '" << global.getSymName() << "', which is constant";
    return success();
  }

  Statistic &countOf(Access access) {
    return access == Access::ReadOnly    ? readOnly
           : access == Access::WriteOnly ? writeOnly
                                         : readWrite;
  }
};

} // namespace
