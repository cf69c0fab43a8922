#include "ir/Plim/ValueBounds.h"

#include <functional>

using namespace mlir;
using namespace plim::ir;

namespace {

/// Definitions that a question follows at most. What is asked for is near in programs that were simplified: extents are
/// those of arguments, or computed of them. The solver's time grows with about the third power.
constexpr int64_t mostFollowed = 16;

class BoundedSet : public ValueBoundsConstraintSet {
public:
  explicit BoundedSet(MLIRContext *context)
      : ValueBoundsConstraintSet(context, [this](Value, std::optional<int64_t>,
                                                 ValueBoundsConstraintSet &) { return stops(); }) {}

  int64_t add(const Variable &variable) { return insert(variable, /*isSymbol=*/false); }

  /// Follows definitions until `ask` has an answer.
  bool follow(std::function<bool()> ask) {
    isAnswered = std::move(ask);
    processWorklist();
    return isAnswered();
  }

  bool isKnown(int64_t left, ComparisonOperator comparison, int64_t right) {
    return comparePos(left, comparison, right);
  }
  std::optional<int64_t> greatest(int64_t position) const {
    return cstr.getConstantBound64(presburger::BoundType::UB, position);
  }

private:
  /// Asks after each definition: the solver finds less where more is known, since it gives up on large systems.
  bool stops() {
    isDone = isDone || followed == mostFollowed || (followed > 0 && isAnswered());
    ++followed;
    return isDone;
  }

  std::function<bool()> isAnswered;
  int64_t followed = 0;
  bool isDone = false;
};

} // namespace

bool plim::ir::isKnown(const BoundsVariable &left, BoundsComparison comparison,
                       const BoundsVariable &right) {
  BoundedSet set(left.getContext());
  const int64_t a = set.add(left), b = set.add(right);
  return set.follow([&] { return set.isKnown(a, comparison, b); });
}

std::optional<int64_t> plim::ir::greatestKnown(const BoundsVariable &variable) {
  BoundedSet set(variable.getContext());
  const int64_t position = set.add(variable);
  std::optional<int64_t> greatest;
  set.follow([&] { return (greatest = set.greatest(position)).has_value(); });
  return greatest;
}
