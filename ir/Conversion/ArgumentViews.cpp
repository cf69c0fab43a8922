#include "ir/Conversion/ArgumentViews.h"

#include "ir/Conversion/LowerAllocations.h"
#include "ir/Conversion/Passes.h"
#include "ir/Conversion/RuntimeCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace plim::ir {

namespace {

/// The allocation whose memory a result has: as a whole, by another shape of known extents perhaps.
AllocOp allocationOf(Value result) {
  if (auto shape = result.getDefiningOp<memref::ReinterpretCastOp>()) {
    auto to = shape.getType(), from = cast<MemRefType>(shape.getSource().getType());
    if (to.hasStaticShape() && from.hasStaticShape() && to.getLayout().isIdentity() &&
        from.getLayout().isIdentity() && to.getNumElements() == from.getNumElements())
      return shape.getSource().getDefiningOp<AllocOp>();
  }
  return result.getDefiningOp<AllocOp>();
}

} // namespace

void ArgumentViews::take(func::FuncOp function) {
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(function.getContext());
  Block &entry = function.front();
  const unsigned count = entry.getNumArguments();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Value views = entry.addArgument(pointer, loc), resultViews = entry.addArgument(pointer, loc);
  for (unsigned i = 1; i < count; ++i) {
    Value value = unpackView(builder, loc, entry.getArgument(i).getType(), views, i - 1);
    entry.getArgument(i).replaceAllUsesWith(value);
    unpacked[value] = {views, i - 1};
  }
  entry.eraseArguments(1, count - 1);
  function.setAllArgAttrs(ArrayRef<DictionaryAttr>());
  function.setAllResultAttrs(ArrayRef<DictionaryAttr>());
  auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
  for (func::ReturnOp op : returns) {
    builder.setInsertionPoint(op);
    for (auto [index, value] : llvm::enumerate(op.getOperands())) {
      AllocOp alloc = returns.size() == 1 ? allocationOf(value) : AllocOp();
      if (!alloc || isOnStack(alloc) || alloc.isPlanned() ||
          !results
               .try_emplace(alloc, int64_t(index), cast<MemRefType>(value.getType()), resultViews)
               .second)
        packView(builder, op.getLoc(), value, resultViews, unsigned(index));
    }
    op->setOperands({});
  }
  function.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
  function->setAttr(takesViewsAttr, builder.getUnitAttr());
}

Value ArgumentViews::again(OpBuilder &builder, Location loc, Value value) const {
  if (auto argument = unpacked.find(value); argument != unpacked.end())
    return unpackView(builder, loc, value.getType(), argument->second.first,
                      argument->second.second);
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<memref::ReinterpretCastOp, memref::CastOp, memref::DimOp>(op))
    return value;
  Value whole = op->getOperand(0), unpackedWhole = again(builder, loc, whole);
  if (whole == unpackedWhole)
    return value;
  IRMapping mapping;
  mapping.map(whole, unpackedWhole);
  return builder.clone(*op, mapping)->getResult(0);
}

std::optional<ArgumentViews::Result> ArgumentViews::resultOf(AllocOp alloc) const {
  auto result = results.find(alloc);
  return result == results.end() ? std::nullopt : std::optional(result->second);
}

} // namespace plim::ir
