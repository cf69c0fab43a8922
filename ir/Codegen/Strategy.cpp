#include "ir/Codegen/Strategy.h"

using namespace mlir;
using namespace plim::ir;

std::pair<int64_t, int64_t> plim::ir::tileRowsOf(const Host &host) {
  // LLVM loads so far ahead for AArch64 that accumulators of more are spilled.
  if (host.isAArch64)
    return {8, 8};
  if (host.vectorRegisters >= 32 && host.vectorBits >= 512)
    return {12, 14};
  if (host.vectorRegisters >= 32)
    return {8, 8};
  if (host.vectorBits >= 256)
    return {6, 6};
  return {4, 4}; // products need registers too
}

int64_t plim::ir::leastColumnsOf(linalg::LinalgOp op, const Product &product) {
  return isContiguousAlong(op.getMatchingIndexingMap(&op->getOpOperand(product.panel)),
                           product.column)
             ? leastColumns
             : 4;
}

bool plim::ir::hasVectorElements(linalg::LinalgOp op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
  });
}

void plim::ir::recordStrategy(func::FuncOp function, Attribute decision) {
  SmallVector<Attribute> decisions;
  if (auto before = function->getAttrOfType<ArrayAttr>(strategyAttr))
    decisions.assign(before.begin(), before.end());
  if (!llvm::is_contained(decisions, decision))
    decisions.push_back(decision);
  function->setAttr(strategyAttr, ArrayAttr::get(function.getContext(), decisions));
}
