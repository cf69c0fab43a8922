#include "ir/Memory/AllocationUse.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <algorithm>

using namespace mlir;

namespace plim::ir {

namespace {

/// A trip count that is not known.
constexpr double assumedCount = 16;
/// Larger ones stay in memory, whatever their indices are.
constexpr int64_t registerBytes = 2048;

double tripsOf(LoopLikeOpInterface loop) {
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!lower || !upper || !step)
    return assumedCount;
  double trips = 1;
  for (auto [l, u, s] : llvm::zip(*lower, *upper, *step)) {
    std::optional<APInt> count =
        constantTripCount(l, u, s, /*isSigned=*/true, scf::computeUbMinusLb);
    trips *= count ? double(count->getSExtValue()) : assumedCount;
  }
  return trips;
}

/// How often each byte is used while the buffer lives, and whether it will be in memory at all.
void rateAccesses(Allocation &allocation) {
  double accesses = 0;
  bool isConstant = allocation.op.getType().hasStaticShape() && *allocation.bytes > 0 &&
                    *allocation.bytes <= registerBytes;
  SmallVector<Value> names = {allocation.op.getResult()};
  while (!names.empty()) {
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<memref::DeallocOp>(user))
        continue;
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType()) && !isa<CallOpInterface, CallOp>(user))
          names.push_back(result);
      double times = 1;
      for (Operation *parent = user->getParentOp();
           parent && parent != allocation.op->getParentOp(); parent = parent->getParentOp())
        if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
          times *= tripsOf(loop);
      if (isa<linalg::LinalgOp, memref::CopyOp, DispatchOp>(user))
        times *= double(*allocation.bytes);
      accesses += times;
      auto isIndex = [](Value value) {
        return !value.getType().isIndex() || matchPattern(value, m_Constant());
      };
      isConstant &= isa<memref::LoadOp, memref::StoreOp, vector::TransferReadOp,
                        vector::TransferWriteOp, vector::LoadOp, vector::StoreOp>(user) &&
                    llvm::all_of(user->getOperands(), isIndex);
    }
  }
  allocation.inRegisters = isConstant && accesses > 0;
  allocation.gain = accesses / double(std::max<int64_t>(*allocation.bytes, 1));
}

void collect(func::FuncOp function, StringRef host, std::vector<Allocation> &allocations) {
  if (function.isDeclaration())
    return;
  Positions positions(function);
  function.walk([&](AllocOp op) {
    Allocation &allocation = allocations.emplace_back();
    allocation.index = allocations.size();
    allocation.op = op;
    allocation.function = function;
    allocation.scope = *Scope::parse(op.getScope());
    // Without an analysis of its own IR belongs to the host.
    if (!op.getAccessorsAttr())
      op.setAccessorsAttr(Builder(op.getContext()).getStrArrayAttr({host}));
    allocation.life = lifeOf(op);
    allocation.live = interval(op, allocation.life, positions);
    allocation.bytes = boundBytes(op);
    if (allocation.bytes) {
      rateAccesses(allocation);
      op.setBytes(*allocation.bytes);
    }
  });
}

} // namespace

std::vector<Allocation> allocationsOf(ModuleOp module, StringRef host) {
  std::vector<Allocation> allocations;
  for (auto function : module.getOps<func::FuncOp>())
    collect(function, host, allocations);
  return allocations;
}

} // namespace plim::ir
