#include "ir/Dispatch/Passes.h"
#include "ir/Plim/Plim.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMMERGEDISPATCHES
#include "ir/Dispatch/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// A dispatch function as the pass sees it: its constants are zero until its group is known.
struct Candidate {
  func::FuncOp function;
  SmallVector<DispatchOp> dispatches;
  SmallVector<arith::ConstantOp> constants; // that could be operands
  SmallVector<TypedAttr> values;            // of these, as the source has them
};

/// Could the constant as well be an operand: a small tensor, or the value of each element of what
/// could be a tensor? (A number that a body computes with is more to the code generator than a
/// number. A tensor with one value for all elements would need memory that it does not have.)
bool couldBeOperand(arith::ConstantOp constant) {
  if (isa<RankedTensorType>(constant.getType())) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && !elements.isSplat();
  }
  return constant.getType().isIntOrIndexOrFloat() && !constant->use_empty() &&
         llvm::all_of(constant->getUses(), [](OpOperand &use) {
           auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
           return op && op.isDpsInput(&use);
         });
}

llvm::hash_code hash(func::FuncOp function) {
  llvm::hash_code code = hash_value(function.getFunctionType());
  function.getBody().walk([&](Operation *op) {
    code = llvm::hash_combine(
        code, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return code;
}

/// All that is said of a function but its name.
NamedAttrList attributesOf(func::FuncOp function) {
  NamedAttrList attributes(function->getAttrDictionary());
  attributes.erase(function.getSymNameAttrName());
  return attributes;
}

/// Do they compute the same, on the same device?
bool areEqual(Candidate &a, Candidate &b) {
  auto devicesOf = [](Candidate &candidate) {
    DispatchOp dispatch = candidate.dispatches[0];
    return std::pair(dispatch->getAttr(deviceAttr), dispatch->getAttr(fallbackDeviceAttr));
  };
  return devicesOf(a) == devicesOf(b) && attributesOf(a.function) == attributesOf(b.function) &&
         OperationEquivalence::isRegionEquivalentTo(&a.function.getBody(), &b.function.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

struct MergeDispatches : plim::ir::impl::PlimMergeDispatchesBase<MergeDispatches> {
  void runOnOperation() override {
    DenseMap<StringAttr, SmallVector<DispatchOp>> dispatches;
    getOperation().walk([&](DispatchOp dispatch) {
      dispatches[dispatch.getFunctionAttr().getAttr()].push_back(dispatch);
    });
    std::vector<Candidate> candidates;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto it = dispatches.find(function.getSymNameAttr());
          it != dispatches.end() && function->hasAttr(dispatchFunctionAttr))
        candidates.push_back(candidateOf(function, std::move(it->second)));

    // The groups of equal ones, each in the order of the source.
    llvm::MapVector<size_t, SmallVector<SmallVector<Candidate *>, 1>> groups;
    for (Candidate &candidate : candidates) {
      auto &bucket = groups[hash(candidate.function)];
      auto *group = llvm::find_if(
          bucket, [&](SmallVector<Candidate *> &group) { return areEqual(*group[0], candidate); });
      if (group != bucket.end())
        group->push_back(&candidate);
      else
        bucket.push_back({&candidate});
    }
    for (auto &[code, bucket] : groups)
      for (SmallVector<Candidate *> &group : bucket)
        merge(group);
  }

  static Candidate candidateOf(func::FuncOp function, SmallVector<DispatchOp> dispatches) {
    Candidate candidate{function, std::move(dispatches), {}, {}};
    for (auto constant : function.getOps<arith::ConstantOp>())
      if (couldBeOperand(constant)) {
        candidate.constants.push_back(constant);
        candidate.values.push_back(constant.getValue());
        constant.setValueAttr(Builder(function).getZeroAttr(constant.getType()));
      }
    return candidate;
  }

  /// Leaves the first of the group. A constant that differs within the group becomes an operand; a
  /// constant that is the same in all of them stays a constant.
  void merge(ArrayRef<Candidate *> group) {
    Candidate &kept = *group[0];
    for (auto [index, constant] : llvm::enumerate(kept.constants)) {
      TypedAttr value = kept.values[index];
      if (llvm::all_of(group, [&](Candidate *other) { return other->values[index] == value; })) {
        constant.setValueAttr(value);
        continue;
      }
      unsigned position = kept.function.getNumArguments() - kept.function.getNumResults();
      (void)kept.function.insertArgument(position, constant.getType(), {}, constant.getLoc());
      constant.replaceAllUsesWith(Value(kept.function.getArgument(position)));
      constant.erase();
      for (Candidate *member : group)
        for (DispatchOp dispatch : member->dispatches) {
          OpBuilder builder(dispatch);
          Value operand =
              arith::ConstantOp::create(builder, dispatch.getLoc(), member->values[index]);
          dispatch.getInputsMutable().append(operand);
        }
      ++operands;
    }
    for (Candidate *member : group.drop_front()) {
      for (DispatchOp dispatch : member->dispatches)
        dispatch.setFunctionAttr(FlatSymbolRefAttr::get(kept.function.getSymNameAttr()));
      member->function.erase();
      ++merged;
    }
  }
};

} // namespace
