#include "ir/Transforms/Allocations.h"
#include "ir/Transforms/Passes.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <map>
#include <set>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINFERACCESSORS
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

using Accessors = std::set<StringRef>;

/// Who touches the buffers of a module. An argument or result of a function stands for all buffers
/// that are ever passed there; sets grow until nothing changes, so recursion is no trouble.
class AccessorAnalysis {
public:
  AccessorAnalysis(ModuleOp module, StringRef host) : views(module), host(host) {
    module.walk([&](DispatchOp dispatch) {
      auto device = dispatch->getAttrOfType<StringAttr>(deviceAttr);
      devices[dispatch.getFunctionAttr().getAttr()].insert(device ? device.getValue() : host);
    });
    for (bool changed = true; changed;) {
      changed = false;
      for (auto function : module.getOps<func::FuncOp>())
        for (BlockArgument argument : function.getArguments())
          if (isa<BaseMemRefType>(argument.getType()))
            changed |= grow(arguments[{function.getSymNameAttr(), argument.getArgNumber()}],
                            touching(argument));
      module.walk([&](func::CallOp call) {
        for (OpResult result : call->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            changed |= grow(results[{call.getCalleeAttr().getAttr(), result.getResultNumber()}],
                            touching(result));
      });
    }
  }

  /// All that touch the buffer behind `value`, itself or through a view.
  Accessors touching(Value value) {
    Accessors accessors;
    for (Value name : views.resolve(value))
      for (OpOperand &use : name.getUses())
        touch(use, accessors);
    return accessors;
  }

private:
  using Slot = std::pair<StringAttr, unsigned>;
  struct BySlot {
    bool operator()(const Slot &a, const Slot &b) const {
      return std::pair(a.first.getAsOpaquePointer(), a.second) <
             std::pair(b.first.getAsOpaquePointer(), b.second);
    }
  };
  using SlotAccessors = std::map<Slot, Accessors, BySlot>;

  void touch(OpOperand &use, Accessors &accessors) {
    Operation *user = use.getOwner();
    auto function = user->getParentOfType<func::FuncOp>();
    if (auto dispatch = dyn_cast<DispatchOp>(user)) {
      auto device = dispatch->getAttrOfType<StringAttr>(deviceAttr);
      accessors.insert(device ? device.getValue() : host);
    } else if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = user->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isDeclaration())
        accessors.insert(externalAccessor);
      else
        grow(accessors, arguments[{callee.getSymNameAttr(), use.getOperandNumber()}]);
    } else if (isa<func::ReturnOp>(user)) {
      // A caller outside of the module is the host.
      if (function.isPublic())
        accessors.insert(host);
      grow(accessors, results[{function.getSymNameAttr(), use.getOperandNumber()}]);
    } else if (!readsOrWrites(user, use.get())) {
      return;
    } else if (function->hasAttr(dispatchFunctionAttr)) {
      grow(accessors, devices[function.getSymNameAttr()]);
    } else {
      accessors.insert(host);
    }
  }

  /// Views, loops and releases pass a buffer on; they do not touch what it holds.
  static bool readsOrWrites(Operation *op, Value buffer) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffectsOnValue(buffer, effects);
    return llvm::any_of(effects, [](MemoryEffects::EffectInstance &effect) {
      return isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect());
    });
  }

  static bool grow(Accessors &set, const Accessors &more) {
    size_t before = set.size();
    set.insert(more.begin(), more.end());
    return set.size() != before;
  }

  BufferViewFlowAnalysis views;
  StringRef host;
  DenseMap<StringAttr, Accessors> devices; // of the dispatches that run a function
  SlotAccessors arguments, results;
};

struct InferAccessors : plim::ir::impl::PlimInferAccessorsBase<InferAccessors> {
  void runOnOperation() override {
    FailureOr<plim::targets::TargetDescription> target =
        plim::targets::dlti::fromDlti(getOperation());
    if (failed(target) || failed(unify()))
      return signalPassFailure();
    AccessorAnalysis analysis(getOperation(), target->devices[0].name);
    Builder builder(&getContext());
    bool ok = true;
    getOperation().walk([&](AllocOp alloc) {
      Accessors accessors = analysis.touching(alloc.getResult());
      for (Attribute declared :
           alloc.getAccessorsAttr() ? alloc.getAccessorsAttr().getValue() : ArrayRef<Attribute>()) {
        StringRef name = cast<StringAttr>(declared).getValue();
        if (name != externalAccessor && !target->findDevice(name.str())) {
          alloc.emitError() << "accessor '" << name << "' is no device of target '" << target->name
                            << "'";
          ok = false;
        }
        widened += accessors.insert(name).second;
      }
      SmallVector<StringRef> sorted(accessors.begin(), accessors.end());
      alloc.setAccessorsAttr(builder.getStrArrayAttr(sorted));
      ++allocations;
    });
    if (!ok)
      signalPassFailure();
  }

  /// One op for all allocations, which no canonicalisation touches.
  LogicalResult unify() {
    SmallVector<Operation *> allocations;
    getOperation().walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::AllocaOp>(op))
        allocations.push_back(op);
    });
    bool ok = true;
    for (Operation *op : allocations) {
      Life life = lifeOf(op);
      OpBuilder builder(op);
      auto type = cast<MemRefType>(op->getResult(0).getType());
      auto alloc = AllocOp::create(builder, op->getLoc(), type, op->getOperands());
      if (auto author = dyn_cast<memref::AllocaOp>(op)) {
        ok &= succeeded(unifyAlloca(author, alloc, life));
      } else {
        alloc.setAlignmentAttr(cast<memref::AllocOp>(op).getAlignmentAttr());
      }
      op->replaceAllUsesWith(alloc);
      op->erase();
    }
    return success(ok);
  }

  /// What the author puts on the stack ends with its last use, if it can be told; else it has to
  /// stand outside of loops, which would grow the stack.
  static LogicalResult unifyAlloca(memref::AllocaOp author, AllocOp alloc, const Life &life) {
    OpBuilder builder(author);
    auto scope = author->getAttrOfType<StringAttr>(scopeAttr);
    alloc.setScopeAttr(scope ? scope : builder.getStringAttr("global.stack"));
    alloc.setCandidatePoolsAttr(author->getAttrOfType<ArrayAttr>(candidatePoolsAttr));
    alloc.setAccessorsAttr(author->getAttrOfType<ArrayAttr>(accessorsAttr));
    alloc.setMaxBytesAttr(author->getAttrOfType<IntegerAttr>(maxBytesAttr));
    alloc.setLimitsAttr(author->getAttrOfType<DictionaryAttr>(limitsAttr));
    alloc.setAlignmentAttr(author.getAlignmentAttr());
    if (!life.carried) {
      builder.setInsertionPointAfter(life.lastUse ? life.lastUse : author);
      memref::DeallocOp::create(builder, author.getLoc(), alloc);
      return success();
    }
    if (life.returned)
      return author.emitError("is returned: memory on the stack ends with its function");
    if (author->getParentOfType<LoopLikeOpInterface>())
      return author.emitError("is carried out of the iteration that allocates it: the stack would "
                              "grow with each; use memref.alloc");
    Block &entry = author->getParentOfType<func::FuncOp>().front();
    alloc->moveBefore(&entry, entry.begin());
    alloc.setAutomatic(true);
    return success();
  }
};

} // namespace
