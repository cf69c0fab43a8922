#include "ir/Gpu/Kernels.h"

#include "ir/Gpu/DispatchWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace plim::ir;
using namespace plim::ir::gpukernels;
using Kind = Numbers::Kind;

namespace {

/// More elements than a kernel of one invocation should write one by one.
constexpr int64_t maxConstantElements = 256;

} // namespace

FailureOr<Kernels> plim::ir::writeKernels(func::FuncOp dispatch, unsigned outputs,
                                          gpu::GPUModuleOp module, const KernelOptions &options) {
  Kernels kernels;
  if (failed(DispatchWriter(dispatch, outputs, module, options, kernels).write()))
    return failure();
  return kernels;
}

LogicalResult DispatchWriter::write() {
  if (failed(declareArguments()))
    return failure();
  for (Operation &op : dispatch.getBody().front())
    if (failed(write(&op)))
      return failure();
  return success();
}

LogicalResult DispatchWriter::declareArguments() {
  for (BlockArgument argument : dispatch.getArguments()) {
    plim::devices::GpuArgument &described = kernels.arguments.emplace_back();
    Type element = getElementTypeOrSelf(argument.getType());
    Type stored = storedType(element);
    if (!stored)
      return dispatch.emitError() << "it has elements of type " << element;
    described.bytes = stored.getIntOrFloatBitWidth() / 8;
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    described.isTensor = true;
    described.rank = static_cast<uint32_t>(type.getRank());
    SmallVector<Number> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i)
      sizes.push_back(type.isDynamicDim(unsigned(i))
                          ? numbers.extent(argument.getArgNumber(), unsigned(i))
                          : numbers.constant(type.getDimSize(unsigned(i))));
    views.add(argument, argument.getArgNumber(), sizes);
  }
  wasWritten.assign(kernels.arguments.size(), false);
  return success();
}

LogicalResult DispatchWriter::write(Operation *op) {
  FailureOr<bool> isView = views.follow(op);
  if (failed(isView))
    return failure();
  if (*isView)
    return success();
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return addTemporary(alloc, alloc.getMixedSizes());
  if (auto global = dyn_cast<memref::GetGlobalOp>(op))
    return writeConstant(global);
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (touchesGroup(op) && failed(flushGroup()))
      return failure();
    flushFills(op);
    fills.push_back(fill);
    return success();
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    const bool joins = joinsProduct(linalgOp);
    if (!joins && !joinsRows(linalgOp) && failed(flushGroup()))
      return failure();
    isProductGroup = joins;
    flushFills(op);
    group.push_back(linalgOp);
    return success();
  }
  if (isa<memref::CopyOp, memref::StoreOp, func::ReturnOp>(op) && failed(flushGroup()))
    return failure();
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    flushFills(op);
    return writeCopy(copy, copy.getSource(), copy.getTarget());
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    flushFills(op);
    return writeStore(store);
  }
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return writeReturn(end);
  if (isa<memref::DeallocOp>(op))
    return success();
  // Kernels that use it compute it.
  if (op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<memref::LoadOp>(op)) &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>))
    return success();
  return op->emitError() << "it has a " << op->getName();
}

LogicalResult DispatchWriter::addTemporary(memref::AllocOp op, ArrayRef<OpFoldResult> extents) {
  SmallVector<Number> sizes;
  for (OpFoldResult extent : extents) {
    std::optional<Number> size = views.numberOf(extent);
    if (!size)
      return op.emitError() << "it has a temporary whose size a launch cannot compute";
    sizes.push_back(*size);
  }
  return addTemporary(op, op.getType(), sizes);
}

LogicalResult DispatchWriter::addTemporary(Value memref, MemRefType type, ArrayRef<Number> sizes) {
  Type stored = storedType(type.getElementType());
  if (!stored)
    return emitError(memref.getLoc()) << "it has elements of type " << type.getElementType();
  const int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
  const unsigned position =
      static_cast<unsigned>(kernels.arguments.size() + kernels.temporaries.size());
  kernels.temporaries.push_back(
      {numbers.apply(Kind::Multiply, numbers.product(sizes), numbers.constant(bytes)),
       static_cast<uint32_t>(bytes)});
  views.add(memref, position, sizes);
  return success();
}

