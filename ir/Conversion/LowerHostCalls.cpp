#include "ir/Conversion/LowerHostCalls.h"

#include "ir/Conversion/FunctionContext.h"
#include "ir/Plim/Locations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// The fields of a plim_view of a value. Without strides it is known to be dense.
SmallVector<Value, 3> viewOf(OpBuilder &builder, Operation *at, CallFrame &frame, Value value,
                             bool hasStrides) {
  Location loc = at->getLoc();
  auto function = at->getParentOfType<func::FuncOp>();
  Type word = builder.getI64Type();
  Value null = LLVM::ZeroOp::create(builder, loc, LLVM::LLVMPointerType::get(at->getContext()));
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    Value slot = frame.take(builder, function, 1);
    storeScalar(builder, loc, value, slot);
    return {slot, null, null};
  }
  SmallVector<Value> sizes, strides;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value position = arith::ConstantIndexOp::create(builder, loc, i);
    Value size = memref::DimOp::create(builder, loc, value, position);
    sizes.push_back(arith::IndexCastOp::create(builder, loc, word, size));
  }
  if (hasStrides) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, value);
    for (Value stride : metadata.getStrides())
      strides.push_back(arith::IndexCastOp::create(builder, loc, word, stride));
  }
  return {pointerOf(builder, loc, value), frame.array(builder, function, sizes),
          frame.array(builder, function, strides)};
}

} // namespace

void lowerHostCall(CallOp op, ExternalOp external, RuntimeCalls &runtime, CallFrames &frames) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(op.getContext());
  FunctionType type = external.getFunctionType();
  auto function = op->getParentOfType<func::FuncOp>();
  CallFrame &frame = frames.start(op);
  SmallVector<SmallVector<Value, 3>> views;
  for (auto [i, argument] : llvm::enumerate(op.getArguments().drop_front())) {
    auto declared =
        i < type.getNumInputs() ? dyn_cast<MemRefType>(type.getInput(unsigned(i))) : MemRefType();
    views.push_back(
        viewOf(builder, op, frame, argument, declared && !declared.getLayout().isIdentity()));
  }
  SmallVector<Value> arguments, results;
  // Scalars, and what the callee makes: the position of each, and where it, or its extents, will be.
  SmallVector<std::pair<unsigned, Value>> slots;
  for (unsigned i = 0; i < type.getNumInputs(); ++i)
    llvm::append_range(arguments, views[i]);
  auto destination = op.getDestinations().begin();
  for (auto [i, result] : llvm::enumerate(type.getResults())) {
    auto tensor = dyn_cast<RankedTensorType>(result);
    if (tensor && *destination != CallOp::madeByCallee) {
      llvm::append_range(results, views[size_t(*destination++ - 1)]);
      continue;
    }
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    if (tensor) {
      ++destination;
      SmallVector<Value> sizes;
      for (int64_t extent : tensor.getShape())
        sizes.push_back(
            constant64(builder, loc, ShapedType::isDynamic(extent) ? abi::openExtent : extent));
      Value array = frame.array(builder, function, sizes);
      slots.emplace_back(i, array);
      results.append({null, array, null});
      continue;
    }
    Value slot = frame.take(builder, function, 1);
    slots.emplace_back(i, slot);
    storeAt(builder, loc, constant64(builder, loc, 0), slot, 0);
    results.append({slot, null, null});
  }
  Value location = runtime.string(builder, loc, locationText(loc));
  Value argumentArray = frame.array(builder, function, arguments);
  Value resultArray = frame.array(builder, function, results);
  Value callee = runtime.external(builder, loc, op.getCallee());
  Value status =
      LLVM::CallOp::create(builder, loc, external.getDevice() ? runtime.launch : runtime.call,
                           ValueRange{contextOf(op), callee, location, argumentArray, resultArray})
          .getResult();
  leaveIfFailed(builder, status, op);
  builder.setInsertionPoint(op);
  for (auto [result, kept] : llvm::zip(op.getResults(), slots)) {
    auto [position, slot] = kept;
    auto memref = dyn_cast<MemRefType>(result.getType());
    if (!memref) {
      result.replaceAllUsesWith(loadScalar(builder, loc, result.getType(), slot));
      continue;
    }
    SmallVector<Value> sizes;
    for (auto [d, extent] : llvm::enumerate(memref.getShape()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(loadAt(builder, loc, builder.getI64Type(), slot, int32_t(8 * d)));
    Value data = loadAt(builder, loc, pointer, resultArray, abi::viewBytes * int32_t(position));
    result.replaceAllUsesWith(makeMemref(builder, loc, memref, data, sizes));
  }
  // What plim.context became.
  Operation *context = op.getArguments()[0].getDefiningOp();
  op.erase();
  if (context->use_empty())
    context->erase();
}

} // namespace plim::ir
