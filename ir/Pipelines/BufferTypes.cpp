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
  /// all behind it. Where that is not the answer, which takes types with a layout, nothing is kept.
  bool isKept = true;
};
thread_local Found found;

template <typename Op> std::atomic<GetBufferType> upstream = nullptr;

template <typename Op>
FailureOr<BufferLikeType> typeOnce(const Model *model, Operation *op, Value value,
                                   const BufferizationOptions &options,
                                   const BufferizationState &state, SmallVector<Value> &stack) {
  if (auto known = found.types.find(value); known != found.types.end())
    return known->second;
  ++found.depth;
  FailureOr<BufferLikeType> type = upstream<Op>.load()(model, op, value, options, state, stack);
  if (succeeded(type) && found.isKept) {
    auto memref = dyn_cast<MemRefType>(*type);
    if (memref && memref.getLayout().isIdentity()) {
      found.types[value] = *type;
    } else {
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
    lookUpOnce<scf::IndexSwitchOp>(context);
    lookUpOnce<scf::WhileOp>(context);
  });
  registry.addExtension(
      +[](MLIRContext *context, arith::ArithDialect *) { lookUpOnce<arith::SelectOp>(context); });
}
