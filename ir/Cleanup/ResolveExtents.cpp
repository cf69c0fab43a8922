#include "ir/Cleanup/ResolveExtents.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>
#include <utility>

using namespace mlir;

namespace plim::ir {
namespace {

/// Notes which extents are asked for anew.
struct NewExtents : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (auto dim = dyn_cast<ShapedDimOpInterface>(op))
      ops.push_back(dim);
  }
  SmallVector<ShapedDimOpInterface> ops;
};

/// What is known of the operations so far, which come in their order.
class KnownExtents {
public:
  /// Of the results of `op`, by those of its operands.
  void addResultsOf(ReifyRankedShapedTypeOpInterface op) {
    NewExtents asked;
    OpBuilder builder(op, &asked);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(builder, op, shapes)))
      shapes.clear();
    // It asks for all extents of all operands; most are known, and many not needed.
    llvm::DenseMap<Value, Value> instead;
    for (ShapedDimOpInterface dim : asked.ops)
      if (Value value = replace(dim))
        instead[dim->getResult(0)] = value;
    llvm::SmallPtrSet<Operation *, 8> kept;
    for (auto [result, extents] : llvm::zip(op->getResults(), shapes))
      for (auto [position, extent] : llvm::enumerate(extents)) {
        if (auto value = dyn_cast<Value>(extent)) {
          if (Value other = instead.lookup(value))
            extent = other;
          else
            kept.insert(value.getDefiningOp());
        }
        known[{result, static_cast<int64_t>(position)}] = extent;
      }
    for (ShapedDimOpInterface dim : asked.ops)
      if (dim->use_empty() && !kept.contains(dim))
        dim->erase();
  }

  /// Puts what is known in the place of an operation's uses. Null if nothing is.
  Value replace(ShapedDimOpInterface dim) const {
    const std::optional<int64_t> position = getConstantIntValue(dim.getDimension());
    auto found = position ? known.find({dim.getShapedValue(), *position}) : known.end();
    if (found == known.end())
      return {};
    OpBuilder builder(dim);
    Value value = getValueOrCreateConstantIndexOp(builder, dim.getLoc(), found->second);
    dim->getResult(0).replaceAllUsesWith(value);
    return value;
  }

private:
  llvm::DenseMap<std::pair<Value, int64_t>, OpFoldResult> known;
};

struct ResolveExtents : PassWrapper<ResolveExtents, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResolveExtents)

  StringRef getArgument() const override { return "plim-resolve-extents"; }
  StringRef getName() const override { return "PlimResolveExtents"; }
  StringRef getDescription() const override {
    return "Tell extents of results by those of operands";
  }

  void runOnOperation() override {
    llvm::SetVector<Operation *> needed; // what extents depend on
    auto need = [&](Value value) {
      if (isa_and_present<ReifyRankedShapedTypeOpInterface>(value.getDefiningOp()))
        needed.insert(value.getDefiningOp());
    };
    getOperation()->walk([&](ShapedDimOpInterface dim) { need(dim.getShapedValue()); });
    for (size_t i = 0; i < needed.size(); ++i)
      llvm::for_each(needed[i]->getOperands(), need);

    KnownExtents extents;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto dim = dyn_cast<ShapedDimOpInterface>(op);
      if (dim && extents.replace(dim)) {
        op->erase();
        return WalkResult::skip();
      }
      if (needed.contains(op))
        extents.addResultsOf(cast<ReifyRankedShapedTypeOpInterface>(op));
      return WalkResult::advance();
    });
  }
};

} // namespace

std::unique_ptr<Pass> createResolveExtents() { return std::make_unique<ResolveExtents>(); }

} // namespace plim::ir
