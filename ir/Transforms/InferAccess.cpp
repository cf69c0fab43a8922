#include "ir/Plim/Plim.h"
#include "ir/Transforms/Destinations.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINFERACCESS
#include "ir/Transforms/Passes.h.inc"
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

struct InferAccess : plim::ir::impl::PlimInferAccessBase<InferAccess> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](DispatchOp dispatch) {
      auto function = symbols.lookup<func::FuncOp>(dispatch.getFunction());
      SmallVector<Attribute> accesses;
      for (OpOperand *binding : dispatch.getBindings()) {
        BlockArgument argument = function.getArgument(binding->getOperandNumber());
        Access access = Access::ReadOnly;
        if (dispatch.isDpsInit(binding))
          access = readsOutput(argument) ? Access::ReadWrite : Access::WriteOnly;
        auto attribute = AccessAttr::get(&getContext(), access);
        function.setArgAttr(argument.getArgNumber(), accessAttr, attribute);
        accesses.push_back(attribute);
        ++(access == Access::ReadOnly    ? readOnly
           : access == Access::WriteOnly ? writeOnly
                                         : readWrite);
      }
      dispatch.setAccessesAttr(ArrayAttr::get(&getContext(), accesses));
    });
  }
};

} // namespace
