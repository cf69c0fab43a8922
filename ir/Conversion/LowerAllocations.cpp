#include "ir/Conversion/LowerAllocations.h"

#include "ir/Conversion/FunctionContext.h"
#include "ir/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>

using namespace mlir;

namespace plim::ir {

namespace {

/// At its offset, and marked for plim-annotate-aliases. An offset of zero is folded, so the base
/// stands for all at it.
Value placeInMemory(OpBuilder &builder, AllocOp op, StringRef pool, Value base) {
  int64_t begin = *op.getOffset(), end = begin + int64_t(*op.getBytes());
  auto address =
      LLVM::GEPOp::create(builder, op.getLoc(), base.getType(), builder.getI8Type(), base,
                          constant64(builder, op.getLoc(), begin), LLVM::GEPNoWrapFlags::inbounds);
  Operation *marked = begin == 0 ? base.getDefiningOp() : address;
  if (auto before = marked->getAttrOfType<DictionaryAttr>(placeAttr))
    end = std::max(end, before.getAs<DenseI64ArrayAttr>("bytes")[1]);
  marked->setAttr(placeAttr,
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr("bytes", builder.getDenseI64ArrayAttr({begin, end})),
                       builder.getNamedAttr("memory", builder.getStringAttr(pool))}));
  return address;
}

/// Memory in the frame of the function; loops do not make it grow.
Value frameMemory(AllocOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  OpBuilder frame = OpBuilder::atBlockBegin(&function.front());
  int64_t bytes = *op.getBytes();
  return LLVM::AllocaOp::create(frame, op.getLoc(), LLVM::LLVMPointerType::get(op.getContext()),
                                frame.getI8Type(),
                                constant64(frame, op.getLoc(), std::max<int64_t>(bytes, 1)),
                                unsigned(op.getFrameAlignment()));
}

/// Rounded up to the alignment that the plan of the function needs.
Value alignBase(OpBuilder &builder, func::FuncOp function, Value base) {
  auto alignment = function->getAttrOfType<IntegerAttr>(workspaceAlignmentAttr);
  if (!alignment || alignment.getInt() <= abi::bufferAlignment)
    return base;
  Location loc = function.getLoc();
  Type word = builder.getI64Type();
  Value address = LLVM::PtrToIntOp::create(builder, loc, word, base);
  Value negative = LLVM::SubOp::create(builder, loc, constant64(builder, loc, 0), address);
  Value padding =
      LLVM::AndOp::create(builder, loc, negative, constant64(builder, loc, alignment.getInt() - 1));
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base, padding);
}

Value slabOf(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  Value base = loadAt(builder, function.getLoc(), LLVM::LLVMPointerType::get(function.getContext()),
                      function.getArgument(0), abi::contextWorkspaceOffset);
  return alignBase(builder, function, base);
}

Value poolOf(func::FuncOp function, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  Type pointer = LLVM::LLVMPointerType::get(function.getContext());
  auto pools = function->getParentOfType<ModuleOp>()
                   ->getAttrOfType<ArrayAttr>(poolsAttr)
                   .getAsValueRange<StringAttr>();
  auto index = std::distance(pools.begin(), llvm::find(pools, name));
  Value array =
      loadAt(builder, function.getLoc(), pointer, function.getArgument(0), abi::contextPoolsOffset);
  return loadAt(builder, function.getLoc(), pointer, array, int32_t(8 * index));
}

} // namespace

bool isOnStack(AllocOp alloc) { return alloc.getScope() == "global.stack"; }

void LowerAllocations::lowerPlaced(func::FuncOp function) {
  SmallVector<AllocOp> placed;
  function.walk([&](AllocOp alloc) {
    if (isOnStack(alloc) || alloc.isPlanned())
      placed.push_back(alloc);
  });
  Bases bases;
  for (AllocOp alloc : placed)
    lowerPlaced(alloc, bases);
}

void LowerAllocations::lowerPlaced(AllocOp op, Bases &bases) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value memory;
  if (isOnStack(op)) {
    memory = frameMemory(op);
    // With the marks of their lives LLVM gives allocations that do not overlap the same memory.
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<memref::DeallocOp>(user)) {
        LLVM::LifetimeStartOp::create(builder, loc, memory);
        OpBuilder atEnd(user);
        LLVM::LifetimeEndOp::create(atEnd, user->getLoc(), memory);
        user->erase();
      }
  } else {
    auto function = op->getParentOfType<func::FuncOp>();
    StringRef pool = Scope::parse(op.getScope())->pool;
    Value &base = bases[pool];
    if (!base)
      base = function->hasAttr(dispatchFunctionAttr) ? scratchOf(function)
             : pool.empty()                          ? slabOf(function)
                                                     : poolOf(function, pool);
    builder.setInsertionPoint(op); // taking scratch has split the block
    memory = op.getSlot() ? placeOfCall(op, base) : placeInMemory(builder, op, pool, base);
    builder.setInsertionPoint(op);
  }
  SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/true);
  op.replaceAllUsesWith(
      makeMemref(builder, loc, cast<MemRefType>(op.getResult().getType()), memory, sizes));
  op.erase();
}

