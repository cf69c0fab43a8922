#include "ir/Plim/Plim.h"
#include "ir/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMSCHEDULE
#include "ir/Transforms/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Dispatches of a group at most: each holds its buffers until the whole group is done.
constexpr size_t groupLimit = 16;
/// How many ops that touch memory are looked at behind the first dispatch of a group: keeps the
/// pass linear in long functions.
constexpr size_t lookahead = 64;

/// Where a buffer comes from.
struct Origin {
  enum class Kind {
    Allocation, // or an earlier run of it, if the buffer has come round a loop
    Argument,   // of the function
    Global,
    Unknown,
  };
  Kind kind;
  Value value;  // what yields the memory
  Value buffer; // the buffer itself, without views: known since it was defined
};

/// What an op does to one buffer.
struct MemoryUse {
  const SmallVector<Origin> *origins;
  bool writes;
  Value buffer;
};

/// What it is a slice of; itself if it is no slice.
Value wholeOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<memref::SubViewOp, memref::CastOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  return buffer;
}

/// The elements between the first and behind the last one of a buffer, counted from where what it is
/// a slice of begins; none if that is not known.
std::optional<std::pair<int64_t, int64_t>> elementsOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  int64_t end = offset + 1;
  for (auto [extent, stride] : llvm::zip(type.getShape(), strides)) {
    if (extent == 0)
      return std::pair(offset, offset);
    if (extent > 1 && (ShapedType::isDynamic(stride) || stride < 0))
      return std::nullopt;
    end += (extent - 1) * (extent > 1 ? stride : 0);
  }
  return std::pair(offset, end);
}

/// Are they slices of one buffer that have no element in common?
bool areApart(Value a, Value b) {
  if (a == b || wholeOf(a) != wholeOf(b))
    return false;
  auto some = elementsOf(a), others = elementsOf(b);
  return some && others && (some->second <= others->first || others->second <= some->first);
}

/// Which memory the ops of a function share.
class SharedMemory {
public:
  explicit SharedMemory(func::FuncOp function) : flow(function), dominance(function) {}

  /// What `op` itself does; none if that is not known or more than a list of buffers.
  std::optional<SmallVector<MemoryUse>> usesOf(Operation *op) {
    SmallVector<MemoryUse> uses;
    if (op->getNumRegions() != 0)
      return std::nullopt;
    if (isMemoryEffectFree(op) || isa<cf::AssertOp>(op))
      return uses;
    std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
    if (!effects)
      return std::nullopt;
    for (MemoryEffects::EffectInstance &effect : *effects) {
      Value value = effect.getValue();
      if (!value || !isa<BaseMemRefType>(value.getType()))
        return std::nullopt;
      if (!isa<MemoryEffects::Allocate>(effect.getEffect()))
        uses.push_back({&originsOf(value), !isa<MemoryEffects::Read>(effect.getEffect()), value});
    }
    return uses;
  }

  bool conflict(ArrayRef<MemoryUse> some, ArrayRef<MemoryUse> others) const {
    for (MemoryUse a : some)
      for (MemoryUse b : others)
        if ((a.writes || b.writes) && !areApart(a.buffer, b.buffer))
          for (const Origin &from : *a.origins)
            for (const Origin &to : *b.origins)
              if (mayAlias(from, to) || mayAlias(to, from))
                return true;
    return false;
  }

  /// Is something written that outlives the call?
  static bool writesVisibly(ArrayRef<MemoryUse> uses) {
    return llvm::any_of(uses, [](MemoryUse use) {
      return use.writes && llvm::any_of(*use.origins, [](const Origin &origin) {
               return origin.kind != Origin::Kind::Allocation;
             });
    });
  }

private:
  using Kind = Origin::Kind;

  /// All that a buffer may come from. Upstream's analysis follows views, branches and loops.
  const SmallVector<Origin> &originsOf(Value buffer) {
    std::unique_ptr<SmallVector<Origin>> &origins = known[buffer];
    if (!origins) {
      origins = std::make_unique<SmallVector<Origin>>();
      Value whole = buffer;
      while (auto view = whole.getDefiningOp<ViewLikeOpInterface>())
        whole = view.getViewSource();
      for (Value value : flow.resolveReverse(buffer))
        if (std::optional<Origin> origin = originAt(value)) {
          origin->buffer = whole;
          origins->push_back(*origin);
        }
    }
    return *origins;
  }

