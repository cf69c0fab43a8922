#include "ir/Access/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMBINDARGUMENTS
#include "ir/Access/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// One argument under construction: what replaces it is built from its new arguments.
struct Bound {
  BlockArgument old;
  DictionaryAttr attributes;
  Value pointerOrScalar;
  SmallVector<OpFoldResult> sizes, strides;
};

/// The layout of a memref that is not dense.
StridedLayoutAttr stridedLayout(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.getLayout().isIdentity()
             ? dyn_cast<StridedLayoutAttr>(memref.getLayout())
             : StridedLayoutAttr();
}

/// What a bare pointer no longer says of its buffer.
void describe(Builder &builder, Type type, bool isDispatch, NamedAttrList &attributes) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return;
  if (shaped.hasStaticShape() && !stridedLayout(type)) {
    int64_t bytes = shaped.getNumElements() * elementBytes(shaped.getElementType());
    attributes.set(bytesAttr, builder.getI64IntegerAttr(bytes));
  }
  if (isDispatch) {
    attributes.set(shapeAttr, TypeAttr::get(shaped));
    return;
  }
  auto setDynamic = [&](StringRef name, ArrayRef<int64_t> values) {
    SmallVector<int64_t> positions;
    for (auto [i, value] : llvm::enumerate(values))
      if (ShapedType::isDynamic(value))
        positions.push_back(i);
    if (!positions.empty())
      attributes.set(name, builder.getDenseI64ArrayAttr(positions));
  };
  setDynamic(extentsAttr, shaped.getShape());
  if (auto layout = stridedLayout(type))
    setDynamic(stridesAttr, layout.getStrides());
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
      bound.push_back({argument, attributes.getDictionary(&getContext()), {}, {}, {}});
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
      // Bounds go with the extents.
      NamedAttrList attributes(argument.attributes);
      attributes.erase(boundsAttr);
      argument.pointerOrScalar =
          addArgument(type, argument.old.getLoc(), attributes.getDictionary(&getContext()));
    };
    auto addIndex = [&](Location loc, int64_t value) {
      return ShapedType::isDynamic(value) ? OpFoldResult(addArgument(builder.getIndexType(), loc,
                                                                     builder.getDictionaryAttr({})))
                                          : builder.getIndexAttr(value);
    };
    auto addExtents = [&](Bound &argument) {
      auto shaped = dyn_cast<ShapedType>(argument.old.getType());
      extents += shaped ? shaped.getNumDynamicDims() : 0;
      auto bounds = argument.attributes.getAs<ArrayAttr>(boundsAttr);
      for (auto [d, extent] : llvm::enumerate(shaped ? shaped.getShape() : ArrayRef<int64_t>())) {
        argument.sizes.push_back(addIndex(argument.old.getLoc(), extent));
        if (bounds && ShapedType::isDynamic(extent))
          newAttributes.back() = builder.getDictionaryAttr(NamedAttribute(boundsAttr, bounds[d]));
      }
      if (auto layout = stridedLayout(argument.old.getType()))
        for (int64_t stride : layout.getStrides())
          argument.strides.push_back(addIndex(argument.old.getLoc(), stride));
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
      StridedLayoutAttr layout = stridedLayout(argument.old.getType());
      if (shaped && (shaped.getRank() > 0 || layout))
        replacement = memref::ReinterpretCastOp::create(
            builder, loc,
            MemRefType::get(shaped.getShape(), shaped.getElementType(),
                            layout ? MemRefLayoutAttrInterface(layout) : nullptr),
            replacement, builder.getIndexAttr(0), argument.sizes,
            layout ? argument.strides
                   : memref::computeStridesIRBlock(loc, builder, argument.sizes));
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
