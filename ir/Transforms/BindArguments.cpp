#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMBINDARGUMENTS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// One argument under construction: what replaces it is built from its new arguments.
struct Bound {
  BlockArgument old;
  DictionaryAttr attributes;
  Value pointerOrScalar;
  SmallVector<OpFoldResult> sizes;
};

/// What a bare pointer no longer says of its buffer.
void describe(Builder &builder, Type type, bool isDispatch, NamedAttrList &attributes) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return;
  if (shaped.hasStaticShape()) {
    int64_t bytes = shaped.getNumElements() * elementBytes(shaped.getElementType());
    attributes.set(bytesAttr, builder.getI64IntegerAttr(bytes));
    return;
  }
  SmallVector<int64_t> extents;
  for (int64_t i = 0; i < shaped.getRank(); ++i)
    if (shaped.isDynamicDim(i))
      extents.push_back(i);
  if (!isDispatch)
    attributes.set(extentsAttr, builder.getDenseI64ArrayAttr(extents));
}

struct BindArguments : plim::ir::impl::PlimBindArgumentsBase<BindArguments> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(dispatchFunctionAttr) || function->hasAttr(kernelAttr))
        bind(function);
  }

  void bind(func::FuncOp function) {
    Block &entry = function.front();
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    bool isDispatch = function->hasAttr(dispatchFunctionAttr);
    unsigned outputCount = isDispatch ? function.getNumResults() : 0;

    SmallVector<Bound> bound;
    for (BlockArgument argument : entry.getArguments()) {
      NamedAttrList attributes(function.getArgAttrDict(argument.getArgNumber()));
      describe(builder, argument.getType(), isDispatch, attributes);
      bound.push_back({argument, attributes.getDictionary(&getContext()), {}, {}});
    }

    // The new arguments, behind the old ones for now.
    SmallVector<DictionaryAttr> newAttributes;
    auto addArgument = [&](Type type, Location loc, DictionaryAttr attributes) -> Value {
      newAttributes.push_back(attributes);
      return entry.addArgument(type, loc);
    };
    auto addPointerOrScalar = [&](Bound &argument) {
      Type type = argument.old.getType();
      if (auto shaped = dyn_cast<ShapedType>(type)) {
        type = MemRefType::get({}, shaped.getElementType());
        ++buffers;
      }
      argument.pointerOrScalar = addArgument(type, argument.old.getLoc(), argument.attributes);
    };
    auto addExtents = [&](Bound &argument) {
      auto shaped = dyn_cast<ShapedType>(argument.old.getType());
      extents += shaped ? shaped.getNumDynamicDims() : 0;
      for (int64_t extent : shaped ? shaped.getShape() : ArrayRef<int64_t>())
        argument.sizes.push_back(
            ShapedType::isDynamic(extent)
                ? OpFoldResult(addArgument(builder.getIndexType(), argument.old.getLoc(),
                                           builder.getDictionaryAttr({})))
                : builder.getIndexAttr(extent));
    };
    if (isDispatch) {
      auto isShaped = [](Bound &argument) { return isa<ShapedType>(argument.old.getType()); };
      for (Bound &argument : bound)
        if (isShaped(argument))
          addPointerOrScalar(argument);
      for (Bound &argument : bound)
        if (!isShaped(argument))
          addPointerOrScalar(argument);
      for (Bound &argument : bound)
        addExtents(argument);
    } else {
      for (Bound &argument : bound) {
        addPointerOrScalar(argument);
        addExtents(argument);
      }
    }

    // The old arguments, rebuilt from the new ones.
    SmallVector<Value> outputBuffers;
    for (auto [index, argument] : llvm::enumerate(bound)) {
      Location loc = argument.old.getLoc();
      auto shaped = dyn_cast<ShapedType>(argument.old.getType());
      Value replacement = argument.pointerOrScalar;
      if (shaped && shaped.getRank() > 0)
        replacement = memref::ReinterpretCastOp::create(
            builder, loc, MemRefType::get(shaped.getShape(), shaped.getElementType()), replacement,
            builder.getIndexAttr(0), argument.sizes,
            memref::computeStridesIRBlock(loc, builder, argument.sizes));
      if (isa<RankedTensorType>(argument.old.getType())) {
        bool isOutput = index + outputCount >= bound.size();
        if (isOutput)
          outputBuffers.push_back(replacement);
        replacement = bufferization::ToTensorOp::create(builder, loc, argument.old.getType(),
                                                        replacement, /*restrict=*/true,
                                                        /*writable=*/isOutput);
      }
      argument.old.replaceAllUsesWith(replacement);
    }
    entry.eraseArguments(0, bound.size());

    SmallVector<Type> results(function.getResultTypes());
    if (isDispatch) {
      auto terminator = cast<func::ReturnOp>(entry.getTerminator());
      builder.setInsertionPoint(terminator);
      for (auto [result, buffer] : llvm::zip(terminator.getOperands(), outputBuffers)) {
        auto write = bufferization::MaterializeInDestinationOp::create(builder, result.getLoc(),
                                                                       Type(), result, buffer);
        write.setRestrict(true);
        write.setWritable(true);
      }
      terminator->setOperands({});
      results.clear();
    }
    function.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), results));
    function.setAllArgAttrs(newAttributes);
    if (results.empty())
      function.removeResAttrsAttr();
  }
};

} // namespace
