#include "ir/Schedule/SharedMemory.h"

#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace plim::ir;
using Kind = Origin::Kind;

namespace {

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

/// The memory of an extern global is the host's: two may be the same.
bool mayBeSame(memref::GetGlobalOp a, memref::GetGlobalOp b) {
  auto isExtern = [](memref::GetGlobalOp op) {
    auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(op, op.getNameAttr());
    return !global || !global.getInitialValue();
  };
  return a.getName() == b.getName() || (isExtern(a) && isExtern(b));
}

/// May the places of two planned allocations overlap?
bool shareMemory(AllocOp a, AllocOp b) {
  if (a == b)
    return true;
  if (a.getScope() != b.getScope())
    return false;
  auto meet = [](int64_t begin, int64_t end, int64_t otherBegin, int64_t otherEnd) {
    return begin < otherEnd && otherBegin < end;
  };
  if (a.getOffset() && b.getOffset())
    return meet(*a.getOffset(), *a.getOffset() + int64_t(*a.getBytes()), *b.getOffset(),
                *b.getOffset() + int64_t(*b.getBytes()));
  // Where one of them lies only the call knows.
  if (!a.getLifetime() || !b.getLifetime())
    return true;
  return !meet((*a.getLifetime())[0], (*a.getLifetime())[1], (*b.getLifetime())[0],
               (*b.getLifetime())[1]);
}

} // namespace

std::optional<SmallVector<MemoryUse>> SharedMemory::usesOf(Operation *op) {
  SmallVector<MemoryUse> uses;
  if (op->getNumRegions() != 0)
    return std::nullopt;
  if (isMemoryEffectFree(op) || isAssertion(op))
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

bool SharedMemory::conflict(ArrayRef<MemoryUse> some, ArrayRef<MemoryUse> others) const {
  for (MemoryUse a : some)
    for (MemoryUse b : others)
      if ((a.writes || b.writes) && !areApart(a.buffer, b.buffer))
        for (const Origin &from : *a.origins)
          for (const Origin &to : *b.origins)
            if (mayAlias(from, to) || mayAlias(to, from))
              return true;
  return false;
}

bool SharedMemory::writesVisibly(ArrayRef<MemoryUse> uses) {
  return llvm::any_of(uses, [](MemoryUse use) {
    return use.writes && llvm::any_of(*use.origins, [](const Origin &origin) {
             return origin.kind != Origin::Kind::Allocation;
           });
  });
}

/// All that a buffer may come from. Upstream's analysis follows views, branches and loops.
const SmallVector<Origin> &SharedMemory::originsOf(Value buffer) {
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
std::optional<Origin> SharedMemory::originAt(Value value) const {
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

bool SharedMemory::mayAlias(const Origin &a, const Origin &b) const {
  if (a.kind > b.kind)
    return false; // asked the other way round
  if (a.kind == Kind::Allocation && b.kind == Kind::Allocation)
    if (auto some = a.value.getDefiningOp<AllocOp>(), other = b.value.getDefiningOp<AllocOp>();
        some && other && some.isPlanned() && other.isPlanned())
      return shareMemory(some, other);
  if (a.kind == Kind::Allocation && a.value != b.value && b.kind != Kind::Unknown)
    return false;
  if (isMadeAfter(a, b) || isMadeAfter(b, a))
    return false;
  if (a.kind == Kind::Allocation)
    return true;
  if (a.kind == Kind::Global && b.kind == Kind::Global)
    return mayBeSame(a.value.getDefiningOp<memref::GetGlobalOp>(),
                     b.value.getDefiningOp<memref::GetGlobalOp>());
  return true;
}

/// Is `a` new memory, allocated when `b` was there already? So it is something else, even if `b`
/// was allocated by the same op in an earlier turn of a loop.
bool SharedMemory::isMadeAfter(const Origin &a, const Origin &b) const {
  return a.kind == Kind::Allocation && a.value == a.buffer &&
         dominance.properlyDominates(b.buffer, a.value.getDefiningOp());
}
