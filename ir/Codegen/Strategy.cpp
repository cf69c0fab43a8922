#include "ir/Codegen/Strategy.h"

using namespace mlir;
using namespace plim::ir;

void plim::ir::recordStrategy(func::FuncOp function, Attribute decision) {
  SmallVector<Attribute> decisions;
  if (auto before = function->getAttrOfType<ArrayAttr>(strategyAttr))
    decisions.assign(before.begin(), before.end());
  if (!llvm::is_contained(decisions, decision))
    decisions.push_back(decision);
  function->setAttr(strategyAttr, ArrayAttr::get(function.getContext(), decisions));
}
