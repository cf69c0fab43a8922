#include "ir/Pipelines/BufferTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"

#include <atomic>

using namespace mlir;
using namespace mlir::bufferization;

namespace {

using Model = BufferizableOpInterface::Concept;
using GetBufferType = decltype(Model::getBufferType);

/// The types that were found since the outermost question, in which nothing changes.
struct Found {
  llvm::DenseMap<Value, BufferLikeType> types;
  unsigned depth = 0;
  /// While a loop is asked about itself, upstream's models take the type of what it begins with for its own, and so does
  /// all behind it. Where that is not the answer nothing is kept.
  bool isKept = true;
};
thread_local Found found;

template <typename Op> std::atomic<GetBufferType> upstream = nullptr;

/// What a loop begins with, for what its body takes; null for other values.
Value beginningOf(Operation *op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return nullptr;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getTiedLoopInit(argument)->get();
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && argument.getOwner() == loop.getBeforeBody())
    return loop.getInits()[argument.getArgNumber()];
  return nullptr;
}

template <typename Op>
FailureOr<BufferLikeType> typeOnce(const Model *model, Operation *op, Value value,
                                   const BufferizationOptions &options,
                                   const BufferizationState &state, SmallVector<Value> &stack) {
  if (auto known = found.types.find(value); known != found.types.end())
    return known->second;
  ++found.depth;
  FailureOr<BufferLikeType> type = upstream<Op>.load()(model, op, value, options, state, stack);
  if (succeeded(type) && found.isKept) {
    found.types[value] = *type;
    FailureOr<BufferLikeType> begun = type;
    if (Value beginning = beginningOf(op, value)) {
      if (auto buffer = dyn_cast<BufferLikeType>(beginning.getType()))
        begun = buffer;
      else
        begun = bufferization::getBufferType(beginning, options, state, stack);
    }
    if (failed(begun) || *begun != *type) {
      found.types.clear();
      found.isKept = false;
    }
  }
  if (--found.depth == 0) {
    found.types.clear();
    found.isKept = true;
  }
  return type;
}

template <typename Op> void lookUpOnce(MLIRContext *context) {
  auto name = RegisteredOperationName::lookup(Op::getOperationName(), context);
  Model *model = name->template getInterface<BufferizableOpInterface>();
  if (model->getBufferType == typeOnce<Op>)
    return;
  upstream<Op> = model->getBufferType;
  model->getBufferType = typeOnce<Op>;
}

} // namespace

void plim::ir::registerBufferTypes(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    lookUpOnce<scf::ForOp>(context);
    lookUpOnce<scf::IfOp>(context);
    lookUpOnce<scf::WhileOp>(context);
  });
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *) { lookUpOnce<arith::SelectOp>(context); });
}
