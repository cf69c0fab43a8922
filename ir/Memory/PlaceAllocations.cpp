#include "ir/Memory/AllocationUse.h"
#include "ir/Memory/Allocations.h"
#include "ir/Memory/Passes.h"
#include "ir/Memory/Pools.h"
#include "ir/Memory/StackModel.h"
#include "ir/Plim/Plim.h"
#include "support/CheckedMath.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <tuple>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMPLACEALLOCATIONS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;
using plim::targets::DeviceDescription;
using plim::targets::MemoryDescription;
using plim::targets::MemoryKind;
using plim::targets::TargetDescription;

namespace {

/// Why a place was chosen or rejected, and the level that decided.
struct Reason {
  std::string text;
  std::string level = "analysis";
};

std::string join(ArrayAttr names) {
  std::string text;
  for (Attribute name : names)
    text += (text.empty() ? "" : ", ") + cast<StringAttr>(name).getValue().str();
  return text.empty() ? "nobody" : text;
}

bool isHostMemory(const MemoryDescription &memory) {
  return memory.kind == MemoryKind::Host || memory.kind == MemoryKind::Pinned ||
         memory.kind == MemoryKind::Unified;
}

struct PlaceAllocations : plim::ir::impl::PlimPlaceAllocationsBase<PlaceAllocations> {
  using PlimPlaceAllocationsBase::PlimPlaceAllocationsBase;

  void runOnOperation() override {
    const auto description = plim::targets::dlti::targetOf(getOperation());
    if (!description || failed(checkPolicy(getOperation(), policy)))
      return signalPassFailure();
    target = &*description;
    called = calledFunctions(getOperation());
    Pools poolsOfTarget(*target);
    pools = &poolsOfTarget;
    if (failed(pools->addConstants(getOperation())))
      return signalPassFailure();
    StackModel model(getOperation());
    stack = &model;

    std::vector<Allocation> allocations = allocationsOf(getOperation(), host().name);
    // Who has no choice comes first, then registers, then who gains most.
    llvm::sort(allocations, [](const Allocation &a, const Allocation &b) {
      auto rank = [](const Allocation &each) {
        return std::tuple(each.scope.kind == Scope::Global, !each.inRegisters, -each.gain,
                          each.index);
      };
      return rank(a) < rank(b);
    });
    bool ok = true;
    for (Allocation &allocation : allocations)
      ok &= succeeded(place(allocation));
    if (!ok)
      return signalPassFailure();

    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      int64_t sum = 0;
      function.walk([&](AllocOp alloc) {
        if (Scope::parse(alloc.getScope())->kind == Scope::Stack)
          sum += *alloc.getBytes();
      });
      auto set = [&](StringRef name, int64_t bytes) {
        function->setAttr(name, builder.getI64IntegerAttr(bytes));
      };
      set(stackSumAttr, sum);
      set(stackBytesAttr, model.need(function.getSymNameAttr()));
      Limits limits = limitsFor(function, host(), policy);
      set(stackBudgetAttr, limits.noStack.empty() ? limits.budget.bytes : 0);
    }
  }

private:
  const DeviceDescription &host() const { return target->devices[0]; }

  bool isDispatch(func::FuncOp function) const { return function->hasAttr(dispatchFunctionAttr); }
  bool isHost(func::FuncOp function) const {
    return !isDispatch(function) && !function->hasAttr(kernelAttr);
  }

  /// The places to try, best first.
  SmallVector<std::string> placesFor(Allocation &allocation) const {
    switch (allocation.scope.kind) {
    case Scope::Stack:
    case Scope::Local:
      return {"stack"};
    case Scope::Workspace:
    case Scope::Workgroup:
      return {"workspace"};
    case Scope::Pool:
      return {allocation.scope.pool.str()};
    case Scope::Global:
      break;
    }
    SmallVector<std::string> places;
    if (ArrayAttr pools = allocation.op.getCandidatePoolsAttr()) {
      for (Attribute pool : pools)
        places.push_back(cast<StringAttr>(pool).getValue().str());
      return places;
    }
    // What accelerators alone touch need not cross to them and back.
    if (policy != "heap" && !isUsedByCpu(allocation))
      for (const MemoryDescription &memory : target->memories)
        if (llvm::is_contained(deviceMemories, memory.name))
          places.push_back(memory.name);
    const size_t first = places.size();
    llvm::append_values(places, "stack", "workspace");
    // Between host buffers and their place in the slab stands nothing: the stack gains nothing there.
    if (policy == "auto" && isHost(allocation.function) && isPlannable(allocation))
      std::swap(places[first], places[first + 1]);
    for (const MemoryDescription &memory : target->memories) {
      bool isForData = memory.kind == MemoryKind::Pinned || memory.kind == MemoryKind::Unified ||
                       memory.kind == MemoryKind::Device;
      if (isForData && !llvm::is_contained(places, memory.name))
        places.push_back(memory.name);
    }
    return places;
  }