void LowerAllocations::lower(AllocOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getResult().getType());
  SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/false);
  Value memory = allocate(builder, op, sizes);
  leaveIfNull(builder, memory, op);
  OpBuilder after(op);
  SmallVector<Value> dynamicSizes;
  for (auto [extent, size] : llvm::zip(type.getShape(), sizes))
    if (ShapedType::isDynamic(extent))
      dynamicSizes.push_back(size);
  Value buffer = makeMemref(after, loc, type, memory, dynamicSizes);
  if (auto result = views.resultOf(op)) {
    packView(after, loc,
             result->type == type ? buffer
                                  : makeMemref(after, loc, result->type, memory, dynamicSizes),
             result->views, unsigned(result->index));
    views.forget(op);
  }
  op.replaceAllUsesWith(buffer);
  op.erase();
}

void LowerAllocations::lower(memref::DeallocOp op) {
  OpBuilder builder(op);
  Value pointer = pointerOf(builder, op.getLoc(), op.getMemref());
  LLVM::CallOp::create(builder, op.getLoc(), runtime.release, ValueRange{contextOf(op), pointer});
  op->erase();
}

/// Where the call's plan has it; if it has no place there, memory of the allocator until the call
/// ends, or a failure that says why there is none.
Value LowerAllocations::placeOfCall(AllocOp op, Value base) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value offsets = loadAt(builder, loc, base.getType(), contextOf(op), abi::contextOffsetsOffset);
  Value offset = loadAt(builder, loc, builder.getI64Type(), offsets, int32_t(8 * *op.getSlot()));
  SmallVector<Value> sizes = extentsOf(builder, op, /*onlyDynamic=*/false);
  Value isMissing = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, offset,
                                         constant64(builder, loc, 0));
  Value planned = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                      offset, LLVM::GEPNoWrapFlags::inbounds);
  Block *before = op->getBlock(), *after = before->splitBlock(op), *otherwise = new Block();
  otherwise->insertBefore(after);
  Value memory = after->addArgument(base.getType(), loc);
  builder.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(builder, loc, isMissing, otherwise, ValueRange(), after,
                           ValueRange(planned));
  builder.setInsertionPointToEnd(otherwise);
  Value allocated = allocate(builder, op, sizes);
  auto join = cf::BranchOp::create(builder, loc, after, ValueRange(allocated));
  builder.setInsertionPoint(join);
  leaveIfNull(builder, allocated, join);
  return memory;
}

/// Calls the allocator for `op`, where `builder` stands.
Value LowerAllocations::allocate(OpBuilder &builder, AllocOp op, ValueRange sizes) {
  Location loc = op.getLoc();
  SmallVector<Value> operands = {contextOf(op)}, extents(sizes);
  const std::optional<ArgumentViews::Result> result = views.resultOf(op);
  if (result) {
    operands.push_back(constant64(builder, loc, result->index));
    // As the caller knows it.
    if (result->type != op.getType()) {
      extents.clear();
      for (int64_t extent : result->type.getShape())
        extents.push_back(constant64(builder, loc, extent));
    }
  }
  Value array = frames.start(op).array(builder, op->getParentOfType<func::FuncOp>(), extents);
  operands.append({constant64(builder, loc, extents.size()), array,
                   constant64(builder, loc, elementBytes(op.getType().getElementType()))});
  return LLVM::CallOp::create(builder, loc, result ? runtime.allocateResult : runtime.allocate,
                              operands)
      .getResult();
}

/// Taken where the function begins, which is left if there is none.
Value LowerAllocations::scratchOf(func::FuncOp function) {
  // Memory in the frame is taken before: in a block behind it would be no part of the frame's size.
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (auto memory : function.front().getOps<LLVM::AllocaOp>())
    builder.setInsertionPointAfter(memory);
  Location loc = function.getLoc();
  int64_t bytes = function->getAttrOfType<IntegerAttr>(workspaceBytesAttr).getInt();
  Value memory =
      LLVM::CallOp::create(builder, loc, runtime.scratch,
                           ValueRange{function.getArgument(0), constant64(builder, loc, bytes)})
          .getResult();
  Operation *next = &*builder.getInsertionPoint();
  leaveIfNull(builder, memory, next);
  builder.setInsertionPoint(next);
  return alignBase(builder, function, memory);
}

/// The extents of an allocation, i64.
SmallVector<Value> LowerAllocations::extentsOf(OpBuilder &builder, AllocOp op,
                                               bool onlyDynamic) const {
  SmallVector<Value> sizes;
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t extent : op.getType().getShape())
    if (ShapedType::isDynamic(extent))
      sizes.push_back(arith::IndexCastOp::create(builder, op.getLoc(), builder.getI64Type(),
                                                 views.again(builder, op.getLoc(), *dynamic++)));
    else if (!onlyDynamic)
      sizes.push_back(constant64(builder, op.getLoc(), extent));
  return sizes;
}

} // namespace plim::ir
