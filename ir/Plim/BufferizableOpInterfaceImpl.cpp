// plim.alloc in one-shot bufferization becomes a buffer with the same constraints.
//
// plim.dispatch in one-shot bufferization: inputs are read, outputs are written in place, and read
// only when the access says so. That is where access analysis pays first: a write-only destination
// never forces a copy.
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

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

struct DispatchOpInterface
    : DstBufferizableOpInterfaceExternalModel<DispatchOpInterface, DispatchOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<DispatchOp>(op).getAccess(operand) != Access::WriteOnly;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    auto dispatch = cast<DispatchOp>(op);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto toBuffer = [&](Value value) -> FailureOr<Value> {
      if (!isa<TensorType>(value.getType()))
        return value;
      FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      // A binding is a base pointer and extents: its memory must be dense, from wherever it begins.
      if (!isDense(cast<MemRefType>(buffer->getType())))
        return op->emitOpError("binds a buffer that is not dense row-major");
      return buffer;
    };
    SmallVector<Value> inputs, outputs;
    for (Value input : dispatch.getInputs()) {
      FailureOr<Value> buffer = toBuffer(input);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
    }
    for (Value output : dispatch.getOutputs()) {
      FailureOr<Value> buffer = toBuffer(output);
      if (failed(buffer))
        return failure();
      outputs.push_back(*buffer);
    }
    auto bufferized =
        DispatchOp::create(rewriter, op->getLoc(), TypeRange(), dispatch.getFunctionAttr(), inputs,
                           outputs, dispatch.getAccessesAttr());
    bufferized->setDiscardableAttrs(dispatch->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
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

} // namespace

void plim::ir::registerBufferizableOpInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PlimDialect *) {
    AllocOp::attachInterface<AllocOpInterface>(*context);
    DispatchOp::attachInterface<DispatchOpInterface>(*context);
  });
}
