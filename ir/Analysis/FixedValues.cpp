#include "ir/Analysis/FixedValues.h"
#include "ir/Plim/Plim.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace plim::ir;

FixedValues::FixedValues(ModuleOp module) : symbols(module) {
  if (!module->hasAttr(DLTIDialect::kTargetSystemDescAttrName))
    return;
  auto target = plim::targets::dlti::targetOf(module);
  hasPlace = target && target->devices.front().pageBytes > 0 &&
             !target->devices.front().externalWorkspaceOnly;
}

bool FixedValues::isFixed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isFixed(op);
}

bool FixedValues::isFixed(Operation *op) {
  if (!hasPlace)
    return false;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  const bool result = compute(op);
  known[op] = result;
  return result;
}

bool FixedValues::compute(Operation *op) {
  if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
    auto global = symbols.lookup<memref::GlobalOp>(get.getName());
    const bool isParameter = global && !global.getInitialValue();
    return global && (global.getConstant() || isParameter) && !global->hasAttr(scopeAttr);
  }
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
    return !toTensor.getWritable() && isFixed(toTensor.getBuffer());
  if (!isa<linalg::LinalgOp>(op) &&
      !isa_and_nonnull<arith::ArithDialect, math::MathDialect, tensor::TensorDialect>(
          op->getDialect()))
    return false;
  if (op->getNumResults() == 0 || !isPure(op) || !llvm::all_of(op->getResultTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor ? tensor.hasStaticShape() : type.isIntOrIndexOrFloat();
      }))
    return false;
  llvm::SetVector<Value> used;
  used.insert_range(op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return llvm::all_of(used, [&](Value value) { return isFixed(value); });
}
