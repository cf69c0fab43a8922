// plim.alloc in one-shot bufferization becomes a buffer with the same constraints.
//
// plim.call in one-shot bufferization: as its accesses say.
//
// plim.dispatch in one-shot bufferization: inputs are read, outputs are written in place, and read
// only when the access says so. That is where access analysis pays first: a write-only destination
// never forces a copy. A binding is a base pointer and extents, so its memory must be dense, from wherever
// it begins; what lies there with strides is copied.
//
// plim.tile_product in one-shot bufferization: the sum is read and written in place.
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/BufferViewFlowOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace plim::ir;

namespace {

/// Does each element follow the one before? The stride of a dimension with one element says nothing.
bool isDense(MemRefType type) {
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (!layout)
    return type.getLayout().isIdentity();
  int64_t dense = 1;
  for (int64_t i = type.getRank(); i-- > 0;) {
    if (type.getDimSize(i) != 1 && layout.getStrides()[i] != dense)
      return false;
    // Behind an extent that is not known only one of 1 can follow.
    dense = type.isDynamicDim(i) ? -1 : dense * type.getDimSize(i);
  }
  return true;
}

/// A dense buffer of the same extents.
FailureOr<Value> allocateLike(RewriterBase &rewriter, Location loc, Value buffer,
                              const BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, i));
  return options.createAlloc(rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
                             sizes);
}

