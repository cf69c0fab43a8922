#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"
#include "support/CheckedMath.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPLACEALLOCATIONS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::checkedMul;

namespace {

/// The limits that a policy and a target come to.
struct Limits {
  int64_t single = 0;
  int64_t budget = 0;
  /// What the author may put on the stack, whatever the policy.
  int64_t author = 0;
};

/// Most bytes that an allocation can take; none if an extent has no constant bound. Import has
/// checked that static sizes do not overflow.
std::optional<int64_t> boundBytes(memref::AllocOp allocation) {
  MemRefType type = allocation.getType();
  if (!type.getLayout().isIdentity())
    return std::nullopt;
  int64_t bytes = elementBytes(type.getElementType());
  auto dynamic = allocation.getDynamicSizes().begin();
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
          presburger::BoundType::UB, {*dynamic++, std::nullopt}, /*stopCondition=*/nullptr,
          /*closedUB=*/true);
      if (failed(bound))
        return std::nullopt;
      extent = std::max<int64_t>(*bound, 0);
    }
    std::optional<int64_t> larger = checkedMul(bytes, extent);
    if (!larger)
      return std::nullopt;
    bytes = *larger;
  }
  return bytes;
}

/// Can the buffer outlive the block that allocates it, or be released under another name? Only one
/// that cannot may be given the same memory each time.
bool escapes(Operation *allocation) {
  SmallVector<Value> names = {allocation->getResult(0)};
  bool released = false;
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<memref::DeallocOp>(user)) {
        if (name != allocation->getResult(0) || user->getBlock() != allocation->getBlock())
          return true;
        released = true;
        continue;
      }
      // A callee cannot keep what its caller has on the stack, unless it hands it back.
      if (isa<memref::AllocaOp>(allocation) && isa<CallOpInterface>(user) &&
          llvm::none_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        continue;
      if (user->hasTrait<OpTrait::IsTerminator>() ||
          isa<CallOpInterface, LoopLikeOpInterface>(user))
        return true;
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType())) {
          // Views are followed; whatever else makes a buffer of a buffer may keep it.
          if (!isa<ViewLikeOpInterface>(user))
            return true;
          names.push_back(result);
        }
    }
  }
  Block *entry = &allocation->getParentOfType<func::FuncOp>().front();
  return !released && isa<memref::AllocOp>(allocation) && allocation->getBlock() != entry;
}

struct PlaceAllocations : plim::ir::impl::PlimPlaceAllocationsBase<PlaceAllocations> {
  using PlimPlaceAllocationsBase::PlimPlaceAllocationsBase;

