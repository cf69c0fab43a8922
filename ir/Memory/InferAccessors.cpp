#include "ir/Analysis/BufferUses.h"
#include "ir/Memory/Allocations.h"
#include "ir/Memory/Passes.h"
#include "targets/dlti/Dlti.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <iterator>
#include <set>

namespace plim::ir {
#define GEN_PASS_DEF_PLIMINFERACCESSORS
#include "ir/Memory/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

using Accessors = std::set<StringRef>;

/// Who touches the buffers of a module.
class AccessorAnalysis {
public:
  AccessorAnalysis(ModuleOp module, StringRef host) : uses(module), host(host) {
    module.walk([&](DispatchOp dispatch) {
      devices[dispatch.getFunctionAttr().getAttr()].insert(deviceOf(dispatch));
    });
  }

  /// All that touch the buffer behind `value`, itself or through a view.
  Accessors touching(Value value) const {
    Accessors accessors;
    uses.forEach(value, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      auto function = user->getParentOfType<func::FuncOp>();
      if (auto dispatch = dyn_cast<DispatchOp>(user))
        accessors.insert(deviceOf(dispatch));
      else if (isa<func::CallOp, CallOp>(user))
        accessors.insert(externalAccessor);
      else if (isa<memref::DeallocOp>(user))
        return; // touches nothing of what the buffer holds
      else if (function->hasAttr(dispatchFunctionAttr))
        llvm::copy(devices.lookup(function.getSymNameAttr()),
                   std::inserter(accessors, accessors.end()));
      else
        accessors.insert(host); // the caller of a function that returns it, too
    });
    return accessors;
  }

private:
  StringRef deviceOf(DispatchOp dispatch) const {
    auto device = dispatch->getAttrOfType<StringAttr>(deviceAttr);
    return device ? device.getValue() : host;
  }

  BufferUses uses;
  StringRef host;
  DenseMap<StringAttr, Accessors> devices; // of the dispatches that run a function
};

struct InferAccessors : plim::ir::impl::PlimInferAccessorsBase<InferAccessors> {
  void runOnOperation() override {
    auto target = plim::targets::dlti::targetOf(getOperation());
    if (!target || failed(unify()))
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