  /// Is a CPU, or a function outside of the module, among those that touch it?
  bool isUsedByCpu(Allocation &allocation) const {
    auto accessors = allocation.op.getAccessorsAttr().getAsValueRange<StringAttr>();
    return accessors.empty() || llvm::any_of(accessors, [&](StringRef name) {
             const DeviceDescription *device = target->findDevice(name.str());
             return !device || device->kind == plim::targets::DeviceKind::Cpu;
           });
  }

  /// Can it have a fixed place in memory that the call provides?
  bool isPlannable(Allocation &allocation) const {
    return allocation.bytes && !allocation.life.escapes() &&
           !called.contains(allocation.function.getSymNameAttr());
  }

  LogicalResult place(Allocation &allocation) {
    SmallVector<StringRef> legal;
    std::string rejections;
    std::optional<std::string> chosen;
    std::optional<Reason> better; // why no better place was taken; the level is that of the best
    SmallVector<std::string> places = placesFor(allocation);
    Reason reason;
    for (const std::string &name : places) {
      std::optional<Reason> why = reject(allocation, name);
      if (!why) {
        legal.push_back(name);
        if (!chosen)
          chosen = name;
        continue;
      }
      rejections += "; " + name + ": " + why->text;
      if (chosen)
        continue;
      // It will stand beside the place that is taken. What speaks of the stack says so.
      if (name != "stack")
        why->text = "not in '" + name + "': " + why->text;
      if (better)
        better->text += "; " + why->text;
      else
        better = why;
    }
    if (!chosen)
      return allocation.op.emitError()
             << "no place for this allocation"
             << (allocation.bytes ? " of " + std::to_string(*allocation.bytes) + " bytes" : "")
             << ", which is used by " << join(allocation.op.getAccessorsAttr()) << rejections;

    Builder builder(&getContext());
    AllocOp op = allocation.op;
    reason = better ? *better : reasonFor(allocation, *chosen);
    if (*chosen == "stack") {
      stack->add(allocation);
      ++onStack;
    } else if (*chosen != "workspace") {
      pools->add(allocation, *chosen);
      ++inPools;
    } else {
      ++inWorkspace;
    }
    demoted += better && *chosen != "stack";
    op.setScope(allocation.scope.kind == Scope::Workgroup ? "workgroup" : "global." + *chosen);
    op.setReason(reason.text);
    op.setLevel(reason.level);
    op.setCandidatesAttr(builder.getStrArrayAttr(legal));
    op.removeCandidatePoolsAttr();
    return success();
  }

  /// Why the best of all candidates was taken.
  Reason reasonFor(Allocation &allocation, StringRef place) {
    if (allocation.scope.kind != Scope::Global)
      return {"the author asks for it", "allocation"};
    if (allocation.op.getCandidatePoolsAttr())
      return {"the author prefers it", "allocation"};
    if (place != "stack" && place != "workspace")
      return {"nobody else than " + join(allocation.op.getAccessorsAttr()) + " uses it"};
    if (place != "stack")
      return {"planned in the slab of the call, at no cost"};
    if (allocation.inRegisters)
      return {"every access has constant indices: it becomes registers"};
    Limits limits = limitsFor(allocation.op, host(), policy);
    Limit single = singleOf(limits);
    return {std::to_string(*allocation.bytes) + " bytes are within the limit of " +
                std::to_string(single.bytes) + " for one stack allocation",
            single.level.str()};
  }

  /// Why the allocation cannot or should not live in a place; nothing if it may.
  std::optional<Reason> reject(Allocation &allocation, StringRef place) {
    if (place == "stack")
      return rejectStack(allocation);
    if (place == "workspace")
      return rejectWorkspace(allocation);
    return rejectPool(allocation, place);
  }