struct DispatchOpInterface
    : BufferizableOpInterface::ExternalModel<DispatchOpInterface, DispatchOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<DispatchOp>(op).getAccess(operand) != Access::WriteOnly;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<DispatchOp>(op).isOutput(operand);
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    auto dispatch = cast<DispatchOp>(op);
    if (!dispatch.isOutput(operand))
      return {};
    return {{dispatch.getResultIn(operand), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto dispatch = cast<DispatchOp>(op);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    SmallVector<Value> inputs, outputs, results;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isOutput = dispatch.isOutput(operand);
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
      }
      if (isOutput)
        results.push_back(value);
      if (auto type = dyn_cast<MemRefType>(value.getType()); type && !isDense(type)) {
        FailureOr<Value> dense = allocateLike(rewriter, loc, value, options);
        if (failed(dense) || (dispatch.getAccess(operand) != Access::WriteOnly &&
                              failed(options.createMemCpy(rewriter, loc, value, *dense))))
          return failure();
        value = *dense;
      }
      (isOutput ? outputs : inputs).push_back(value);
    }
    auto bufferized = DispatchOp::create(rewriter, loc, TypeRange(), dispatch.getFunctionAttr(),
                                         inputs, outputs, dispatch.getAccessesAttr());
    bufferized->setDiscardableAttrs(dispatch->getDiscardableAttrDictionary());
    for (auto [output, result] : llvm::zip(outputs, results))
      if (output != result && failed(options.createMemCpy(rewriter, loc, output, result)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

/// Destinations are written in place, other tensors are read. What is not dense the callee gets a copy
/// of.
struct HostCallInterface : BufferizableOpInterface::ExternalModel<HostCallInterface, CallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<CallOp>(op).getAccess(operand) != Access::WriteOnly;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return bool(cast<CallOp>(op).getResultIn(operand));
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (OpResult result = cast<CallOp>(op).getResultIn(operand))
      return {{result, BufferRelation::Equivalent}};
    return {};
  }

  bool bufferizesToAllocation(Operation *op, Value value) const {
    return cast<CallOp>(op).isMadeByCallee(cast<OpResult>(value));
  }

  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value,
                                          const BufferizationOptions &options,
                                          const BufferizationState &state,
                                          SmallVector<Value> &stack) const {
    if (!cast<CallOp>(op).isMadeByCallee(cast<OpResult>(value)))
      return bufferization::detail::defaultGetBufferType(value, options, state, stack);
    auto type = cast<RankedTensorType>(value.getType());
    return cast<BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto call = cast<CallOp>(op);
    Location loc = op->getLoc();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands, buffers(call->getNumResults());
    SmallVector<std::pair<Value, Value>> copiesBack; // from, to
    for (OpOperand &operand : call->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        operands.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      OpResult result = call.getResultIn(operand);
      if (result)
        buffers[result.getResultNumber()] = *buffer;
      if (!isDense(cast<MemRefType>(buffer->getType()))) {
        FailureOr<Value> dense = allocateLike(rewriter, loc, *buffer, options);
        if (failed(dense) || (call.getAccess(operand) != Access::WriteOnly &&
                              failed(options.createMemCpy(rewriter, loc, *buffer, *dense))))
          return failure();
        if (result)
          copiesBack.emplace_back(*dense, *buffer);
        buffer = dense;
      }
      operands.push_back(*buffer);
    }
    SmallVector<Type> left; // scalars, and what the callee makes
    for (OpResult result : call->getResults())
      if (auto tensor = dyn_cast<RankedTensorType>(result.getType()); !tensor)
        left.push_back(result.getType());
      else if (call.isMadeByCallee(result))
        left.push_back(MemRefType::get(tensor.getShape(), tensor.getElementType()));
    auto bufferized =
        CallOp::create(rewriter, loc, left, call.getCalleeAttr(), operands, call.getAccessesAttr(),
                       call.getDestinationsAttr(), call.getPureAttr());
    bufferized->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    for (auto [from, to] : copiesBack)
      if (failed(options.createMemCpy(rewriter, loc, from, to)))
        return failure();
    auto result = bufferized.getResults().begin();
    for (Value &buffer : buffers)
      if (!buffer)
        buffer = *result++;
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

/// What the callee makes is no other buffer.
struct HostCallViewFlow : BufferViewFlowOpInterface::ExternalModel<HostCallViewFlow, CallOp> {
  void populateDependencies(Operation *, RegisterDependenciesFn) const {}
  bool mayBeTerminalBuffer(Operation *, Value) const { return true; }
};

/// As bufferization.alloc_tensor, with its constraints.
struct AllocOpInterface : BufferizableOpInterface::ExternalModel<AllocOpInterface, AllocOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  bool resultBufferizesToMemoryWrite(Operation *, OpResult, const AnalysisState &) const {
    return false; // uninitialised
  }

  FailureOr<BufferLikeType> getBufferType(Operation *op, Value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    auto type = cast<AllocOp>(op).getType();
    return cast<BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &,
                          BufferizationState &) const {
    auto alloc = cast<AllocOp>(op);
    if (!alloc.isOnTensor())
      return success();
    rewriter.setInsertionPoint(op);
    auto type = MemRefType::get(alloc.getType().getShape(), alloc.getType().getElementType());
    auto buffer =
        AllocOp::create(rewriter, op->getLoc(), type, alloc.getDynamicSizes(), op->getAttrs());
    replaceOpWithBufferizedValues(rewriter, op, buffer->getResults());
    return success();
  }
};

struct TileProductOpInterface
    : DstBufferizableOpInterfaceExternalModel<TileProductOpInterface, TileProductOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    auto product = cast<TileProductOp>(op);
    return !product.isDpsInit(&operand) || product.isRead(operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto product = cast<TileProductOp>(op);
    if (product.getResults().empty())
      return success();
    SmallVector<Value> buffers;
    for (Value operand : product->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    TileProductOp::create(rewriter, op->getLoc(), TypeRange(), buffers, op->getAttrs());
    replaceOpWithBufferizedValues(rewriter, op, ArrayRef(buffers).drop_front(2));
    return success();
  }
};

} // namespace

void plim::ir::registerBufferizableOpInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PlimDialect *) {
    AllocOp::attachInterface<AllocOpInterface>(*context);
    CallOp::attachInterface<HostCallInterface, HostCallViewFlow>(*context);
    DispatchOp::attachInterface<DispatchOpInterface>(*context);
    TileProductOp::attachInterface<TileProductOpInterface>(*context);
  });
}