  /// None for a value that is another name of what the analysis found as well.
  std::optional<Origin> originAt(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op) {
      Block *block = cast<BlockArgument>(value).getOwner();
      if (isa<func::FuncOp>(block->getParentOp()))
        return Origin{block->isEntryBlock() ? Kind::Argument : Kind::Unknown, value, {}};
      if (isa<RegionBranchOpInterface>(block->getParentOp()))
        return std::nullopt;
      return Origin{Kind::Unknown, value, {}};
    }
    if (isa<ViewLikeOpInterface, RegionBranchOpInterface, arith::SelectOp>(op))
      return std::nullopt;
    if (isa<memref::GetGlobalOp>(op))
      return Origin{Kind::Global, value, {}};
    if (hasEffect<MemoryEffects::Allocate>(op, value))
      return Origin{Kind::Allocation, value, {}};
    return Origin{Kind::Unknown, value, {}};
  }

  bool mayAlias(const Origin &a, const Origin &b) const {
    if (a.kind > b.kind)
      return false; // asked the other way round
    if (isMadeAfter(a, b) || isMadeAfter(b, a))
      return false;
    if (a.kind == Kind::Allocation)
      return a.value == b.value || b.kind == Kind::Unknown;
    if (a.kind == Kind::Global && b.kind == Kind::Global)
      return mayAlias(a.value.getDefiningOp<memref::GetGlobalOp>(),
                      b.value.getDefiningOp<memref::GetGlobalOp>());
    return true;
  }

  /// Is `a` new memory, allocated when `b` was there already? So it is something else, even if `b`
  /// was allocated by the same op in an earlier turn of a loop.
  bool isMadeAfter(const Origin &a, const Origin &b) const {
    return a.kind == Kind::Allocation && a.value == a.buffer &&
           dominance.properlyDominates(b.buffer, a.value.getDefiningOp());
  }

  /// The memory of an extern global is the host's: two may be the same.
  static bool mayAlias(memref::GetGlobalOp a, memref::GetGlobalOp b) {
    auto isExtern = [](memref::GetGlobalOp op) {
      auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
      return !global || !global.getInitialValue();
    };
    return a.getName() == b.getName() || (isExtern(a) && isExtern(b));
  }

  BufferViewFlowAnalysis flow;
  DominanceInfo dominance;
  DenseMap<Value, std::unique_ptr<SmallVector<Origin>>> known;
};

struct Schedule : plim::ir::impl::PlimScheduleBase<Schedule> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kernelAttr) || function->hasAttr(dispatchFunctionAttr) ||
          function.isExternal())
        continue;
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) {
        if (isa<ConcurrentOp>(block->getParentOp()))
          return;
        auto dispatches = block->getOps<DispatchOp>();
        if (llvm::hasNItemsOrMore(dispatches, 2))
          blocks.push_back(block);
        else
          missed += !dispatches.empty();
      });
      if (blocks.empty())
        continue;
      SharedMemory memory(function);
      for (Block *block : blocks)
        for (Operation *op = &block->front(); op; op = op->getNextNode())
          if (auto dispatch = dyn_cast<DispatchOp>(op); dispatch && isOnBuffers(dispatch))
            op = group(dispatch, memory);
    }
  }

  static bool isInPool(Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    return alloc &&
           (alloc.getCandidatePoolsAttr() || Scope::parse(alloc.getScope())->kind == Scope::Pool);
  }

  static bool isOnBuffers(DispatchOp dispatch) { return dispatch.getNumResults() == 0; }

  /// An op that may move ahead of the group, or a dispatch that joins it.
  struct Candidate {
    Operation *op;
    SmallVector<MemoryUse> uses;
    bool joins;
  };

  /// Groups `first` with those behind it that may run at the same time; returns what holds it then.
  Operation *group(DispatchOp first, SharedMemory &memory) {
    SmallVector<MemoryUse> ahead = *memory.usesOf(first); // of all that a later op can't pass
    llvm::SmallPtrSet<Operation *, 16> fixed = {first};   // where they stand
    SmallVector<Candidate> candidates;
    size_t members = 1, seen = 0;
    for (Operation *op = first->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode()) {
      std::optional<SmallVector<MemoryUse>> uses = memory.usesOf(op);
      if (!uses || (!uses->empty() && !isa<memref::DeallocOp>(op) && ++seen > lookahead))
        break;
      bool waits =
          memory.conflict(*uses, ahead) || llvm::any_of(op->getOperands(), [&](Value operand) {
            return fixed.contains(operand.getDefiningOp());
          });
      if (isa<cf::AssertOp>(op)) {
        // What stands behind a check relies on it.
        if (waits || SharedMemory::writesVisibly(ahead))
          break;
      }
      auto dispatch = dyn_cast<DispatchOp>(op);
      bool joins = !waits && dispatch && isOnBuffers(dispatch);
      // A pool may have room for one buffer after the other only.
      waits |= isInPool(op);
      if (waits || joins) {
        fixed.insert(op);
        llvm::append_range(ahead, *uses);
      }
      if (!waits)
        candidates.push_back({op, std::move(*uses), joins});
      if (joins && ++members == groupLimit)
        break;
    }
    if (members == 1) {
      ++missed;
      return first;
    }

    // Of the rest only what members need moves, and what that needs.
    llvm::SmallPtrSet<Operation *, 16> needed;
    SmallVector<MemoryUse> neededUses;
    SmallVector<Operation *> moved;
    for (Candidate &candidate : llvm::reverse(candidates)) {
      bool isNeeded = needed.contains(candidate.op) ||
                      memory.conflict(candidate.uses, neededUses) ||
                      (isa<cf::AssertOp>(candidate.op) && !moved.empty());
      if (!candidate.joins && !isNeeded)
        continue;
      for (Value operand : candidate.op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          needed.insert(definition);
      llvm::append_range(neededUses, candidate.uses);
      moved.push_back(candidate.op);
    }

    OpBuilder builder(first);
    auto concurrent = ConcurrentOp::create(builder, first.getLoc());
    Block &body = concurrent.getBody().emplaceBlock();
    first->moveBefore(&body, body.end());
    for (Operation *op : llvm::reverse(moved)) {
      if (isa<DispatchOp>(op))
        op->moveBefore(&body, body.end());
      else
        op->moveBefore(concurrent);
    }
    ++groups;
    grouped += members;
    return concurrent;
  }
};

} // namespace