  std::optional<Reason> rejectStack(Allocation &allocation) {
    Limits limits = limitsFor(allocation.op, host(), policy);
    if (!limits.noStack.empty())
      return Reason{limits.noStack, limits.noStackLevel.str()};
    for (StringRef accessor : allocation.op.getAccessorsAttr().getAsValueRange<StringAttr>()) {
      if (accessor == externalAccessor)
        return Reason{"functions outside of the module use it"};
      if (accessor != host().name)
        return Reason{("device '" + accessor + "' cannot reach the stack of a thread").str()};
    }
    if (allocation.life.carried)
      return Reason{"it may outlive the block that allocates it"};
    if (allocation.life.escapes())
      return Reason{"it is allocated again and again, and never released"};
    if (!allocation.bytes)
      return Reason{"its size has no bound that is known at load"};
    int64_t bytes = *allocation.bytes;
    Limit single = singleOf(limits);
    if (allocation.scope.kind == Scope::Global && bytes > single.bytes) {
      if (policy == "workspace" || policy == "heap")
        return Reason{"policy " + policy + " keeps allocations off the stack", "policy"};
      return Reason{std::to_string(bytes) + " bytes exceed the limit of " +
                        std::to_string(single.bytes) + " for one stack allocation",
                    single.level.str()};
    }
    int64_t frame = stack->frameWith(allocation);
    if (frame == stack->frame(allocation.function))
      return std::nullopt;
    // The budget of each call tree is that of its root, unless the allocation has its own.
    for (StringAttr root : stack->treesOf(allocation.function)) {
      auto function = getOperation().lookupSymbol<func::FuncOp>(root);
      Limit budget = limits.budget;
      if (budget.level != "allocation")
        budget = limitsFor(function, host(), policy).budget;
      budget.bytes = std::max<int64_t>(0, budget.bytes - stackReserveBytes);
      int64_t before = stack->need(root);
      int64_t after = stack->need(root, allocation.function.getSymNameAttr(), frame);
      if (after > budget.bytes && after > before)
        return Reason{std::to_string(bytes) + " bytes do not fit: " + std::to_string(before) +
                          " of the stack budget of " + std::to_string(budget.bytes) +
                          " are taken in @" + root.str(),
                      budget.level.str()};
    }
    return std::nullopt;
  }

  std::optional<Reason> rejectWorkspace(Allocation &allocation) {
    // A target that tells of no memory has the one that its processors run in.
    bool reachable = target->memories.empty() &&
                     llvm::all_of(devicesOf(allocation), [&](const std::string &name) {
                       const DeviceDescription *device = target->findDevice(name);
                       return device && device->kind == plim::targets::DeviceKind::Cpu;
                     });
    for (const MemoryDescription &memory : target->memories)
      reachable |= isHostMemory(memory) && unreachable(memory, allocation).empty();
    if (!reachable)
      return Reason{"no host memory is accessible by all of them", "target"};
    if (allocation.op.getAlignment().value_or(1) > 64 && !isPlannable(allocation))
      return Reason{"the allocator aligns to 64 bytes only"};
    return std::nullopt;
  }

  std::optional<Reason> rejectPool(Allocation &allocation, StringRef name) {
    const MemoryDescription *memory = target->findMemory(name.str());
    if (!memory)
      return Reason{"target '" + target->name + "' has no such memory", "target"};
    if (std::string device = unreachable(*memory, allocation); !device.empty())
      return Reason{"it is not accessible by '" + device + "'", "target"};
    if (isDispatch(allocation.function))
      return Reason{"each worker needs a temporary of its own"};
    if (called.contains(allocation.function.getSymNameAttr()))
      return Reason{"@" + allocation.function.getName().str() +
                    " is called by other functions, which use the pool too"};
    if (!allocation.bytes)
      return Reason{"its size has no bound that is known at load; give one with plim.max_bytes"};
    if (allocation.life.escapes())
      return Reason{"it may outlive the block that allocates it"};
    int64_t peak = pools->peakWith(allocation, name);
    if (memory->bytes == 0)
      return std::nullopt;
    // What constants have taken is within the pool.
    int64_t taken = pools->constants(name), room = memory->bytes - taken;
    if (peak > room)
      return Reason{"with this allocation it would need " +
                        std::to_string(plim::checkedAdd(peak, taken).value_or(peak)) + " of its " +
                        std::to_string(memory->bytes) + " bytes, " + std::to_string(peak - room) +
                        " too many",
                    "target"};
    return std::nullopt;
  }

  SmallVector<std::string> devicesOf(Allocation &allocation) const {
    SmallVector<std::string> devices = {host().name};
    for (StringRef name : allocation.op.getAccessorsAttr().getAsValueRange<StringAttr>())
      if (name != externalAccessor && name != host().name)
        devices.push_back(name.str());
    return devices;
  }

  /// The first device of those that touch the allocation that cannot reach the memory.
  std::string unreachable(const MemoryDescription &memory, Allocation &allocation) const {
    for (Attribute accessor : allocation.op.getAccessorsAttr()) {
      StringRef name = cast<StringAttr>(accessor).getValue();
      // Host functions reach what the host reaches.
      std::string device = name == externalAccessor ? host().name : name.str();
      if (!llvm::is_contained(memory.accessibleBy, device))
        return device;
    }
    return "";
  }

  /// No single allocation is larger than all of them.
  static Limit singleOf(const Limits &limits) {
    return limits.single.bytes < limits.budget.bytes ? limits.single : limits.budget;
  }

  const TargetDescription *target = nullptr;
  StackModel *stack = nullptr;
  Pools *pools = nullptr;
  llvm::DenseSet<StringAttr> called;
};

} // namespace
