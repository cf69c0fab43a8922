#include "ir/Import/Supported.h"

#include "ir/Analysis/BufferUses.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// No object is larger: a quarter of what x86-64 and AArch64 can address, and far from where the
/// arithmetic on byte offsets in generated code could wrap.
constexpr int64_t maxBytes = int64_t(1) << 46;

/// Types that a public function may take and return, as elements, and all but complex ones as scalars.
bool isBoundaryElement(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  if (type.isIndex() || type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      isStorageFloat(type))
    return true;
  return type.isSignlessInteger() &&
         llvm::is_contained({1u, 2u, 4u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth());
}

/// Code for a vector grows with its elements: beyond this it would take minutes to compile.
constexpr int64_t maxVectorElements = 1 << 16;

LogicalResult checkSize(Operation *op, Type type) {
  if (auto vector = dyn_cast<VectorType>(type);
      vector && vector.getNumElements() > maxVectorElements)
    return op->emitError() << "type " << type << " has more than " << maxVectorElements
                           << " elements; loops over a tensor or memref have no such limit";
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !isa<RankedTensorType, MemRefType>(type))
    return success();
  int64_t bytes = elementBytes(shaped.getElementType());
  for (int64_t extent : shaped.getShape()) {
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> larger = checkedMul(bytes, extent);
    if (!larger || *larger > maxBytes)
      return op->emitError() << "type " << type << " is larger than " << maxBytes << " bytes";
    bytes = *larger;
  }
  return success();
}

/// Elements that every later stage knows the size of.
bool isElement(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  return type.isIndex() || isa<FloatType>(type) ||
         (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 64);
}

LogicalResult checkType(Operation *op, Type type);

LogicalResult checkOp(Operation *op) {
  if (isa<ContextOp>(op))
    for (OpOperand &use : op->getUses())
      if (!isa<CallOp>(use.getOwner()) || use.getOperandNumber() != 0)
        return checkType(use.getOwner(), use.get().getType());
  if (isa<func::CallIndirectOp>(op))
    return op->emitError() << "calls a function that only a run knows; such a call has no bounded "
                              "stack";
  if (auto global = dyn_cast<memref::GlobalOp>(op); global && !global.getInitialValue())
    return op->emitError() << "global '" << global.getSymName()
                           << "' has no value; a parameter is an extern ml_program.global";
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!type.getLayout().isIdentity() || type.getMemorySpace())
      return op->emitError() << "allocates " << type
                             << "; an allocation must be dense, row-major, in the default memory "
                                "space";
    if (isa<memref::AllocaOp>(op) && !type.hasStaticShape())
      return op->emitError() << "a stack allocation of dynamic size can overflow the stack; use "
                                "memref.alloc, which the engine places";
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    bool onTensors = llvm::any_of(op->getOperandTypes(), [](Type t) { return isa<TensorType>(t); });
    bool onBuffers = llvm::any_of(op->getOperandTypes(), [](Type t) { return isa<MemRefType>(t); });
    if (onTensors && onBuffers)
      return op->emitError() << "mixes tensors and memrefs";
    WalkResult body = op->walk([&](Operation *nested) {
      return nested == op || !onTensors || isMemoryEffectFree(nested) ? WalkResult::advance()
                                                                      : WalkResult::interrupt();
    });
    if (body.wasInterrupted())
      return op->emitError()
             << "accesses memory in its body; an op on tensors computes values only";
  }
  return success();
}

LogicalResult checkType(Operation *op, Type type) {
  if (isa<ContextType>(type) && !isa<ContextOp>(op))
    return op->emitError() << "passes the context on; it goes from plim.context to calls of "
                              "functions of the host application and nowhere else";
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.isScalable())
    return op->emitError() << "scalable vector type " << type << " is not supported";
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasRank())
    return op->emitError() << "type " << type << " has no rank; buffers and tensors need one";
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !isElement(shaped.getElementType()))
    return op->emitError() << "type " << type << " has unsupported elements";
  // As an element it has its bits together, where one in each byte is written.
  if (auto shaped = dyn_cast<ShapedType>(type))
    if (auto vector = dyn_cast<VectorType>(shaped.getElementType());
        vector && vector.getElementType().isInteger() && vector.getElementTypeBitWidth() < 8)
      return op->emitError() << "type " << type
                             << " has vectors of less than a byte for each number "
                                "as elements; give the vectors' extents to the buffer";
  if (type.isInteger() && type.getIntOrFloatBitWidth() > 64)
    return op->emitError() << "type " << type << " is wider than 64 bits";
  return checkSize(op, type);
}