LogicalResult DispatchWriter::writeConstant(memref::GetGlobalOp op) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
  auto value = global ? dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr()) : nullptr;
  if (!value || value.getNumElements() > maxConstantElements)
    return op.emitError() << "it has a constant of more than " << maxConstantElements
                          << " elements";
  SmallVector<Number> sizes = llvm::map_to_vector(
      op.getType().getShape(), [&](int64_t size) { return numbers.constant(size); });
  if (failed(addTemporary(op, op.getType(), sizes)))
    return failure();
  View view = *views.find(op);
  view.sizes = {numbers.constant(value.getNumElements())};
  view.strides = {numbers.constant(1)};
  KernelWriter kernel = begin(op->getLoc());
  kernel.forEachInvocation(numbers.constant(1), [&](Value) {
    int64_t i = 0;
    for (TypedAttr element : value.getValues<TypedAttr>())
      kernel.store(arith::ConstantOp::create(kernel.builder(), element), view, kernel.index(i++));
  });
  end(std::move(kernel), numbers.constant(1), {&view}, numbers.constant(1));
  return success();
}

KernelWriter DispatchWriter::begin(Location loc) const {
  return KernelWriter(module, loc, numbers, options.workgroupSize);
}

void DispatchWriter::noteAccesses(KernelWriter &kernel, ArrayRef<const View *> overwritten) {
  auto isWhole = [&](unsigned argument) {
    return llvm::any_of(overwritten, [&](const View *view) {
      const View *whole = views.find(dispatch.getArgument(argument));
      return view->buffer == argument && *view == *whole;
    });
  };
  for (unsigned buffer : kernel.loaded())
    if (buffer < wasWritten.size() && !wasWritten[buffer])
      kernels.arguments[buffer].isRead = true;
  for (unsigned buffer : kernel.stored()) {
    if (buffer >= wasWritten.size())
      continue;
    // What it leaves stays as it is.
    if (!wasWritten[buffer] && !isWhole(buffer))
      kernels.arguments[buffer].isRead = true;
    kernels.arguments[buffer].isWritten = wasWritten[buffer] = true;
  }
  kernel.forgetAccesses();
}

void DispatchWriter::end(KernelWriter kernel, Number workgroups, ArrayRef<const View *> overwritten,
                         Number iterations) {
  noteAccesses(kernel, overwritten);
  const Number most = numbers.constant(options.maxWorkgroups),
               rounds = numbers.apply(Kind::CeilDivide, workgroups, most);
  kernels.all.push_back(kernel.finish(numbers.apply(Kind::Minimum, workgroups, most),
                                      numbers.apply(Kind::Multiply, rounds, iterations)));
}

Number DispatchWriter::workgroupsOf(Number invocations) const {
  return numbers.apply(Kind::CeilDivide, invocations, numbers.constant(options.workgroupSize));
}

void DispatchWriter::flushFills(Operation *op) {
  SmallVector<linalg::FillOp> waiting;
  for (linalg::FillOp fill : fills) {
    const View *filled = views.find(fill.getOutputs()[0]);
    const bool isUsed =
        !op || op->walk([&](Operation *inner) {
                   return llvm::any_of(inner->getOperands(),
                                       [&](Value operand) {
                                         const View *view = views.find(operand);
                                         return view && filled && view->buffer == filled->buffer;
                                       })
                              ? WalkResult::interrupt()
                              : WalkResult::advance();
                 }).wasInterrupted();
    const bool isForGroup =
        llvm::any_of(group, [&](linalg::LinalgOp waits) { return isBeginOf(fill, waits); });
    if (!isUsed || isForGroup || isBeginOf(fill, op))
      waiting.push_back(fill);
    else
      writeFill(fill);
  }
  fills = std::move(waiting);
}

bool DispatchWriter::isBeginOf(linalg::FillOp fill, Operation *op) {
  auto reduction = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!reduction || reduction.getNumReductionLoops() == 0)
    return false;
  Value filled = fill.getOutputs()[0];
  return llvm::is_contained(reduction.getDpsInits(), filled) &&
         llvm::count(reduction->getOperands(), filled) == 1 &&
         llvm::none_of(reduction->getOperands(), [&](Value operand) {
           return operand != filled && isa<MemRefType>(operand.getType()) &&
                  operand.getDefiningOp<ViewLikeOpInterface>() &&
                  operand.getDefiningOp()->getOperand(0) == filled;
         });
}