  void runOnOperation() override {
    FailureOr<plim::targets::TargetDescription> target =
        plim::targets::dlti::fromDlti(getOperation());
    if (failed(target))
      return signalPassFailure();
    FailureOr<Limits> limits = limitsOf(target->devices[0]);
    if (failed(limits))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool isDispatch = function->hasAttr(dispatchFunctionAttr);
      if (!isDispatch && !function->hasAttr(kernelAttr)) {
        placeInHost(function);
        if (failed(placeOnStack(function, *limits, 0)))
          return signalPassFailure();
      } else if (failed(placeInKernel(function, *limits, isDispatch))) {
        return signalPassFailure();
      }
    }
  }

  FailureOr<Limits> limitsOf(const plim::targets::DeviceDescription &device) {
    Limits limits{device.maxStackAllocaBytes,
                  std::max<int64_t>(device.stackBudgetBytes - stackReserveBytes, 0)};
    StringRef name = policy;
    if (name == "workspace" || name == "heap") {
      limits = {};
    } else if (name == "stack") {
      limits.single = limits.budget;
    } else if (name != "auto" && !(name.consume_front("fixed:") &&
                                   !name.getAsInteger(10, limits.single) && limits.single >= 0)) {
      getOperation().emitError() << "unknown allocation policy '" << policy
                                 << "'; known are auto, stack, workspace, heap and fixed:N";
      return failure();
    }
    // What the device cannot do is stronger than any policy.
    if (device.externalWorkspaceOnly || !device.stackAddressable)
      return Limits{};
    limits.author = device.stackBudgetBytes;
    return limits;
  }

  void mark(Operation *allocation, StringRef scope, const Twine &reason) {
    allocation->setAttr(scopeAttr, StringAttr::get(&getContext(), scope));
    allocation->setAttr(reasonAttr, StringAttr::get(&getContext(), reason));
  }

  LogicalResult placeInKernel(func::FuncOp function, Limits limits, bool isDispatch) {
    SmallVector<std::pair<memref::AllocOp, std::optional<int64_t>>> allocations;
    function.walk([&](memref::AllocOp allocation) {
      allocations.push_back({allocation, boundBytes(allocation)});
    });
    // Small ones first: they gain most from the stack.
    llvm::sort(allocations, [](auto &a, auto &b) {
      return a.second.value_or(INT64_MAX) < b.second.value_or(INT64_MAX);
    });
    int64_t used = 0;
    for (auto [allocation, bytes] : allocations) {
      if (!bytes || escapes(allocation)) {
        mark(allocation, scopeWorkspace,
             bytes ? "it may outlive the block that allocates it"
                   : "its size has no bound that is known at load");
        ++demoted;
      } else if (*bytes > limits.single || used + *bytes > limits.budget) {
        auto why = *bytes > limits.single
                       ? (Twine(*bytes) + " bytes exceed the limit of " + Twine(limits.single) +
                          " for one stack allocation")
                             .str()
                       : (Twine(*bytes) + " bytes do not fit: " + Twine(used) +
                          " of the stack budget of " + Twine(limits.budget) + " are taken")
                             .str();
        ++demoted;
        // What the author of a kernel allocates stays until its release, from the allocator.
        if (isDispatch) {
          OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
          auto scratch = memref::AllocOp::create(builder, allocation.getLoc(), flatType(*bytes));
          scratch->setAttr(scratchAttr, builder.getUnitAttr());
          mark(scratch, scopeWorkspace, why);
          replaceByView(allocation, scratch);
          ++inScratch;
        } else {
          mark(allocation, scopeWorkspace, why);
        }
      } else {
        used += *bytes;
        OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
        auto alloca = memref::AllocaOp::create(builder, allocation.getLoc(), flatType(*bytes),
                                               builder.getI64IntegerAttr(std::max<int64_t>(
                                                   64, allocation.getAlignment().value_or(0))));
        mark(alloca, scopeStack,
             Twine(*bytes) + " bytes are within the limit of " + Twine(limits.single) +
                 " for one stack allocation");
        replaceByView(allocation, alloca);
        ++onStack;
      }
    }
    return placeOnStack(function, limits, used);
  }

  /// What the author wants on the stack, beside the `used` bytes that placement put there: hoisted,
  /// so that a loop does not grow the stack, and within the budget.
  LogicalResult placeOnStack(func::FuncOp function, Limits limits, int64_t used) {
    bool overflow = false;
    function.walk([&](memref::AllocaOp alloca) {
      if (alloca->hasAttr(scopeAttr))
        return;
      int64_t bytes =
          elementBytes(alloca.getType().getElementType()) * alloca.getType().getNumElements();
      if (bytes > limits.author - used) {
        alloca.emitError() << "allocates " << bytes << " bytes on the stack, where "
                           << limits.author - used << " are left; use memref.alloc, which the "
                           << "engine places";
        overflow = true;
        return;
      }
      used += bytes;
      mark(alloca, scopeStack, "requested by the author");
      if (!escapes(alloca)) {
        alloca->moveBefore(&function.front(), function.front().begin());
      } else if (alloca->getBlock() != &function.front()) {
        alloca.emitError()
            << "allocates on the stack in a block that it may outlive; move it to the "
               "beginning of the function";
        overflow = true;
      }
    });
    return failure(overflow);
  }

  MemRefType flatType(int64_t bytes) {
    return MemRefType::get({std::max<int64_t>(bytes, 1)}, IntegerType::get(&getContext(), 8));
  }

  static void replaceByView(memref::AllocOp allocation, Value bytes) {
    OpBuilder builder(allocation);
    Value zero = arith::ConstantIndexOp::create(builder, allocation.getLoc(), 0);
    Value view = memref::ViewOp::create(builder, allocation.getLoc(), allocation.getType(), bytes,
                                        zero, allocation.getDynamicSizes());
    for (Operation *user : llvm::make_early_inc_range(allocation->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    allocation.replaceAllUsesWith(view);
    allocation.erase();
  }

  void placeInHost(func::FuncOp function) {
    StringRef why = policy == "heap"
                        ? "policy heap: every buffer from the allocator"
                        : "a host buffer outlives the frames of the threads that use it";
    function.walk([&](memref::AllocOp allocation) { mark(allocation, scopeWorkspace, why); });
  }
};

} // namespace
