#include "ir/Memory/Allocations.h"

#include "ir/Plim/ValueBounds.h"
#include "support/CheckedMath.h"
#include "targets/AllocationOptions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace plim::ir {

Positions::Positions(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions.try_emplace(op, positions.size()); });
}

Life lifeOf(Operation *allocation) {
  Life life;
  Block *home = allocation->getBlock();
  SmallVector<Value> names = {allocation->getResult(0)};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (auto release = dyn_cast<memref::DeallocOp>(user)) {
        if (name != allocation->getResult(0) || user->getBlock() != home || life.release)
          life.carried = true;
        life.release = release;
        continue;
      }
      Operation *top = home->findAncestorOpInBlock(*user);
      if (!top)
        life.carried = true; // a block that is only reached from this one
      else if (!life.lastUse || life.lastUse->isBeforeInBlock(top))
        life.lastUse = top;
      life.returned |= isa<func::ReturnOp>(user);
      // A callee cannot keep a buffer but by returning it.
      auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
      if (user->hasTrait<OpTrait::IsTerminator>() || isa<LoopLikeOpInterface>(user) ||
          (isa<CallOpInterface>(user) && llvm::any_of(user->getResultTypes(), isBuffer)))
        life.carried = true;
      if (isa<CallOpInterface, CallOp>(user))
        continue;
      for (Value result : user->getResults())
        if (isBuffer(result.getType())) {
          // Views and choices are followed; whatever else makes a buffer of a buffer may keep it.
          if (!isa<ViewLikeOpInterface, arith::SelectOp>(user))
            life.carried = true;
          names.push_back(result);
        }
    }
  }
  if (life.carried)
    life.release = {};
  life.inEntry = home == &allocation->getParentOfType<func::FuncOp>().front();
  // It ends with the frame, wherever it is carried in between.
  if (auto alloc = dyn_cast<AllocOp>(allocation); alloc && alloc.getAutomatic() && life.inEntry)
    life.carried = life.returned;
  return life;
}

std::pair<int64_t, int64_t> interval(AllocOp alloc, const Life &life, const Positions &positions) {
  return {positions[alloc], life.release ? positions[life.release] + 1 : positions.size()};
}

std::optional<int64_t> boundBytes(AllocOp alloc) {
  // A bound beyond any memory is none, and sums of bounds never overflow.
  constexpr int64_t largest = int64_t(1) << 46;
  ShapedType type = alloc.getType();
  std::optional<int64_t> most = alloc.getMaxBytes();
  if (most && *most > largest)
    most.reset();
  int64_t bytes = elementBytes(type.getElementType());
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      std::optional<int64_t> bound = greatestKnown(*dynamic++);
      if (!bound)
        return most;
      extent = std::max<int64_t>(*bound, 0);
    }
    std::optional<int64_t> larger = checkedMul(bytes, extent);
    if (!larger || *larger > largest)
      return most;
    bytes = *larger;
  }
  return most ? std::min(*most, bytes) : bytes;
}

namespace {

void apply(DictionaryAttr attributes, StringRef level, Limits &limits) {
  if (!attributes)
    return;
  if (auto value = attributes.getAs<IntegerAttr>("max_stack_alloca_bytes"))
    limits.single = {value.getInt(), level};
  if (auto value = attributes.getAs<IntegerAttr>("stack_budget_bytes"))
    limits.budget = {value.getInt(), level};
  if (auto value = attributes.getAs<BoolAttr>("external_workspace_only")) {
    limits.noStack = value.getValue() ? "only the workspace may be used" : "";
    limits.noStackLevel = level;
  }
}

DictionaryAttr limitsOf(Operation *op, StringRef name) {
  return op->getAttrOfType<DictionaryAttr>(name);
}

} // namespace

Limits limitsFor(Operation *op, const targets::DeviceDescription &device, StringRef policy) {
  Limits limits{{device.maxStackAllocaBytes}, {device.stackBudgetBytes}, {}, "target"};
  if (device.externalWorkspaceOnly)
    limits.noStack = "only the workspace may be used";
  auto module = op->getParentOfType<ModuleOp>();
  apply(limitsOf(module, engineLimitsAttr), "engine", limits);
  apply(limitsOf(module, limitsAttr), "load", limits);
  if (policy == "workspace" || policy == "heap")
    limits.single = {0, "policy"};
  else if (policy == "stack")
    limits.single = {INT64_MAX, "policy"};
  else if (policy.consume_front("fixed:")) {
    limits.single.level = "policy";
    (void)policy.getAsInteger(10, limits.single.bytes);
  }
  auto function = dyn_cast<func::FuncOp>(op);
  apply(limitsOf(function ? function : op->getParentOfType<func::FuncOp>(), limitsAttr), "function",
        limits);
  if (auto alloc = dyn_cast<AllocOp>(op))
    apply(alloc.getLimitsAttr(), "allocation", limits);
  // What the device cannot do is stronger than anybody's wish.
  if (!device.stackAddressable) {
    limits.noStack = "device '" + device.name + "' has no addressable stack";
    limits.noStackLevel = "target";
  }
  return limits;
}

int64_t workspaceAlignment(ModuleOp module, const targets::DeviceDescription &device) {
  int64_t alignment = device.workspaceAlignment;
  for (StringRef name : {engineLimitsAttr, limitsAttr})
    if (DictionaryAttr limits = limitsOf(module, name))
      if (auto value = limits.getAs<IntegerAttr>("workspace_alignment"))
        alignment = value.getInt();
  // A cache line each: neighbours written by two threads do not disturb each other.
  return std::max<int64_t>(alignment, 64);
}

LogicalResult checkPolicy(ModuleOp module, StringRef policy) {
  Status status = targets::checkPolicy(policy);
  return status.ok() ? success() : LogicalResult(module.emitError() << status.message());
}

llvm::DenseSet<StringAttr> calledFunctions(ModuleOp module) {
  llvm::DenseSet<StringAttr> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
  return called;
}

} // namespace plim::ir