void DispatchWriter::writeFill(linalg::FillOp fill) {
  const View *target = views.find(fill.getOutputs()[0]);
  const Number total = numbers.product(target->sizes);
  KernelWriter kernel = begin(fill.getLoc());
  IRMapping known;
  bool isKnown = true;
  kernel.forEachInvocation(total, [&](Value position) {
    isKnown = succeeded(capture(fill.getInputs()[0], kernel, known));
    if (isKnown)
      kernel.store(known.lookup(fill.getInputs()[0]), *target,
                   kernel.delinearize(position, target->sizes));
  });
  hasFailed |= !isKnown;
  end(std::move(kernel), workgroupsOf(total), {target}, numbers.constant(1));
}

LogicalResult DispatchWriter::writeCopy(Operation *op, Value source, Value target) {
  const View *from = views.find(source), *to = views.find(target);
  if (!from || !to)
    return op->emitError() << "it copies what it does not know";
  if (from->buffer == to->buffer && *from != *to)
    return op->emitError() << "it copies inside of a buffer";
  if (*from == *to)
    return success();
  const Number total = numbers.product(to->sizes);
  KernelWriter kernel = begin(op->getLoc());
  kernel.forEachInvocation(total, [&](Value position) {
    SmallVector<Value> indices = kernel.delinearize(position, to->sizes);
    kernel.store(kernel.load(*from, indices), *to, indices);
  });
  end(std::move(kernel), workgroupsOf(total), {to}, numbers.constant(1));
  return success();
}

LogicalResult DispatchWriter::writeStore(memref::StoreOp op) {
  const View *target = views.find(op.getMemRef());
  if (!target)
    return op.emitError() << "it writes what it does not know";
  KernelWriter kernel = begin(op.getLoc());
  IRMapping known;
  LogicalResult isKnown = success();
  kernel.forEachInvocation(numbers.constant(1), [&](Value) {
    for (Value operand : op->getOperands())
      if (!isa<MemRefType>(operand.getType()) && succeeded(isKnown))
        isKnown = capture(operand, kernel, known);
    if (succeeded(isKnown))
      kernel.store(
          known.lookup(op.getValueToStore()), *target,
          llvm::map_to_vector(op.getIndices(), [&](Value index) { return known.lookup(index); }));
  });
  end(std::move(kernel), numbers.constant(1), {}, numbers.constant(1));
  return isKnown;
}

LogicalResult DispatchWriter::writeReturn(func::ReturnOp op) {
  flushFills(nullptr);
  if (hasFailed)
    return failure();
  const unsigned first = dispatch.getNumArguments() - outputs;
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    if (failed(writeCopy(op, value, dispatch.getArgument(first + unsigned(i)))))
      return failure();
  return success();
}

LogicalResult DispatchWriter::capture(Value value, KernelWriter &kernel, IRMapping &known) {
  if (known.contains(value) || views.find(value))
    return success();
  ImplicitLocOpBuilder &b = kernel.builder();
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>()) {
    known.map(value, b.clone(*op)->getResult(0));
    return success();
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return success(); // of an op that is copied as a whole
    known.map(value, kernel.scalar(argument.getArgNumber(), value.getType()));
    return success();
  }
  if (value.getType().isIndex())
    if (std::optional<Number> number = views.numberOf(value)) {
      known.map(value, kernel.word(*number));
      return success();
    }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const View *view = views.find(load.getMemRef());
    if (!view || !isConstantBuffer(view->buffer))
      return op->emitError() << "it reads an element of what it writes";
    SmallVector<Value> indices;
    for (Value index : load.getIndices()) {
      if (failed(capture(index, kernel, known)))
        return failure();
      indices.push_back(known.lookup(index));
    }
    known.map(value, kernel.load(*view, indices));
    return success();
  }
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return op->emitError() << "it has a " << op->getName();
  for (Value operand : op->getOperands())
    if (failed(capture(operand, kernel, known)))
      return failure();
  b.clone(*op, known);
  return success();
}

bool DispatchWriter::isConstantBuffer(unsigned buffer) const {
  return buffer < kernels.arguments.size() - outputs;
}