/// An offset is part of the pointer that the caller passes.
bool isBoundaryLayout(MemRefType type, bool isArgument) {
  if (type.getLayout().isIdentity())
    return true;
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  return isArgument && layout &&
         (layout.getOffset() == 0 || ShapedType::isDynamic(layout.getOffset()));
}

/// No tensor that may be updated in place is a constant: said here, since whether an op does update it
/// depends on what becomes of that op.
LogicalResult checkConstants(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<memref::GetGlobalOp> constants;
  bool mayWrite = false;
  module.walk([&](Operation *op) {
    if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
      mayWrite |= toTensor.getWritable();
    if (auto get = dyn_cast<memref::GetGlobalOp>(op))
      if (symbols.lookup<memref::GlobalOp>(get.getName()).getConstant())
        constants.push_back(get);
  });
  if (!mayWrite || constants.empty())
    return success();
  BufferUses uses(module);
  LogicalResult result = success();
  for (memref::GetGlobalOp get : constants)
    uses.forEach(get, [&](OpOperand &use) {
      auto toTensor = dyn_cast<bufferization::ToTensorOp>(use.getOwner());
      if (toTensor && toTensor.getWritable())
        result = toTensor.emitError()
                 << "makes a writable tensor of '" << get.getName() << "', which is constant";
    });
  return result;
}

} // namespace

LogicalResult checkBoundary(func::FuncOp function) {
  auto check = [&](Type type, StringRef what, unsigned index) -> LogicalResult {
    bool isArgument = what == "argument";
    Type element = type;
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!shaped.hasRank() || !isa<RankedTensorType, MemRefType>(type))
        return function.emitError() << what << " #" << index << " of '" << function.getName()
                                    << "' has type " << type << "; ranked tensors, memrefs and "
                                    << "scalars can cross a function boundary";
      if (auto memref = dyn_cast<MemRefType>(type);
          memref && (memref.getMemorySpace() || !isBoundaryLayout(memref, isArgument)))
        return function.emitError()
               << what << " #" << index << " of '" << function.getName() << "' has type " << type
               << "; a memref " << what << " must be dense, row-major, "
               << (isArgument ? "or strided with offset 0 or ?, " : "")
               << "in the default memory space";
      element = shaped.getElementType();
    }
    if (isa<ComplexType>(type)) // a scalar is a word
      return function.emitError() << what << " #" << index << " of '" << function.getName()
                                  << "' is a complex scalar; pass it as a tensor or memref of "
                                     "rank 0";
    if (!isBoundaryElement(element))
      return function.emitError()
             << what << " #" << index << " of '" << function.getName()
             << "' has unsupported element type " << element
             << "; supported are i1, i2, i4, i8, i16, i32, i64, f8E4M3FN, f8E5M2, "
                "f16, bf16, f32, f64, index, complex<f32> and complex<f64>";
    return success();
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!(index == 0 && function.isExternal() && isa<ContextType>(type)) &&
        failed(check(type, "argument", index)))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(type, "result", index)))
      return failure();
  return success();
}

LogicalResult checkSupported(ModuleOp module) {
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp, ml_program::GlobalOp, memref::GlobalOp, ExternalOp>(op))
      return op.emitError() << "'" << op.getName()
                            << "' is not supported at the top level of a module";
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && failed(checkBoundary(function)))
      return failure();
  WalkResult walk = module.walk([&](Operation *op) {
    if (failed(checkOp(op)))
      return WalkResult::interrupt();
    for (Type type : op->getResultTypes())
      if (failed(checkType(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(checkType(op, argument.getType())))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted() || failed(checkConstants(module)));
}

} // namespace plim::ir
